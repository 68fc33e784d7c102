"""What operators and tests may look at: what a client holds, and what it has done."""

from typing import Any, Literal

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill

P0, P1 = tps(0, 1)


async def test_statistics_before_start_know_the_queue_only() -> None:
    consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer()
    consumer.assign([P1, P0])
    statistics = consumer.statistics()
    assert statistics.queue == (P1, P0)
    assert (statistics.free, statistics.buffered, statistics.unread_bytes) == ((), (), 0)
    assert (statistics.fetches, statistics.returned_records) == (0, 0)
    assert statistics.network.connections == 0


async def test_statistics_show_what_is_buffered() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 4)
        await consumer.getone()
        (fetch,) = consumer.statistics().buffered
        assert (fetch.topic_partition, fetch.next_offset) == (P0, 1)
        assert consumer.statistics().unread_bytes == fetch.size_in_bytes > 0


async def test_fetches_are_counted_with_the_bytes_of_their_batches() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 4, 3)
        fill(broker, P1, 2)
        assert consumer.statistics().fetched_bytes == 0
        taken = 0
        while taken < 9:
            taken += sum(map(len, (await consumer.getmany(timeout_ms=1000)).values()))
        statistics = consumer.statistics()
        assert statistics.fetched_bytes == sum(broker.log(tp).size_in_bytes for tp in (P0, P1))
        assert 1 <= statistics.fetches <= len(broker.requests_of(FetchRequest))


async def test_each_record_that_a_poll_returned_is_counted_once() -> None:
    """Polls of every kind, those that take what an earlier one decoded ahead among them."""
    async with embedded({"t": 2}) as broker, consumer_of(broker) as consumer:
        consumer.assign([P0])
        fill(broker, P0, 20)
        counted = []
        for _ in range(3):
            await consumer.getone()
            counted.append(consumer.statistics().returned_records)
        assert counted == [1, 2, 3]
        await consumer.getmany(timeout_ms=1000, max_records=4)
        assert consumer.statistics().returned_records == 7
        await consumer.getone(P0)
        assert consumer.statistics().returned_records == 8
        async for _ in consumer:
            break
        assert consumer.statistics().returned_records == 9
        columns = await consumer.getmany_columns(timeout_ms=1000, max_records=5)
        assert columns is not None
        assert consumer.statistics().returned_records == 14


async def test_rebalances_and_commits_of_a_group_are_counted() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", group_id="g", enable_auto_commit=False) as consumer,
    ):
        fill(broker, P0, 2)
        await consumer.getone()
        assert (consumer.statistics().rebalances, consumer.statistics().commits) == (1, 0)
        await consumer.commit()
        await consumer.commit()
        assert (consumer.statistics().rebalances, consumer.statistics().commits) == (1, 2)


@pytest.mark.parametrize(("acks", "has_response"), [("all", True), (0, False)])
async def test_what_a_producer_has_written_is_counted(
    acks: Literal["all", 0], has_response: bool
) -> None:
    async with (
        embedded({"t": 2}) as broker,
        AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            acks=acks,
            enable_idempotence=has_response,
            linger_ms=60_000,
        ) as producer,
    ):
        assert producer.statistics().acknowledged_batches == 0
        for partition, count in ((0, 3), (1, 2)):
            for _ in range(count):
                await producer.send("t", b"value", partition=partition)
        assert producer.statistics().unacknowledged_batches == 2
        before = producer.statistics().network.responses
        await producer.flush()
        statistics = producer.statistics()
        assert statistics.unacknowledged_batches == 0
        assert (statistics.acknowledged_batches, statistics.acknowledged_records) == (2, 5)
        assert (statistics.network.responses > before) is has_response
        if has_response:  # else the broker may not have read them yet
            written = sum(broker.log(tp).size_in_bytes for tp in (P0, P1))
            assert statistics.acknowledged_bytes == written


async def test_a_batch_that_failed_is_not_counted() -> None:
    async with (
        embedded({"t": 1}) as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        broker.delete_topic("t")
        broker.create_topic("t", 1, configs={"max.message.bytes": "100"})
        with pytest.raises(Exception, match=r"max\.message\.bytes"):
            await producer.send_and_wait("t", b"v" * 1000)
        statistics = producer.statistics()
        assert (statistics.acknowledged_batches, statistics.unacknowledged_batches) == (0, 0)


async def test_connections_and_responses_are_counted() -> None:
    async with embedded({"t": 1}, nodes=2) as broker, consumer_of(broker) as consumer:
        first = consumer.statistics().network
        assert first.connections >= 1
        assert first.responses >= 1
        assert first.response_bytes > 0
        assert first.response_time_s > 0
        await consumer.end_offsets([TopicPartition("t", 0)])
        later = consumer.statistics().network
        assert later.responses > first.responses
        assert later.response_bytes > first.response_bytes
