"""The types, schemas and structs of aiokafka's protocol, over bytes. Does not wait.

Programs make requests of them and read the answers: `schemas` of `inside_names` says which fields a
request has, `requests` sends it. The messages of the clients themselves are in `protocol/messages`.
"""

import struct
from abc import ABC, ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from io import BytesIO
from types import UnionType
from typing import Any, ClassVar, Generic, Self, TypeVar, get_args, get_origin

from aiokafka_lite.codec.writer import base128_bytes
from aiokafka_lite.errors import IncompatibleBrokerVersion

T = TypeVar("T")


class AbstractType(ABC, Generic[T]):
    """A type of fields, used as a class."""

    @classmethod
    @abstractmethod
    def encode(cls, value: T) -> bytes:
        """Return the bytes of a value."""

    @classmethod
    @abstractmethod
    def decode(cls, data: BytesIO) -> T:
        """Read a value."""

    @classmethod
    def repr(cls, value: T) -> str:
        """Return the text of a value."""
        return repr(value)


class _Number(AbstractType[Any]):
    """Numbers of a fixed size. Raises: ValueError for what does not fit, and at the end of data."""

    _format: ClassVar[struct.Struct]

    @classmethod
    def encode(cls, value: Any) -> bytes:
        try:
            return cls._format.pack(value)
        except struct.error as error:
            raise ValueError(f"a value of {type(value).__name__} is no {cls.__name__}") from error

    @classmethod
    def decode(cls, data: BytesIO) -> Any:
        try:
            (value,) = cls._format.unpack(data.read(cls._format.size))
        except struct.error as error:
            raise ValueError(f"the data end within a field of type {cls.__name__}") from error
        return value


class Int8(_Number):
    """One byte."""

    _format = struct.Struct(">b")


class Int16(_Number):
    """Two bytes."""

    _format = struct.Struct(">h")


class Int32(_Number):
    """Four bytes."""

    _format = struct.Struct(">i")


class UInt32(_Number):
    """Four bytes without a sign."""

    _format = struct.Struct(">I")


class Int64(_Number):
    """Eight bytes."""

    _format = struct.Struct(">q")


class Float64(_Number):
    """A double."""

    _format = struct.Struct(">d")


class Boolean(_Number):
    """One byte, 0 or 1."""

    _format = struct.Struct(">?")


class UnsignedVarInt32(AbstractType[int]):
    """Seven bits a byte, the lowest first."""

    @classmethod
    def encode(cls, value: int) -> bytes:
        return base128_bytes(value & 0xFFFFFFFF)

    @classmethod
    def decode(cls, data: BytesIO) -> int:
        return _read_varint(data, 5)


class VarInt32(AbstractType[int]):
    """A zigzag number of seven bits a byte."""

    @classmethod
    def encode(cls, value: int) -> bytes:
        return base128_bytes(((value << 1) ^ (value >> 31)) & 0xFFFFFFFF)

    @classmethod
    def decode(cls, data: BytesIO) -> int:
        value = _read_varint(data, 5)
        return (value >> 1) ^ -(value & 1)


class VarInt64(AbstractType[int]):
    """As VarInt32, of 64 bits."""

    @classmethod
    def encode(cls, value: int) -> bytes:
        return base128_bytes(((value << 1) ^ (value >> 63)) & 0xFFFFFFFFFFFFFFFF)

    @classmethod
    def decode(cls, data: BytesIO) -> int:
        value = _read_varint(data, 10)
        return (value >> 1) ^ -(value & 1)


class Bytes(AbstractType[bytes | None]):
    """Bytes behind their length; None has the length -1."""

    @classmethod
    def encode(cls, value: bytes | None) -> bytes:
        return Int32.encode(-1) if value is None else Int32.encode(len(value)) + value

    @classmethod
    def decode(cls, data: BytesIO) -> bytes | None:
        return _read(data, Int32.decode(data))

    @classmethod
    def repr(cls, value: bytes | None) -> str:
        return repr(value if value is None or len(value) <= 100 else value[:100] + b"...")


class CompactBytes(AbstractType[bytes | None]):
    """Bytes behind their length plus one; None has 0."""

    @classmethod
    def encode(cls, value: bytes | None) -> bytes:
        return base128_bytes(0) if value is None else base128_bytes(len(value) + 1) + value

    @classmethod
    def decode(cls, data: BytesIO) -> bytes | None:
        return _read(data, UnsignedVarInt32.decode(data) - 1)


class TaggedFields(AbstractType[dict[int, bytes]]):
    """Tag -> bytes (KIP-482)."""

    @classmethod
    def encode(cls, value: Mapping[int, bytes]) -> bytes:
        fields = (
            base128_bytes(tag) + base128_bytes(len(field)) + field for tag, field in value.items()
        )
        return b"".join((base128_bytes(len(value)), *fields))

    @classmethod
    def decode(cls, data: BytesIO) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        for _ in range(UnsignedVarInt32.decode(data)):
            tag = UnsignedVarInt32.decode(data)
            found[tag] = _read(data, UnsignedVarInt32.decode(data)) or b""
        return found


class String:
    """Text behind its length in bytes; None has the length -1."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding

    def encode(self, value: str | None) -> bytes:
        """Return the bytes of a value."""
        if value is None:
            return Int16.encode(-1)
        encoded = str(value).encode(self.encoding)
        return Int16.encode(len(encoded)) + encoded

    def decode(self, data: BytesIO) -> str | None:
        """Read a value."""
        encoded = _read(data, Int16.decode(data))
        return None if encoded is None else encoded.decode(self.encoding)

    @classmethod
    def repr(cls, value: str | None) -> str:
        """Return the text of a value."""
        return repr(value)


class CompactString(String):
    """Text behind its length in bytes plus one; None has 0."""

    def encode(self, value: str | None) -> bytes:
        """Return the bytes of a value."""
        return CompactBytes.encode(None if value is None else str(value).encode(self.encoding))

    def decode(self, data: BytesIO) -> str | None:
        """Read a value."""
        encoded = CompactBytes.decode(data)
        return None if encoded is None else encoded.decode(self.encoding)


class Schema:
    """Named fields in a row: `Schema(("port", Int32), …)`. Its values are tuples."""

    def __init__(self, *fields: tuple[str, Any]) -> None:
        self.names: tuple[str, ...] = tuple(name for name, _ in fields)
        self.fields: tuple[Any, ...] = tuple(field for _, field in fields)

    def __len__(self) -> int:
        return len(self.fields)

    def encode(self, item: Sequence[Any]) -> bytes:
        """Return the bytes of a value. Raises: ValueError for another number of fields."""
        if len(item) != len(self.fields):
            raise ValueError("Item field count does not match Schema")
        return b"".join(field.encode(item[i]) for i, field in enumerate(self.fields))

    def decode(self, data: BytesIO) -> tuple[Any, ...]:
        """Read a value."""
        return tuple(field.decode(data) for field in self.fields)

    def repr(self, value: Any) -> str:
        """Return the text of a value."""
        try:
            told = [
                f"{name}={field.repr(value[i])}"
                for i, (name, field) in enumerate(zip(self.names, self.fields, strict=True))
            ]
        except (TypeError, IndexError):
            return repr(value)
        return f"({', '.join(told)})"


class Array:
    """Values in a row, behind their number; None has -1: `Array(Int32)`, `Array(("a", Int8), …)`.

    Raises: ValueError without a type.
    """

    def __init__(self, array_of_0: Any, *array_of: tuple[str, Any]) -> None:
        is_type = isinstance(array_of_0, type) and issubclass(array_of_0, AbstractType)
        if array_of:
            self.array_of: Any = Schema(array_of_0, *array_of)
        elif is_type or isinstance(array_of_0, String | Array | Schema):
            self.array_of = array_of_0
        else:
            raise ValueError("Array instantiated with no array_of type")

    def encode(self, items: Sequence[Any] | None) -> bytes:
        """Return the bytes of a value."""
        if items is None:
            return Int32.encode(-1)
        return b"".join((Int32.encode(len(items)), *map(self.array_of.encode, items)))

    def decode(self, data: BytesIO) -> list[Any] | None:
        """Read a value."""
        return self._items(data, Int32.decode(data))

    def _items(self, data: BytesIO, count: int) -> list[Any] | None:
        return None if count < 0 else [self.array_of.decode(data) for _ in range(count)]

    def repr(self, list_of_items: Sequence[Any] | None) -> str:
        """Return the text of a value."""
        if list_of_items is None:
            return "NULL"
        return f"[{', '.join(map(self.array_of.repr, list_of_items))}]"


class CompactArray(Array):
    """Values in a row, behind their number plus one; None has 0."""

    def encode(self, items: Sequence[Any] | None) -> bytes:
        """Return the bytes of a value."""
        if items is None:
            return base128_bytes(0)
        return b"".join((base128_bytes(len(items) + 1), *map(self.array_of.encode, items)))

    def decode(self, data: BytesIO) -> list[Any] | None:
        """Read a value."""
        return self._items(data, UnsignedVarInt32.decode(data) - 1)


def _read_varint(data: BytesIO, most_bytes: int) -> int:
    value = 0
    for place in range(most_bytes):
        byte: int = Int8.decode(data)
        value |= (byte & 0x7F) << 7 * place
        if byte >= 0:
            return value
    raise ValueError(f"a number of variable length has more than {most_bytes} bytes")


def _read(data: BytesIO, length: int) -> bytes | None:
    if length < 0:
        return None
    value = data.read(length)
    if len(value) != length:
        raise ValueError("Buffer underrun: the data end within a field")
    return value


# Structs…


class Struct:
    """Fields of a schema as attributes: all by position, or some by name.

    Raises: ValueError for another number of fields, and for names that the schema does not have.
    """

    SCHEMA: ClassVar[Any] = Schema()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        names = self.SCHEMA.names
        if args and len(args) != len(names):
            raise ValueError("Args must be empty or mirror schema")
        given = dict(zip(names, args, strict=True)) if args else kwargs
        if unknown := given.keys() - {*names}:
            raise ValueError(f"Keyword(s) not in schema {[*names]}: {', '.join(sorted(unknown))}")
        self.__dict__.update({name: given.get(name) for name in names})

    def encode(self) -> bytes:
        """Return the bytes of this struct."""
        encoded: bytes = self.SCHEMA.encode([self.__dict__[name] for name in self.SCHEMA.names])
        return encoded

    @classmethod
    def decode(cls, data: BytesIO | bytes) -> Self:
        """Read a struct."""
        return cls(*cls.SCHEMA.decode(BytesIO(data) if isinstance(data, bytes) else data))

    def get_item(self, name: str) -> Any:
        """Return a field. Raises: KeyError."""
        if name not in self.SCHEMA.names:
            raise KeyError(f"{name} is not in the schema")
        return self.__dict__[name]

    def __repr__(self) -> str:
        pairs = zip(self.SCHEMA.names, self.SCHEMA.fields, strict=True)
        told = [f"{name}={field.repr(self.__dict__[name])}" for name, field in pairs]
        return f"{type(self).__name__}({', '.join(told)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct):
            return NotImplemented
        if self.SCHEMA is not other.SCHEMA:
            return False
        return all(self.__dict__[name] == other.__dict__[name] for name in self.SCHEMA.names)

    __hash__ = object.__hash__


def _to_object(schema: Schema, data: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for place, (name, field) in enumerate(zip(schema.names, schema.fields, strict=True)):
        value = data.get_item(name) if isinstance(data, Struct) else data[place]
        if isinstance(field, Schema):
            value = _to_object(field, value)
        elif isinstance(field, Array) and isinstance(field.array_of, Schema):
            value = [_to_object(field.array_of, each) for each in value]
        found[name] = value
    return found


class RequestStruct(Struct, metaclass=ABCMeta):
    """A request in one version. Raises: TypeError for a class that does not say which."""

    FLEXIBLE_VERSION: ClassVar[bool] = False
    API_KEY: ClassVar[int]
    API_VERSION: ClassVar[int]
    RESPONSE_TYPE: ClassVar[type["Response"]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        needed = ("API_KEY", "API_VERSION", "RESPONSE_TYPE", "SCHEMA")
        if not all(hasattr(cls, name) for name in needed):
            raise TypeError(f"{cls.__name__} must define class attributes {', '.join(needed)}")

    def to_object(self) -> dict[str, Any]:
        """Return the fields, and those of the structs in them, as dictionaries."""
        return _to_object(self.SCHEMA, self)

    def build_request_header(self, correlation_id: int, client_id: str) -> Struct:
        """Return what goes before the request."""
        kind = RequestHeader_v2 if self.FLEXIBLE_VERSION else RequestHeader_v1
        return kind(self, correlation_id=correlation_id, client_id=client_id)

    def parse_response_header(self, read_buffer: BytesIO | bytes) -> Struct:
        """Read what goes before the response."""
        kind = ResponseHeader_v1 if self.FLEXIBLE_VERSION else ResponseHeader_v0
        return kind.decode(read_buffer)


class Response(Struct, metaclass=ABCMeta):
    """A response in one version."""

    @property
    @abstractmethod
    def API_KEY(self) -> int:  # noqa: N802 - aiokafka's name
        """The number of the API."""

    @property
    @abstractmethod
    def API_VERSION(self) -> int:  # noqa: N802 - aiokafka's name
        """The version of the API."""

    def to_object(self) -> dict[str, Any]:
        """Return the fields, and those of the structs in them, as dictionaries."""
        return _to_object(self.SCHEMA, self)


class RequestHeader_v1(Struct):  # noqa: N801 - aiokafka's name
    """The key, version and number of a request, and who sends it."""

    SCHEMA = Schema(
        ("api_key", Int16),
        ("api_version", Int16),
        ("correlation_id", Int32),
        ("client_id", String()),
    )

    def __init__(
        self, request: RequestStruct, correlation_id: int = 0, client_id: str = "aiokafka"
    ) -> None:
        super().__init__(request.API_KEY, request.API_VERSION, correlation_id, client_id)


class RequestHeader_v2(Struct):  # noqa: N801 - aiokafka's name
    """The same with tagged fields (KIP-482)."""

    SCHEMA = Schema(
        ("api_key", Int16),
        ("api_version", Int16),
        ("correlation_id", Int32),
        ("client_id", String()),
        ("tags", TaggedFields),
    )

    def __init__(
        self,
        request: RequestStruct,
        correlation_id: int = 0,
        client_id: str = "aiokafka",
        tags: dict[int, bytes] | None = None,
    ) -> None:
        super().__init__(
            *(request.API_KEY, request.API_VERSION, correlation_id, client_id, tags or {})
        )


class ResponseHeader_v0(Struct):  # noqa: N801 - aiokafka's name
    """The number of the request that is answered."""

    SCHEMA = Schema(("correlation_id", Int32))


class ResponseHeader_v1(Struct):  # noqa: N801 - aiokafka's name
    """The same with tagged fields (KIP-482)."""

    SCHEMA = Schema(("correlation_id", Int32), ("tags", TaggedFields))


RequestT = TypeVar("RequestT", bound=RequestStruct)


class Request(ABC, Generic[RequestT]):
    """A request whose version is chosen when the node is known: `class R(Request[R_v0 | R_v1])`.

    `build` makes the struct of one of these versions.
    """

    API_KEY: ClassVar[int]
    ALLOW_UNKNOWN_API_VERSION: ClassVar[bool] = False
    _CLASSES: ClassVar[tuple[Any, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not hasattr(cls, "API_KEY"):
            raise TypeError(f"{cls.__name__} must define class attributes 'API_KEY'")
        bases = cls.__dict__.get("__orig_bases__", ())
        if len(bases) == 1 and get_args(bases[0]):
            (versions,) = get_args(bases[0])
            is_union = get_origin(versions) is UnionType or isinstance(versions, UnionType)
            cls._CLASSES = get_args(versions) if is_union else (versions,)
        elif not cls._CLASSES:
            raise TypeError(f"{cls.__name__} must extend Request")

    @abstractmethod
    def build(self, request_struct_class: type[RequestT]) -> RequestT:
        """Return the request in this version."""

    def prepare(self, versions: Mapping[int, tuple[int, int]]) -> RequestT:
        """Return the request in the highest version that the node has, too.

        `versions`: API key -> (lowest, highest). Raises: IncompatibleBrokerVersion if they do not
        name the API; NotImplementedError without a common version.
        """
        name = type(self).__name__
        if self.API_KEY not in versions:
            if self.ALLOW_UNKNOWN_API_VERSION:
                return self.build(self._CLASSES[0])
            raise IncompatibleBrokerVersion(f"{name} cannot be used if the API version is unknown")
        lowest, highest = versions[self.API_KEY]
        for kind in reversed(self._CLASSES):
            if lowest <= kind.API_VERSION <= highest:
                return self.build(kind)
        raise NotImplementedError(
            f"{name} exists in versions {self._CLASSES[0].API_VERSION} to "
            f"{self._CLASSES[-1].API_VERSION}, and the broker has {lowest} to {highest}"
        )


__all__ = [
    "AbstractType",
    "Array",
    "Boolean",
    "Bytes",
    "CompactArray",
    "CompactBytes",
    "CompactString",
    "Float64",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "Request",
    "RequestHeader_v1",
    "RequestHeader_v2",
    "RequestStruct",
    "Response",
    "ResponseHeader_v0",
    "ResponseHeader_v1",
    "Schema",
    "String",
    "Struct",
    "TaggedFields",
    "UInt32",
    "UnsignedVarInt32",
    "VarInt32",
    "VarInt64",
]
