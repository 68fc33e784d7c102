"""Turns the keys and values of decoded records into the user's objects.

If one fails, the error names its record, and the records before it are kept.
"""

from typing import Any

from aiokafka_lite.checks.quoted import said
from aiokafka_lite.errors import RecordDeserializationError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.serialization import (
    AnyDeserializer,
    NotPreparedError,
    is_async,
    topic_deserializer,
)


class RecordDeserializer:
    """The two deserializers of one partition's records; either may be None.

    An absent key or value stays None.
    """

    __slots__ = ("is_async", "key", "partition", "topic", "value")

    def __init__(
        self,
        topic: str,
        partition: int,
        key_deserializer: AnyDeserializer[Any] | None,
        value_deserializer: AnyDeserializer[Any] | None,
    ) -> None:
        self.topic = topic
        self.partition = partition
        self.key = None if key_deserializer is None else topic_deserializer(key_deserializer)
        """Called with topic, headers and bytes; None: keys stay bytes."""
        self.value = None if value_deserializer is None else topic_deserializer(value_deserializer)
        """As `key`."""
        self.is_async = is_async(key_deserializer) or is_async(value_deserializer)
        """Whether one of them has to be awaited. Then `apply` cannot be used."""

    def apply(self, records: list[ConsumerRecord[Any, Any]]) -> RecordDeserializationError | None:
        """Replace keys and values in place.

        If one fails, cut the list before it and return the error. A record whose deserializer is
        not prepared stays as it was; the error's cause is the NotPreparedError.

        The records before the bad one still reach the user (2b-20). Source: KIP-334.
        """
        deserialize_key, deserialize_value, topic = self.key, self.value, self.topic
        for index, record in enumerate(records):
            key, value = record.key, record.value
            field = "key"
            try:
                if deserialize_key is not None and key is not None:
                    record.key = deserialize_key(topic, record.headers, key)
                field = "value"
                if deserialize_value is not None and value is not None:
                    record.value = deserialize_value(topic, record.headers, value)
            except Exception as error:  # noqa: BLE001  a user's code may raise anything
                del records[index:]
                if isinstance(error, NotPreparedError) and deserialize_key is not None:
                    record.key = key
                return self.failed(record, field, key, value, error)
        return None

    def remedy(self, offset: int) -> str:
        """Return how to go past the record at `offset`."""
        return f"seek to offset {offset + 1} to go past it"

    def failed(
        self,
        record: ConsumerRecord[Any, Any],
        field: str,
        key: bytes | None,
        value: bytes | None,
        cause: Exception,
    ) -> RecordDeserializationError:
        """Return the error of a record whose "key" or "value" cannot be deserialized."""
        failed = RecordDeserializationError(
            f"{self.topic}-{self.partition} at offset {record.offset}: the {field} cannot be"
            f" deserialized: {said(cause, key, value)}; {self.remedy(record.offset)}",
            topic_partition=TopicPartition(self.topic, self.partition),
            offset=record.offset,
            timestamp=record.timestamp,
            key_bytes=key,
            value_bytes=value,
            headers=record.headers,
        )
        failed.__cause__ = cause
        return failed


__all__ = ["RecordDeserializer"]
