"""Owns `send_many`: records go into their batches in a tight loop, which stops only where a batch
is full or something is not as simple; one record goes the usual way then, which may wait.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from aiokafka_lite.producer.append_path import AppendPath
from aiokafka_lite.producer.bulk_ack import BulkAck
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.producer_interceptors import InterceptedPath
from aiokafka_lite.producer.record_ack import RecordAck
from aiokafka_lite.producer.record_fields import Headers, freeze_headers
from aiokafka_lite.producer.topic_routes import TopicRoute

_END = object()


class BulkSend:
    """One call of `send_many`."""

    def __init__(
        self,
        path: AppendPath,
        intercepted: InterceptedPath | None,
        config: ProducerConfig,
        topic: str,
        *,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> None:
        self._path = path
        self._intercepted = intercepted
        self._topic = topic
        self._partition = partition
        self._timestamp_ms = timestamp_ms
        self._headers: Headers = freeze_headers(headers)
        self._takes_values = (
            intercepted is None and not path.serializers and config.partitioner is None
        )
        self._takes_pairs = (
            self._takes_values and partition is None and not config.partitioner_ignore_keys
        )
        self._acks = BulkAck()

    async def send(self, records: Iterable[Any]) -> BulkAck:
        """Append all records. As `AIOKafkaProducer.send_many`."""
        iterator = iter(records)
        item = next(iterator, _END)
        while item is not _END:
            try:
                ack = await self._send_one(item)
            except Exception as error:
                error.add_note(f"{len(self._acks)} records of this send_many() were queued before")
                raise
            is_value = item.__class__ is bytes
            item = next(iterator, _END)
            if is_value and self._takes_values:
                item = self._append_values(ack, item, iterator)
            elif self._takes_pairs and item.__class__ is tuple:
                item = self._append_pairs(ack.timestamp_ms, item, iterator)
        return self._acks

    async def _send_one(self, item: Any) -> RecordAck:
        key, value = item if item.__class__ is tuple and len(item) == 2 else (None, item)
        if key is None and value is None:
            raise AssertionError("Need at least one: key or value")
        ack = await (self._intercepted or self._path).send(
            self._topic, value, key, self._partition, self._timestamp_ms, self._headers
        )
        batch, index = ack.place
        self._acks.add(batch, index, 1, ack.timestamp_ms)
        return ack

    def _append_values(self, ack: RecordAck, item: Any, iterator: Iterator[Any]) -> Any:
        """Append values behind that of `ack` until its batch is full; return what is left over."""
        batch, index = ack.place
        append, headers, timestamp_ms = batch.append, self._headers, ack.timestamp_ms
        size = batch.size_in_bytes
        first = batch_index = index + 1
        while item.__class__ is bytes and append(timestamp_ms, None, item, headers) is not None:
            batch_index += 1
            item = next(iterator, _END)
        if batch_index > first:
            self._acks.add(batch, first, batch_index - first, timestamp_ms)
            if self._partition is None:
                route = self._path.routes.find(self._topic)
                if route is not None:
                    route.sticky.count(batch.size_in_bytes - size)
        return item

    def _append_pairs(self, timestamp_ms: int, item: Any, iterator: Iterator[Any]) -> Any:
        """Append (key, value) pairs of bytes to open batches; return what is left over."""
        route: TopicRoute | None = self._path.routes.find(self._topic)
        if route is None:
            return item
        queues, hashes, count = route.queues, self._path.key_hashes, route.count
        add, headers = self._acks.add, self._headers
        while item.__class__ is tuple and len(item) == 2:
            key, value = item
            if key.__class__ is not bytes or value.__class__ is not bytes:
                break
            batch = queues[hashes[key] % count].open_batch
            if batch is None:
                break
            index = batch.append(timestamp_ms, key, value, headers)
            if index is None:
                break
            add(batch, index, 1, timestamp_ms)
            item = next(iterator, _END)
        return item


__all__ = ["BulkSend"]
