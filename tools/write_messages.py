"""Writes the functions of messages that a client's start needs: `make messages`.

The declarations in aiokafka_lite/protocol/messages/ are the source. For each file of `VERSIONS`
this writes one in the folder `compiled` beside it: functions that encode its request and decode its
response, and constructors of what a request is made of. `schema/compiled_functions.py` finds them.
"""

import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from aiokafka_lite.codec import writer
from aiokafka_lite.protocol.api_registry import API_BY_KEY, Api
from aiokafka_lite.schema import field_types
from aiokafka_lite.schema.decoder_source import DecoderSource
from aiokafka_lite.schema.encoder_source import EncoderSource
from aiokafka_lite.schema.field_types import ArrayOf
from aiokafka_lite.schema.versioned_struct import Struct, fields_of, init_source, shared_default
from aiokafka_lite.schema.wire_helpers import IntegerRuns, integer_runs

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = "aiokafka_lite/protocol/messages/compiled"

VERSIONS: Final[Mapping[str, tuple[int, ...]]] = {
    "api_versions": (4, 5),
    "consumer_group_heartbeat": (1,),
    "fetch": (17, 18),
    "find_coordinator": (3,),  # the last version that asks for one coordinator
    "get_telemetry_subscriptions": (0,),
    "heartbeat": (4,),
    "init_producer_id": (5,),
    "join_group": (9,),
    "leave_group": (5,),
    "list_offsets": (10, 11),
    "metadata": (12, 13),
    "offset_commit": (9, 10),
    "offset_fetch": (9, 10),
    "produce": (12, 13),
    "sasl_authenticate": (2,),
    "sasl_handshake": (1,),
    "sync_group": (5,),
}
"""What producers and consumers send to the brokers of Kafka 4, by the file of the message."""

INTEGER_CODES: Final = "bhiqHI?"
CONSTANTS: Final[Mapping[Any, tuple[str, ...]]] = {
    struct: ("error",),
    writer: ("ONE_BYTE_VARINTS",),
    field_types: ("ABSENT", "ZERO_UUID"),
}
"""Constants that do not know their own name, by module."""


def files() -> dict[str, str]:
    """Return the path from the root and the text of each file that is made."""
    api_by_stem = {each.request.__module__.rpartition(".")[2]: each for each in API_BY_KEY.values()}
    return {
        f"{FOLDER}/compiled_{stem}.py": _text(stem, api_by_stem[stem], versions)
        for stem, versions in VERSIONS.items()
    }


def _text(stem: str, api: Api, versions: tuple[int, ...]) -> str:
    constants: dict[str, Any] = {}
    functions = dict(_functions(api, versions, constants))
    text = "\n\n".join(functions.values())
    used = {name: value for name, value in constants.items() if re.search(rf"\b{name}\b", text)}
    imports: set[str] = set()
    assignments = [_assignment(name, value, imports) for name, value in used.items()]
    definitions = "\n".join([*sorted(imports), "", *filter(None, assignments)])
    offered = "".join(f'    "{name}",\n' for name in sorted(functions))
    return (
        f'"""Compiled functions of the messages in `{stem}.py`. Does not wait.\n\n'
        f'Made by `make messages`: change the declarations there.\n"""\n\n'
        f"{definitions}\n\n\n{text}\n\n__all__ = [\n{offered}]\n"
    )


def _functions(
    api: Api, versions: tuple[int, ...], constants: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    home = api.request.__module__
    for cls in _structs_of(api.request):
        if cls.__module__ == home:
            name = f"init_{cls.__name__}"
            yield name, _named(name, init_source(cls, constants).text())
    for version in versions:
        name = f"encode_{api.request.__name__}_v{version}"
        flexible = version in api.request.flexible
        label = f"{api.request.__name__} v{version}"
        encoder = EncoderSource(api.request, version, flexible, label, constants)
        yield name, _named(name, encoder.text())
        name = f"decode_{api.response.__name__}_v{version}"
        flexible = version in api.response.flexible
        label = f"{api.response.__name__} v{version}"
        decoder = DecoderSource(api.response, version, flexible, label, constants=constants)
        yield name, _named(name, decoder.text())


def _structs_of(cls: type[Struct]) -> list[type[Struct]]:
    """Return a struct, and those that it is made of."""
    found = [cls]
    for each in found:
        for field in fields_of(each):
            kind = field.type
            while isinstance(kind, ArrayOf):
                kind = kind.element
            if isinstance(kind, type) and kind not in found:
                found.append(kind)
    return found


def _named(name: str, function: str) -> str:
    return re.sub(r"^def \w+", f"def {name}", function)


# Constants…


def _assignment(name: str, value: Any, imports: set[str]) -> str:
    """Return the line that makes a constant; `imports` gets what it needs.

    A constant that is imported by its name has no line.
    """
    maker = getattr(value, "__self__", None)
    if value is object.__new__:
        return f"{name} = object.__new__"
    if isinstance(maker, struct.Struct):
        imports.add("from struct import Struct")
        return f"{name} = Struct({maker.format!r}).{value.__name__}"
    if isinstance(value, IntegerRuns):
        code = next(code for code in INTEGER_CODES if integer_runs(code) is value)
        imports.add("from aiokafka_lite.schema.wire_helpers import integer_runs")
        return f"{name} = integer_runs({code!r})"
    if isinstance(value, Struct):
        declared = next(each for each in type(value).__mro__[1:] if shared_default(each) is value)
        imports.add("from aiokafka_lite.schema.versioned_struct import shared_default")
        imports.add(f"from {declared.__module__} import {declared.__name__}")
        return f"{name} = shared_default({declared.__name__})"
    owner, source = _home(value)
    imports.add(f"from {owner} import {source}" + (f" as {name}" if name != source else ""))
    return ""


def _home(value: Any) -> tuple[str, str]:
    """Return the module of a constant that has a name, and the name."""
    for owner, names in CONSTANTS.items():
        for name in names:
            if getattr(owner, name) is value:
                return owner.__name__, name
    return value.__module__, value.__qualname__


def main() -> None:
    """Write the files, and delete those of messages that are no longer listed."""
    made = files()
    for path in (ROOT / FOLDER).glob("compiled_*.py"):
        if path.relative_to(ROOT).as_posix() not in made:
            path.unlink()
    for name, text in made.items():
        (ROOT / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
