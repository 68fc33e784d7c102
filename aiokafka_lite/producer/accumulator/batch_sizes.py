"""Decides how much memory a new batch takes, and when a batch is full. Does not wait.

The usual batch has max_batch_size bytes, or what max_batch_size_by_topic has for its topic. These
rules make it larger:

- With compression a batch takes more: as much more as the records of its topic were seen to shrink.
- Without compression a batch behind others takes as much as they have, up to
  max_backlog_batch_size. It waits for them anyway, and a large batch costs less per record. For the
  same reason a batch that is full before the sender takes it grows, up to the same size.

So a compressed batch has about max_batch_size when it is sent, and a partition with few records
takes no more memory than that. These rules hold growth back, each for its reason:

- The topic. One that has a size of its own gets usual batches. So does one that refused a batch for
  its size, and none larger than half of that. The next refusal would cost a request, too.
- The answers. With acks=0 all batches are usual ones. A broker that refuses a batch tells nobody.
- The link. To a node that has not answered yet, and after a Produce request that timed out, usual
  batches go. Later a batch has at most what the link carries in an eighth of request_timeout_ms
  (`NodePace`). A batch that needs longer than request_timeout_ms would be sent for ever.
- The age. A batch takes no records once it is older than a twentieth of delivery_timeout_ms, or
  than linger_ms. It expires with its first record, and later ones would have had more time.
- The memory. A closed batch gives back what it does not use of its buffer, such as the room for
  values that it refers to (`RecordAccumulator.close_full`). Without memory for a larger batch a
  usual one is tried.
- The transaction. It takes no records after its end began, and waits for all of its batches. So no
  batch holds records of two. In one that failed nothing is sent any more.

A batch cost 240 thousand instructions when all of this was Python. At 1 KB a record, a batch of
16 KB has fifteen records. A record took 7.0 us in such batches, and 3.4 us in batches of 128 KB.
Compiled, a batch costs some 57 thousand instructions, and 40 us beside records of 1 KB that fill
the caches. Such a record took 0.93 us in batches of 128 KB, 0.83 of 256 and 0.81 of 512. A single
record, a slow stream and a broker that keeps up see no difference. The larger size is off with
compression, which runs on the event loop. There, sixteen times the batch would be sixteen times the
pause.
"""

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.producer.accumulator.partition_queue import NodePace, PartitionQueue
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.producer_config import ProducerConfig

if TYPE_CHECKING:
    from aiokafka_lite.producer.batch.compression_ratios import CompressionRatios


_AGE_SHARE = 20
"""A batch takes records during this part of delivery_timeout_ms."""
_SETTLED_SHARE = 7
"""A full batch that has left its buffer has as much less memory, at most, than it was given."""


class BatchSizes:
    """The sizes of one producer's batches."""

    def __init__(self, config: ProducerConfig) -> None:
        self.usual_bytes = config.usual_batch_bytes
        """`usual_of` a topic without a size of its own."""
        self._bytes_by_topic = config.batch_bytes_by_topic
        self._steps = config.batch_sizes
        self._most_bytes = min(config.max_request_size, config.buffer_memory)
        self._ratios = _ratios_for(config.compression)
        self._usual_topics = set(self._bytes_by_topic)
        """The topics whose batches do not grow, such as those that refused one for its size."""
        self._topic_limits: dict[str, int] = {}
        """The largest batches of topics that refused one."""
        self._is_answered = config.required_acks != 0
        self._request_timeout_s = config.request_timeout_ms / 1000
        self._enough_bytes = config.max_request_size * config.max_in_flight_requests_per_connection
        self.oldest_open_s = max(
            config.linger_ms / 1000, config.delivery_timeout_ms / 1000 / _AGE_SHARE, 0.001
        )
        """The age at which a batch takes no more records."""

    def new_pace(self) -> NodePace:
        """Return the pace of a node that has not answered yet."""
        return NodePace(self._steps, self._request_timeout_s, self._enough_bytes)

    def usual_of(self, topic: str) -> int:
        """Return the memory of a batch of a topic that is not compressed and waits for no other."""
        return self._bytes_by_topic.get(topic, self.usual_bytes)

    def for_new(self, queue: PartitionQueue, record_bytes: int) -> int:
        """Return the memory of a new batch whose first record has at most `record_bytes` bytes.

        A compressed batch gets at most twice what the batch before it held, and at most
        max_request_size, in case the next records do not shrink. A batch behind others gets at most
        the memory they have together, so that no more memory is unused than used.
        """
        topic = queue.topic_partition.topic
        size = self.usual_of(topic)
        if self._ratios is not None:
            most = min(self._ratios.uncompressed_room(topic, size), self._most_bytes)
            if not self._is_answered or topic in self._topic_limits:
                most = min(most, self._topic_limits.get(topic, size))
            before = queue.batches[-1].uncompressed_size if queue.batches else queue.filled_bytes
            size = max(size, min(most, 2 * before))
        elif queue.batches and topic not in self._usual_topics:
            size = self._behind(queue)
        return max(size, record_bytes)

    def for_grown(
        self, queue: PartitionQueue, batch: ProducerBatch, record_bytes: int
    ) -> int | None:
        """Return the memory with which `batch`, the full open one of a queue, takes another record
        while it waits to be sent. None: it takes no more.

        It gets twice as much, so that no more memory is unused than used.
        """
        pace = queue.pace
        if pace is None or self._ratios is not None:
            return None
        size = batch.size_in_bytes + record_bytes
        if size > pace.most_batch_bytes or queue.topic_partition.topic in self._usual_topics:
            return None
        size = max(self._steps[bisect_left(self._steps, size)], batch.reserved_bytes)
        return None if size > pace.most_batch_bytes else size

    def _behind(self, queue: PartitionQueue) -> int:
        """Return the memory of the batches in a queue together, up to what its node may get."""
        pace = queue.pace
        most = self.usual_bytes if pace is None else pace.most_batch_bytes
        waiting_bytes = 0
        for batch in reversed(queue.batches):
            waiting_bytes += batch.reserved_bytes + batch.reserved_bytes // _SETTLED_SHARE
            if waiting_bytes >= most:
                return most
        return self._steps[max(bisect_right(self._steps, waiting_bytes) - 1, 0)]

    def end_backlog(self, queue: PartitionQueue) -> None:
        """Let the open batch of a queue be full at the usual size: no other delays it any more."""
        batch = queue.open_batch
        assert batch is not None
        if self._ratios is not None:
            return
        usual_bytes = self.usual_of(queue.topic_partition.topic)
        if batch.size_in_bytes >= usual_bytes:
            queue.close_open_batch()
        elif batch.reserved_bytes > usual_bytes:
            batch.limit_to(usual_bytes)

    def in_request(self, batch: ProducerBatch) -> int:
        """Return the bytes a batch takes in a request, estimated if it is not compressed yet."""
        if self._ratios is None or batch.is_sealed:
            return batch.size_in_bytes
        return self._ratios.compressed_size(batch.topic_partition.topic, batch.size_in_bytes)

    def was_compressed(self, queue: PartitionQueue, uncompressed: int, compressed: int) -> None:
        """Learn from a batch that was compressed."""
        assert self._ratios is not None
        self._ratios.observe(queue.topic_partition.topic, uncompressed, compressed)
        queue.filled_bytes = uncompressed

    def was_too_large(self, topic: str, size: int) -> None:
        """Learn that a topic refused a batch of `size` bytes. Nobody tells what it takes."""
        if self._ratios is not None:
            self._ratios.was_too_large(topic)
        self._usual_topics.add(topic)
        limit = self._topic_limits[topic] = max(1, size // 2)
        self._bytes_by_topic[topic] = min(self.usual_of(topic), limit)


def _ratios_for(compression: CompressionType) -> "CompressionRatios | None":
    """Return the estimates, which are loaded for producers that compress; None for others."""
    if compression is CompressionType.NONE:
        return None
    from aiokafka_lite.producer.batch.compression_ratios import CompressionRatios  # noqa: PLC0415

    return CompressionRatios()


__all__ = ["BatchSizes"]
