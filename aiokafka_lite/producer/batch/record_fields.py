"""Turns key, value and headers of a record into bytes, or names the one that is wrong.

Does not wait.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from aiokafka_lite.checks.quoted import number, quoted, said
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.errors import (
    IllegalArgumentError,
    MessageSizeTooLargeError,
    SerializationError,
)
from aiokafka_lite.serialization import (
    CANNOT_TAKE_NONE,
    AnySerializer,
    NotPreparedError,
    is_async,
    takes_none,
    topic_serializer,
)

_MAX_TIMESTAMP = 2**63 - 1
_MIN_TIMESTAMP = -(2**63)

Headers = tuple[tuple[str, bytes | None], ...]


MOST_BYTES = 2**31 - 1
"""The largest max_request_size there is."""


class RecordSerializers:
    """The serializers of one producer, for keys and for values."""

    def __init__(
        self,
        key: AnySerializer[Any] | None,
        value: AnySerializer[Any] | None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """`most_bytes`: max_request_size. A buffer beyond it is refused before it is copied."""
        self.most_bytes = most_bytes
        self._named = {
            field: (serializer, topic_serializer(serializer))
            for field, serializer in (("key", key), ("value", value))
            if serializer is not None
        }
        self.takes_none = {
            field for field, function in (("key", key), ("value", value)) if takes_none(function)
        }
        """The fields whose serializer is called with None, until it cannot take that."""
        self.is_async = is_async(key) or is_async(value)
        """Whether one of them has to be awaited. Then `encode` cannot be used."""
        self.passes_errors = False
        """Whether the caller gets a serializer's own error, as with aiokafka."""

    def __bool__(self) -> bool:
        return bool(self._named)

    def encode(
        self,
        topic: str,
        value: Any,
        key: Any,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> tuple[bytes | None, bytes | None, Headers]:
        """Return key, value and headers as they will be sent.

        Raises: SerializationError; NotPreparedError if a serializer has to wait first.
        """
        if not self._named:
            if key is not None and key.__class__ is not bytes:
                key = check_bytes("key", key, self.most_bytes)
            if value is not None and value.__class__ is not bytes:
                value = check_bytes("value", value, self.most_bytes)
            return key, value, () if headers is None else freeze_headers(headers, self.most_bytes)
        listed = []
        if headers is not None and headers != ():
            listed = list(freeze_headers(headers, self.most_bytes))
        key = self.to_bytes("key", topic, listed, key)
        value = self.to_bytes("value", topic, listed, value)
        return key, value, freeze_headers(listed) if listed else ()

    def to_bytes(
        self, field: str, topic: str, headers: list[tuple[str, bytes | None]], obj: Any
    ) -> bytes | None:
        """Return the bytes of a record's "key" or "value". None stays None if the serializer does
        not take it.

        Raises: SerializationError, chained to the error of the serializer.
        """
        if obj is None and field not in self.takes_none:
            return None
        named = self._named.get(field)
        if named is None:
            return check_bytes(field, obj, self.most_bytes)
        _serializer, serialize = named
        if self.is_async:
            raise SerializationError(
                f"the {field}_serializer is async, and can be awaited by send(), send_many() and"
                " send_and_wait() only"
            )
        try:
            data: object = serialize(topic, headers, obj)
        except NotPreparedError:
            raise
        except Exception as error:  # noqa: BLE001  `fail` raises it
            if obj is None and isinstance(error, CANNOT_TAKE_NONE):
                self.takes_none.discard(field)
                return None
            self.fail(field, topic, obj, error)
        return self.checked(field, obj, data)

    def serializer(self, field: str) -> tuple[AnySerializer[Any], Callable[..., Any]] | None:
        """Return the serializer of "key" or "value", and it as a function of the topic."""
        return self._named.get(field)

    def fail(self, field: str, topic: str, obj: Any, error: Exception) -> NoReturn:
        """Raise the error of a serializer that failed: a SerializationError, unless its own error
        is passed on.
        """
        if self.passes_errors:
            raise error
        raise SerializationError(
            f"{field}_serializer {_name(self._named[field][0])} cannot turn the {field} of type "
            f"{type(obj).__name__}, for topic {quoted(topic)}, into bytes: {said(error, obj)}"
        ) from error

    def checked(self, field: str, obj: Any, data: object) -> bytes | None:
        """Return what a serializer has returned. Raises: SerializationError for no bytes."""
        if data is None or isinstance(data, bytes):
            return data
        if isinstance(data, bytearray | memoryview):
            return _own(data, self.most_bytes)
        raise SerializationError(
            f"{field}_serializer {_name(self._named[field][0])} returned {type(data).__name__} for"
            f" the {field} of type {type(obj).__name__}; it has to return bytes"
        )


def _own(data: bytearray | memoryview, most_bytes: int = MOST_BYTES) -> bytes:
    """Return a copy, because the caller may change it before it is sent.

    Raises: MessageSizeTooLargeError for more than `most_bytes` bytes, without copying them.
    """
    check_size(memoryview(data).nbytes, max_request_size=most_bytes)
    return bytes(data)


def check_bytes(field: str, obj: object, most_bytes: int = MOST_BYTES) -> bytes | None:
    """Return a key or value without a serializer, as bytes that no other code can change.

    Raises: SerializationError for anything that is not bytes-like; as `_own`.
    """
    if obj is None or isinstance(obj, bytes):
        return obj
    if isinstance(obj, bytearray | memoryview):
        return _own(obj, most_bytes)
    example = "lambda text: text.encode()" if isinstance(obj, str) else "..."
    raise SerializationError(
        f"the {field} is of type {type(obj).__name__}, not bytes, and there is no "
        f"{field}_serializer; give the producer one, such as {field}_serializer={example}, or "
        f"pass bytes"
    )


def check_not_empty(value: object, key: object) -> None:
    """Raise AssertionError, as aiokafka does, for a record without key and value."""
    if value is None and key is None:
        raise AssertionError(
            "Need at least one: key or value. value=None is a tombstone, which deletes what its "
            "key had; an empty value is b''"
        )


def freeze_headers(
    headers: Iterable[tuple[str, bytes | None]] | None, most_bytes: int = MOST_BYTES
) -> Headers:
    """Return a copy of the headers: later changes to the caller's list have no effect.

    Raises: SerializationError naming the header that is no (str, bytes or None) pair; as `_own`.
    """
    if headers is None:
        return ()
    given: object = headers
    if isinstance(given, Mapping | str | bytes):
        raise SerializationError(
            f"headers are of type {type(given).__name__}; pass (name, value) pairs in a list"
            + (", such as list(headers.items())" if isinstance(given, Mapping) else "")
        )
    try:
        return tuple(_header(index, header, most_bytes) for index, header in enumerate(headers))
    except TypeError as error:
        if isinstance(error, SerializationError):
            raise
        raise SerializationError(
            f"headers are of type {type(headers).__name__}; pass (name, value) pairs in a list"
        ) from error


def check_size(record_bytes: int, **limits: int) -> None:
    """Raise MessageSizeTooLargeError if a record exceeds a limit, naming the option.

    Source: KafkaProducer.ensureValidRecordSize.
    """
    for name, limit in limits.items():
        if record_bytes > limit:
            raise MessageSizeTooLargeError(
                f"a record of {record_bytes:,} bytes (headers and overhead included) exceeds "
                f"{name} of {limit:,} bytes; raise {name} or send smaller records"
            )


def checked_timestamp(timestamp_ms: int) -> int:
    """Return a valid timestamp. Raises: IllegalArgumentError for anything else.

    A record may be of a time before 1970, or have none (-1), so that consumed records can be sent
    on unchanged.
    """
    given, timestamp_ms = timestamp_ms, whole(timestamp_ms)
    if not is_int(timestamp_ms) or not _MIN_TIMESTAMP <= timestamp_ms <= _MAX_TIMESTAMP:
        raise IllegalArgumentError(
            f"timestamp_ms={number(given)} is no int of milliseconds since 1970 (64 bits; "
            "-1: no timestamp); leave it out to have the present time"
        )
    return timestamp_ms


def is_encodable(text: str) -> bool:
    """Return whether UTF-8 can encode `text`: a str may have lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_topic(value: object) -> bool:
    """Return whether `value` can be the name of a topic; the brokers may still refuse it."""
    return isinstance(value, str) and bool(value)


def _header(index: int, header: object, most_bytes: int) -> tuple[str, bytes | None]:
    if isinstance(header, tuple | list) and len(header) == 2:
        name, value = header
        if isinstance(name, str):
            if not is_encodable(name):
                raise SerializationError(
                    f"header {index} has a name that UTF-8 cannot encode; leave out lone surrogates"
                )
            if value is None or isinstance(value, bytes):
                return name, value
            if isinstance(value, bytearray | memoryview):
                return name, _own(value, most_bytes)
            raise SerializationError(
                f"header {index}, {quoted(name)}, has a value of type {type(value).__name__}; "
                f"header values are bytes or None"
            )
        raise SerializationError(
            f"header {index} has a name of type {type(name).__name__}; header names are str"
        )
    raise SerializationError(f"header {index} is {type(header).__name__}, not a (name, value) pair")


def _name(serializer: object) -> str:
    return getattr(serializer, "__qualname__", None) or type(serializer).__qualname__


__all__ = [
    "MOST_BYTES",
    "Headers",
    "RecordSerializers",
    "check_bytes",
    "check_not_empty",
    "check_size",
    "checked_timestamp",
    "freeze_headers",
    "is_encodable",
    "is_topic",
]
