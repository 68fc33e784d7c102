"""How large one batch is; what a row of batches makes of it is in test_record_accumulator."""

from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.batch_sizes import BatchSizes
from aiokafka_lite.producer.accumulator.partition_queue import PartitionQueue
from aiokafka_lite.producer.producer_config import ProducerConfig
from tests.producer.batches import make_batch, prove_fast


def sizes(**options: Any) -> BatchSizes:
    return BatchSizes(ProducerConfig(**options))


def queue_behind(*reserved: int, **options: Any) -> PartitionQueue:
    """A queue of batches that take so much memory, for a node that was fast so far."""
    queue = PartitionQueue(TopicPartition("orders", 0))
    queue.pace = prove_fast(sizes(**options).new_pace())
    for each in reserved:
        batch = make_batch()
        batch.reserved_bytes = each
        queue.batches.append(batch)
    return queue


@pytest.mark.parametrize(
    ("reserved", "size"),
    [
        ((), 16_384),
        ((16_384,), 16_384),
        ((16_384, 16_384), 32_768),
        ((16_384, 16_384, 16_384), 32_768),
        ((131_072, 131_072), 262_144),
        ((262_144, 262_144), 262_144),
    ],
)
def test_a_batch_takes_as_much_memory_as_those_before_it(
    reserved: tuple[int, ...], size: int
) -> None:
    """A batch behind others takes no more than they do together (C5)."""
    assert sizes().for_new(queue_behind(*reserved), 100) == size


@pytest.mark.parametrize(
    ("options", "reserved", "record_bytes", "size"),
    [
        ({}, 16_384, 100, 16_384),
        ({}, 16_384, 16_384, 32_768),
        ({}, 32_768, 100, 32_768),
        ({}, 65_536, 131_072, 262_144),
        ({}, 131_072, 262_144, None),
        ({"max_backlog_batch_size": 0}, 16_384, 16_384, None),
        ({"compression_type": "gzip"}, 16_384, 16_384, None),
        ({"max_batch_size_by_topic": {"orders": 500}}, 500, 600, None),
    ],
)
def test_a_full_batch_grows_step_by_step(
    options: dict[str, Any], reserved: int, record_bytes: int, size: int | None
) -> None:
    """A full batch that waits to be sent takes the memory that one behind it would take (C5)."""
    queue = queue_behind(reserved, **options)
    queue.open_batch = queue.batches[0]
    assert queue.open_batch.size_in_bytes + 100 < 16_384
    assert sizes(**options).for_grown(queue, queue.open_batch, record_bytes) == size


def test_a_large_record_gets_as_much_as_it_needs() -> None:
    """A record larger than a batch gets a batch of its own (C5, 2d-1)."""
    assert sizes().for_new(queue_behind(), 50_000) == 50_000


def test_a_topic_that_refused_a_batch_gets_usual_ones() -> None:
    made = sizes()
    made.was_too_large("orders", 65_536)
    assert made.for_new(queue_behind(65_536, 65_536), 100) == made.usual_bytes == 16_384


def test_a_topic_may_have_a_size_of_its_own() -> None:
    made = sizes(max_batch_size_by_topic={"orders": 500_000, "small": 1_000, "huge": 2**30})
    assert made.for_new(queue_behind(), 100) == 500_000
    assert made.for_new(queue_behind(131_072, 131_072), 100) == 500_000
    assert made.usual_of("small") == 1_000
    assert made.usual_of("huge") == 1_048_576, "max_request_size"
    assert made.usual_of("others") == made.usual_bytes == 16_384


def test_a_compressed_batch_grows_with_what_was_seen_and_at_most_twofold() -> None:
    """A compressed batch is filled up to about `max_batch_size` once it is compressed (2d-2)."""
    made, queue = sizes(compression_type="gzip"), queue_behind()
    for _ in range(500):
        made.was_compressed(queue, 16_000, 1_600)
    assert made.for_new(queue, 100) == 32_000
    assert made.in_request(make_batch()) < make_batch().size_in_bytes
    made.was_too_large("orders", 16_400)
    assert made.for_new(queue, 100) == 8_200


def test_without_compression_a_batch_takes_its_own_bytes_in_a_request() -> None:
    assert sizes().in_request(make_batch()) == make_batch().size_in_bytes
