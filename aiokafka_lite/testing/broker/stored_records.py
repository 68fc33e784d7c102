"""Writes and reads a broker's records without a client, for tests: `produce` and `records`.

EmbeddedBroker has these methods by inheritance. All of them may be called from any thread, as its
other methods.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from aiokafka_lite.clock import Clock
from aiokafka_lite.model import ConsumerRecord, RecordMetadata, TimestampType
from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from aiokafka_lite.testing.broker.state.cluster_state import (
    BrokerPartition,
    ClusterState,
    TopicState,
    partition_of,
)
from aiokafka_lite.testing.broker.state.log.partition_log import batch_of_one

T = TypeVar("T")


class StoredRecords:
    """The public methods around the records of a broker."""

    _cluster: ClusterState
    _clock: Clock

    def _call(self, function: Callable[[], T]) -> T:
        raise NotImplementedError  # EmbeddedBroker runs it in the broker's loop

    def _something_happened(self) -> None:
        raise NotImplementedError  # EmbeddedBroker looks at the conditions of its waiters

    def produce(
        self,
        topic: str,
        value: bytes | str | None,
        *,
        key: bytes | str | None = None,
        partition: int | None = None,
        headers: Sequence[tuple[str, bytes | None]] = (),
        timestamp_ms: int | None = None,
    ) -> RecordMetadata:
        """Write one record, uncompressed and outside transactions, and return where it is.

        Text is encoded as UTF-8. Without `partition` the key decides, as in Kafka's producers;
        without both it is the partition with the lowest end. `timestamp_ms` is the broker's time by
        default; -1 stands for a record without a timestamp. An unknown topic is created if the
        broker has `auto_create_topics`. Faults, rights and max.message.bytes do not count here.

        Raises: UnknownTopicOrPartitionError for an unknown topic or partition; InvalidTopicError
        for an impossible name; TypeError for a key or value of another type.
        """
        raw_key, raw_value = _bytes("key", key), _bytes("value", value)

        def write() -> RecordMetadata:
            chosen = _choose(self._topic(topic), raw_key, partition)
            now_ms = int(self._clock.time() * 1000)
            created_ms = now_ms if timestamp_ms is None else timestamp_ms
            is_append_time = chosen.config.log_append_time
            offset = chosen.append(
                batch_of_one(created_ms, raw_key, raw_value, headers),
                written_ms=now_ms,
                log_append_time_ms=now_ms if is_append_time else None,
            )
            self._something_happened()
            return RecordMetadata(
                topic=topic,
                partition=chosen.topic_partition.partition,
                topic_partition=chosen.topic_partition,
                offset=offset,
                timestamp=now_ms if is_append_time else created_ms,
                timestamp_type=TimestampType.LOG_APPEND_TIME
                if is_append_time
                else TimestampType.CREATE_TIME,
                log_start_offset=chosen.log.log_start_offset,
            )

        return self._call(write)

    def records(
        self, topic: str, *, partition: int | None = None, committed: bool = False
    ) -> list[ConsumerRecord[bytes, bytes]]:
        """Return the records of a topic, decompressed, by partition and offset.

        With `committed` only those that a consumer with `isolation_level="read_committed"` gets.
        Otherwise those of open and aborted transactions are among them.

        Raises: UnknownTopicOrPartitionError for an unknown topic or partition.
        """

        def read() -> list[ConsumerRecord[bytes, bytes]]:
            found = self._cluster.topic_by_name(topic)
            chosen = found.partitions if partition is None else [partition_of(found, partition)]
            return [record for each in chosen for record in each.log.records(committed=committed)]

        return self._call(read)

    def _topic(self, name: str) -> TopicState:
        """Return a topic, made anew if that is allowed."""
        if name not in self._cluster.topics and self._cluster.options.auto_create_topics:
            self._cluster.add_topic(self._cluster.new_topic(name))
        return self._cluster.topic_by_name(name)


def _choose(topic: TopicState, key: bytes | None, partition: int | None) -> BrokerPartition:
    if partition is not None:
        return partition_of(topic, partition)
    if key is not None:
        return topic.partitions[(murmur2(key) & 0x7FFFFFFF) % len(topic.partitions)]
    return min(topic.partitions, key=lambda each: each.log.log_end_offset)


def _bytes(what: str, content: object) -> bytes | None:
    if isinstance(content, str):
        return content.encode()
    if content is None or isinstance(content, (bytes, bytearray, memoryview)):
        return None if content is None else bytes(content)
    raise TypeError(
        f"{what}={content!r} is of type {type(content).__name__}; give bytes, a str or None"
    )


__all__ = ["StoredRecords"]
