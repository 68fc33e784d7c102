"""What `send_nowait` raises where `send` waits; the waiting itself is in test_producer."""

import pytest

from aiokafka_lite.errors import IllegalArgumentError, KafkaTimeoutError
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.producer.world import jumping_clock, kafka, producing


async def test_without_metadata_it_is_asked_for_and_the_caller_told() -> None:
    """Without metadata, the route finder requests it and raises (C3)."""
    async with kafka() as broker, producing(broker) as producer:
        finder = producer._engine.append_path.finder
        with pytest.raises(KafkaTimeoutError, match=r"no metadata of topic 'orders' yet.*not wait"):
            finder.find_nowait("orders")
        await producer.kafka_client.metadata.wait_for_topic("orders", 10.0)
        assert finder.find_nowait("orders").count == 1
        with pytest.raises(IllegalArgumentError, match="no topic's name"):
            finder.find_nowait("")


async def test_a_partition_that_is_not_there_is_not_waited_for() -> None:
    """A partition number that the topic lacks raises at once (C3)."""
    async with kafka() as broker, producing(broker) as producer:
        finder = producer._engine.append_path.finder
        route = await finder.find("orders", producer._clock.monotonic())
        assert finder.known_queue(route, 0) is route.queue(0)
        assert finder.known_queue(route, 1) is None
        with pytest.raises(KafkaTimeoutError, match=r"no partition 1, only 1.*does not wait"):
            finder.raise_no_partition_yet(route, 1)
        with pytest.raises(KafkaTimeoutError, match=r"no partition 1, only 1.*does not wait"):
            producer.send_nowait("orders", b"v", partition=1)
        for wrong in (-1, True, "0", 2**31):
            with pytest.raises(IllegalArgumentError, match="is no partition of 'orders'"):
                finder.known_queue(route, wrong)  # type: ignore[arg-type]


async def test_what_is_left_counts_from_the_callers_beginning() -> None:
    """`max_block_ms` is one bound for metadata and memory together (C3)."""
    clock = FakeClock(100.0)
    async with kafka() as broker, producing(broker, max_block_ms=2000) as producer:
        finder = producer._engine.append_path.finder
        finder._clock = clock
        assert finder.left_s(None) == 2.0
        assert finder.left_s(99.5) == 1.5
        assert finder.left_s(90.0) == 0.0


async def test_a_partition_that_appears_in_time_is_found() -> None:
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        broker.create_topic("orders")
        async with producing(broker, clock=clock, max_block_ms=60_000) as producer:
            with pytest.raises(KafkaTimeoutError, match=r"partition 3 .* has 1 partitions"):
                await producer.send("orders", b"v", partition=3)
