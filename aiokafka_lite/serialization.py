"""Turning keys and values into bytes and back: the protocols, and four ready pairs.

A callable with one argument is enough. It is called with None, too, as by aiokafka; if it cannot
take that, which a TypeError or an AttributeError says, None stays None. If an object has a
`serialize(topic, headers, obj)` method, that is called instead, so it may choose a schema by topic.
Such a method never gets None, which stays None. Either
may be an `async def`: the clients await it off the hot path, and keep the order of records. This
file itself calls none. Does not wait.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, runtime_checkable

from aiokafka_lite.kafka_error import Fault, KafkaError

BytesLike = bytes | bytearray | memoryview
"""What a record's key and value may be without serializers."""

if TYPE_CHECKING:
    # Their default (PEP 696) is for type checkers alone: a bare AIOKafkaProducer takes bytes.
    from typing_extensions import TypeVar as _TypeVar

    K_contra = _TypeVar("K_contra", contravariant=True, default=BytesLike)
    V_contra = _TypeVar("V_contra", contravariant=True, default=BytesLike)
else:
    K_contra = TypeVar("K_contra", contravariant=True)
    V_contra = TypeVar("V_contra", contravariant=True)

_T_contra = TypeVar("_T_contra", contravariant=True)
_T_co = TypeVar("_T_co", covariant=True)

Headers = Sequence[tuple[str, bytes | None]]


class Serializer(Protocol[_T_contra]):
    """`value -> bytes`."""

    def __call__(self, obj: _T_contra, /) -> bytes: ...


class AsyncSerializer(Protocol[_T_contra]):
    """As `Serializer`, as an `async def`."""

    def __call__(self, obj: _T_contra, /) -> Awaitable[bytes]: ...


class Deserializer(Protocol[_T_co]):
    """`bytes -> value`. It may keep the bytes."""

    def __call__(self, data: bytes, /) -> _T_co: ...


@runtime_checkable
class TopicSerializer(Protocol[_T_contra]):
    """A serializer that uses the topic and the record's headers."""

    def serialize(self, topic: str, headers: Headers, obj: _T_contra, /) -> bytes: ...


class AsyncTopicSerializer(Protocol[_T_contra]):
    """As `TopicSerializer`, with an `async def serialize`."""

    def serialize(self, topic: str, headers: Headers, obj: _T_contra, /) -> Awaitable[bytes]: ...


@runtime_checkable
class TopicDeserializer(Protocol[_T_co]):
    """A deserializer that uses the topic and the record's headers."""

    def deserialize(self, topic: str, headers: Headers, data: bytes, /) -> _T_co: ...


class NotPreparedError(KafkaError):
    """A serializer or deserializer has to wait for something before it can take this object.

    It raises this once, for example for a schema that it has to ask for. The clients await
    `prepare()` in the background, without blocking the event loop, and call it again. The order of
    records is kept. An error of `prepare()` says nothing about the record.
    """

    fault = Fault.USER
    retriable = True

    def __init__(self, text: str, prepare: Callable[[], Awaitable[object]]) -> None:
        super().__init__(text)
        self.prepare = prepare
        """Returns an awaitable. The same call may succeed when it is done."""


AnySerializer = (
    Serializer[_T_contra]
    | TopicSerializer[_T_contra]
    | AsyncSerializer[_T_contra]
    | AsyncTopicSerializer[_T_contra]
)
AnyDeserializer = Deserializer[_T_co] | TopicDeserializer[_T_co]


def topic_serializer(serializer: AnySerializer[Any]) -> Callable[[str, Headers, Any], Any]:
    """Return any kind of serializer as `f(topic, headers, obj)`, which returns bytes, or an
    awaitable of bytes.
    """
    if isinstance(serializer, TopicSerializer):
        return serializer.serialize
    plain: Any = serializer
    return lambda _topic, _headers, obj: plain(obj)


def topic_deserializer(deserializer: AnyDeserializer[Any]) -> Callable[[str, Headers, Any], Any]:
    """Return either kind of deserializer as `f(topic, headers, data) -> obj`."""
    if isinstance(deserializer, TopicDeserializer):
        return deserializer.deserialize
    plain = deserializer
    return lambda _topic, _headers, data: plain(data)


CANNOT_TAKE_NONE: Final = (TypeError, AttributeError)
"""What a function raises for None if it was not made for it, such as `str.encode`."""


def takes_none(function: object) -> bool:
    """Return whether a serializer or deserializer is to be called with None, as by aiokafka."""
    return function is not None and not isinstance(function, TopicSerializer | TopicDeserializer)


def is_async(function: object) -> bool:
    """Return whether a serializer or deserializer is an `async def`, or has one to be called."""
    for name in ("serialize", "deserialize"):
        if hasattr(function, name):
            return inspect.iscoroutinefunction(getattr(function, name))
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  of an object of the user's class
    )


def bytes_serializer(obj: bytes | bytearray | memoryview, /) -> bytes:
    """Return the bytes unchanged. Raises: TypeError for anything else, such as a str."""
    if isinstance(obj, bytes):
        return obj
    if isinstance(obj, bytearray | memoryview):
        return bytes(obj)
    raise TypeError(f"expected bytes, got {type(obj).__name__}; give the client a serializer")


def bytes_deserializer(data: bytes, /) -> bytes:
    """Return the bytes unchanged."""
    return data


def str_serializer(obj: str, /) -> bytes:
    """UTF-8. Raises: TypeError for anything but a str."""
    if not isinstance(obj, str):
        raise TypeError(f"expected str, got {type(obj).__name__}")
    return obj.encode()


def str_deserializer(data: bytes, /) -> str:
    """UTF-8. Raises: UnicodeDecodeError (a ValueError) for other bytes."""
    return str(data, "utf-8")


def json_serializer(obj: Any, /) -> bytes:
    """Compact JSON in UTF-8. Raises: TypeError or ValueError for values JSON lacks, such as NaN;
    TypeError for None, which stays None: a tombstone.
    """
    if obj is None:
        raise TypeError("None is a tombstone, and no JSON")
    import json  # noqa: PLC0415  imported at the first use

    return json.dumps(obj, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def json_deserializer(data: bytes, /) -> Any:
    """JSON to Python's own types. Raises: ValueError for other bytes."""
    import json  # noqa: PLC0415

    return json.loads(data)


_INT_SIZES = (4, 8)


def int_serializer(obj: int, /) -> bytes:
    """Eight bytes, big-endian, signed, like Java's LongSerializer. Raises: OverflowError beyond."""
    return int(obj).to_bytes(8, "big", signed=True)


def int_deserializer(data: bytes, /) -> int:
    """Four or eight bytes, big-endian, signed. Raises: ValueError for other lengths."""
    if len(data) not in _INT_SIZES:
        raise ValueError(f"an integer has 4 or 8 bytes, these are {len(data)}")
    return int.from_bytes(data, "big", signed=True)


__all__ = [
    "CANNOT_TAKE_NONE",
    "AnyDeserializer",
    "AnySerializer",
    "AsyncSerializer",
    "AsyncTopicSerializer",
    "BytesLike",
    "Deserializer",
    "Headers",
    "K_contra",
    "NotPreparedError",
    "Serializer",
    "TopicDeserializer",
    "TopicSerializer",
    "V_contra",
    "bytes_deserializer",
    "bytes_serializer",
    "int_deserializer",
    "int_serializer",
    "is_async",
    "json_deserializer",
    "json_serializer",
    "str_deserializer",
    "str_serializer",
    "takes_none",
    "topic_deserializer",
    "topic_serializer",
]
