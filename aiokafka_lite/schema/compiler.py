"""Compiles (struct, version) into one flat encode and one flat decode function. Does not wait.

Knows no API. `encoder_source` and `decoder_source` write the source, which is executed once. The
message class keeps the result (`message.py`). Generated functions have a file name of their own,
and tracebacks show their lines. What a client's start needs was compiled before
(`compiled_functions`).

A class body is the one declaration of a message, for the client and the embedded broker. People
read it with its documentation. The flat generated code is as fast as code written by hand.
"""

import linecache
from collections.abc import Sequence
from typing import Any

from aiokafka_lite.schema.compiled_functions import Decoder, Encoder, LenientDecoder
from aiokafka_lite.schema.decoder_source import DecoderSource
from aiokafka_lite.schema.encoder_source import EncoderSource
from aiokafka_lite.schema.versioned_struct import Struct


def compile_encoder(cls: type[Struct], version: int, *, flexible: bool) -> Encoder:
    """Return a function that encodes an instance of `cls` in `version`, as parts of bytes.

    The function raises UnsupportedVersionError for a set field that the version lacks, and
    ValueError for a value that does not fit its type. Both errors name the field.
    """
    label = f"{cls.__name__} v{version}"
    source = EncoderSource(cls, version, flexible, label)
    encoder: Encoder = _execute(source.text(), source.constants, f"<{label} encode>", "encode")
    return encoder


def compile_decoder(
    cls: type[Struct], version: int, *, flexible: bool, unread: Sequence[str] = ()
) -> Decoder:
    """Return a function that reads a whole buffer as one `cls` of `version`.

    The fields at the paths of `unread`, such as "topics.configs", keep their defaults. The function
    raises ProtocolDecodeError for any other content, including bytes left over.
    """
    label = f"{cls.__name__} v{version}"
    source = DecoderSource(cls, version, flexible, label, unread)
    decoder: Decoder = _execute(source.text(), source.constants, f"<{label} decode>", "decode")
    return decoder


def compile_lenient_decoder(cls: type[Struct], version: int, *, flexible: bool) -> LenientDecoder:
    """Return a function that reads one `cls` of `version` from a buffer that may have oddities.

    It steps over bytes behind the message and behind the value of a tagged field, and replaces what
    is not UTF-8. A null that `version` does not allow becomes the type's zero. The function returns
    the message, and the path and zero of each such null. Otherwise as `compile_decoder`.
    """
    label = f"{cls.__name__} v{version}"
    source = DecoderSource(cls, version, flexible, label, lenient=True)
    filename = f"<{label} lenient decode>"
    decoder: LenientDecoder = _execute(source.text(), source.constants, filename, "decode")
    return decoder


def _execute(text: str, constants: dict[str, Any], filename: str, name: str) -> Any:
    # linecache.checkcache never drops an entry without a modification time.
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec"), constants)  # noqa: S102  made of declared names and constants only
    return constants[name]


__all__ = ["compile_decoder", "compile_encoder", "compile_lenient_decoder"]
