"""Base classes of the messages: versioned structs that go over the wire. Does not wait.

`Message` is any versioned blob; `Request` and `Response` are the two halves of an API. The first
use of a version finds its functions compiled (`compiled_functions`) or compiles them, and the class
keeps them.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, ForwardRef, Generic, Self, TypeVar, cast, get_args, overload

from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.errors import ProtocolDecodeError, UnsupportedVersionError
from aiokafka_lite.schema.compiled_functions import Decoder, Encoder, compiled_function
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.schema.versioned_struct import (
    Struct,
    declared_class,
    fields_of,
    owner_module,
)

BytesLike = bytes | bytearray | memoryview


class Message(Struct):
    """A struct with versions, declared as `class X(Message, versions="0-3", flexible="2+")`."""

    versions: ClassVar[VersionRange] = VersionRange.NONE
    """The versions this library speaks."""
    flexible: ClassVar[VersionRange] = VersionRange.NONE
    """The versions with compact lengths and tagged fields (KIP-482)."""
    unread: ClassVar[Sequence[str]] = ()
    """Paths of fields, such as "topics.configs", that `decode` steps over. A subclass of a response
    sets it if large parts of the response are of no use."""
    _encoders: ClassVar[dict[int, Encoder]]
    _decoders: ClassVar[dict[int, Decoder]]

    def __init_subclass__(
        cls, *, versions: str | None = None, flexible: str = "none", **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        if versions is not None:
            cls.versions = VersionRange.parse(versions)
            cls.flexible = VersionRange.parse(flexible)
        cls._encoders = {}
        cls._decoders = {}

    def encode(self, version: int) -> Parts:
        """Return the bytes of this message in `version`, in parts for `writelines`.

        Large records are not copied. Raises: UnsupportedVersionError if `version` is out of range,
        or lacks a set field that is not ignorable; ValueError for a value that does not fit its
        field.
        """
        encoder = self._encoders.get(version)
        return (encoder or self._find_encoder(version))(self)

    @classmethod
    def decode(cls, view: memoryview | bytes, version: int) -> Self:
        """Return the message that `view` holds; it must fill the whole view.

        Records are views of `view`; everything else is copied. Raises: ProtocolDecodeError for
        bytes that are not exactly one such message; UnsupportedVersionError if `version` is out of
        range.
        """
        decoder = cls._decoders.get(version)
        return cast("Self", (decoder or cls._find_decoder(version))(view))

    @classmethod
    def decode_leniently(cls, view: memoryview | bytes, version: int) -> Self | None:
        """Return the message that stands at the beginning of `view`, as Java's client reads it.

        It steps over bytes behind the message, and replaces what is not UTF-8. A null that
        `version` does not allow is an empty value, if it stands for bytes or if the message has
        an error code, which explains it. None: this cannot be read either.

        Raises: UnsupportedVersionError if `version` is out of range.
        """
        from aiokafka_lite.schema.compiler import compile_lenient_decoder  # noqa: PLC0415  rare

        cls._require_version(version)
        decoder = compile_lenient_decoder(cls, version, flexible=version in cls.flexible)
        try:
            message, nulls = decoder(view)
        except ProtocolDecodeError:
            return None
        if all(zero == b"" for _, zero in nulls) or _has_error(message):
            return cast("Self", message)
        return None

    @classmethod
    def _find_encoder(cls, version: int) -> Encoder:
        cls._require_version(version)
        declared = declared_class(cls)  # a class derived from it is sent as it is
        name = f"encode_{declared.__name__}_v{version}"
        encoder: Encoder | None = compiled_function(declared, name)
        if encoder is None:
            from aiokafka_lite.schema.compiler import compile_encoder  # noqa: PLC0415  mostly unused

            encoder = compile_encoder(cls, version, flexible=version in cls.flexible)
        cls._encoders[version] = encoder
        return encoder

    @classmethod
    def _find_decoder(cls, version: int) -> Decoder:
        cls._require_version(version)
        name = f"decode_{cls.__name__}_v{version}"
        decoder: Decoder | None = None if cls.unread else compiled_function(cls, name)
        if decoder is None:
            from aiokafka_lite.schema.compiler import compile_decoder  # noqa: PLC0415  mostly unused

            flexible = version in cls.flexible
            decoder = compile_decoder(cls, version, flexible=flexible, unread=cls.unread)
        cls._decoders[version] = decoder
        return decoder

    @classmethod
    def _require_version(cls, version: int) -> None:
        if version not in cls.versions:
            raise UnsupportedVersionError(
                f"{cls.__name__} v{version} is not spoken here; versions {cls.versions} are"
            )


def _has_error(message: Any) -> bool:
    """Return whether a message, or a struct in it, has an error code."""
    if isinstance(message, list):
        return any(map(_has_error, message))
    if not isinstance(message, Struct):
        return False
    values = {field.name: getattr(message, field.name) for field in fields_of(type(message))}
    return bool(values.get("error_code")) or any(map(_has_error, values.values()))


class ApiMessage(Message):
    """The common part of requests and responses: the API they belong to."""

    api_key: ClassVar[int] = -1
    needs: ClassVar[str] = ""
    """The first Kafka that has the API in a version spoken here, as "Kafka 2.4 (KIP-455)". Empty:
    Kafka 2.1 has it."""

    def __init_subclass__(cls, *, api_key: int | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if api_key is not None:
            cls.api_key = api_key


class Response(ApiMessage):
    """A broker's response.

    Declared as `class XResponse(Response, api_key=1, versions="4-18", flexible="12+")`.
    """


ResponseT_co = TypeVar("ResponseT_co", bound=Response, covariant=True)


class _ResponseTypeOf:
    """Gives `SomeRequest.response_type`.

    The first use looks up the name in `Request["..."]`. Then the found class replaces this
    descriptor in the request's class.
    """

    @overload
    def __get__(
        self, instance: None, owner: "type[Request[ResponseT_co]]"
    ) -> type[ResponseT_co]: ...
    @overload
    def __get__(self, instance: "Request[ResponseT_co]", owner: Any) -> type[ResponseT_co]: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        owner.response_type = found = _find_response_type(owner)
        return found


def _find_response_type(owner: Any) -> Any:
    # A class without bases of its own in brackets has those of a base, and the module they are in.
    declared = next(each for each in owner.__mro__ if "__orig_bases__" in vars(each))
    for base in declared.__orig_bases__:
        for argument in get_args(base):
            if isinstance(argument, ForwardRef):
                return getattr(owner_module(declared), argument.__forward_arg__)
            if isinstance(argument, type):
                return argument
    raise TypeError(f"{owner.__name__} does not say what answers it: derive from Request['...']")


class Request(ApiMessage, Generic[ResponseT_co]):
    """A client's request.

    Declared as `class XRequest(Request["XResponse"], api_key=1, versions=..., flexible=...)`.

    A behaviour that only some versions have is declared in the class body as `…_since`, with the
    first version that has it. The last version without it is `…_since - 1`.
    """

    response_type = _ResponseTypeOf()
    """The class of the response."""


__all__ = ["ApiMessage", "BytesLike", "Message", "Request", "Response", "ResponseT_co"]
