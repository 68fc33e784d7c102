"""Turns the keys and values of decoded records into the user's objects.

If one fails, the error names its record, and the records before it are kept.
"""

from typing import Any

from aiokafka_lite.errors import RecordDeserializationError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.serialization import AnyDeserializer, topic_deserializer


class RecordDeserializer:
    """The two deserializers of one partition's records; either may be None.

    An absent key or value stays None.
    """

    __slots__ = ("_key", "_partition", "_topic", "_value")

    def __init__(
        self,
        topic: str,
        partition: int,
        key_deserializer: AnyDeserializer[Any] | None,
        value_deserializer: AnyDeserializer[Any] | None,
    ) -> None:
        self._topic = topic
        self._partition = partition
        self._key = None if key_deserializer is None else topic_deserializer(key_deserializer)
        self._value = None if value_deserializer is None else topic_deserializer(value_deserializer)

    def apply(self, records: list[ConsumerRecord[Any, Any]]) -> RecordDeserializationError | None:
        """Replace keys and values in place.

        If one fails, cut the list before it and return the error.

        The records before the bad one still reach the user (2b-20). Source: KIP-334.
        """
        deserialize_key, deserialize_value, topic = self._key, self._value, self._topic
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
                return self._failed(record, field, key, value, error)
        return None

    def _failed(
        self,
        record: ConsumerRecord[Any, Any],
        field: str,
        key: bytes | None,
        value: bytes | None,
        cause: Exception,
    ) -> RecordDeserializationError:
        failed = RecordDeserializationError(
            f"{self._topic}-{self._partition} at offset {record.offset}: the {field} cannot be"
            f" deserialized: {cause!r}; seek to offset {record.offset + 1} to go past it",
            topic_partition=TopicPartition(self._topic, self._partition),
            offset=record.offset,
            timestamp=record.timestamp,
            key_bytes=key,
            value_bytes=value,
            headers=record.headers,
        )
        failed.__cause__ = cause
        return failed


__all__ = ["RecordDeserializer"]
