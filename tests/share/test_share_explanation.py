"""A share consumer says why each partition is fetched or not: a reason, facts, a sentence."""

import asyncio
from typing import Any

from aiokafka_lite import AIOKafkaShareConsumer
from aiokafka_lite.errors import GroupAuthorizationFailedError, UnknownError
from aiokafka_lite.metrics.explanation import Explanation, WaitReason
from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.protocol.messages.share_fetch import ShareFetchRequest
from aiokafka_lite.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.share.share_kafka import GROUP, TOPIC, TP, ShareKafka, read, run_share


def told(consumer: AIOKafkaShareConsumer[Any, Any], tp: TopicPartition | None = TP) -> Explanation:
    """The one value about the partition, or about the whole consumer; it must be whole."""
    (found,) = [each for each in consumer.explain() if each.topic_partition == tp]
    assert str(found) == found.text
    if tp is not None:
        assert found.topic == tp.topic
        assert found.text.startswith(f"{tp.topic}-{tp.partition}: ")
    return found


def reasons(consumer: AIOKafkaShareConsumer[Any, Any]) -> list[WaitReason]:
    return [each.reason for each in consumer.explain()]


def test_before_the_start_and_after_the_stop_one_value_says_so() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.consumer()
        assert reasons(consumer) == [WaitReason.NOT_STARTED]
        async with consumer:
            await asyncio.sleep(10)
            found = told(consumer)
            assert (found.reason, found.node_id) == (WaitReason.NOT_POLLED, 1)
        assert reasons(consumer) == [WaitReason.STOPPED]

    run_share(main, "a")


def test_a_background_task_that_has_failed_is_named() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            assert consumer.kafka_client is not None
            (task,) = [
                each for each in consumer.kafka_client.owner.children if "heartbeats" in each.name
            ]
            before = {each for each in asyncio.all_tasks() if each.get_name().endswith(task.name)}
            for each in before:
                each.cancel()
            await asyncio.sleep(1)
            (found,) = consumer.explain()
            assert found.reason is WaitReason.CLIENT_FAILED
            assert not consumer.is_healthy()

    run_share(main, "a")


def test_nothing_is_subscribed_or_the_topic_does_not_exist() -> None:
    async def main(share: ShareKafka) -> None:
        share.broker.create_topic(TOPIC, 1)
        async with share.consumer(allow_auto_create_topics=False) as consumer:
            consumer.unsubscribe()
            await asyncio.sleep(10)
            assert reasons(consumer) == [WaitReason.NOTHING_SUBSCRIBED]
            consumer.subscribe(["gone"])
            await asyncio.sleep(10)
            unknown, nothing = consumer.explain()
            assert (unknown.reason, unknown.topic) == (WaitReason.TOPIC_UNKNOWN, "gone")
            assert nothing.reason is WaitReason.NOTHING_ASSIGNED

    run_share(main)


def test_a_member_that_is_refused_or_has_to_find_its_coordinator() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            await read(consumer)
            consumer.unsubscribe()
            await asyncio.sleep(10)
            share.broker.faults.fail(
                ShareGroupHeartbeatRequest, GroupAuthorizationFailedError, times=1
            )
            consumer.subscribe([TOPIC])
            assert told(consumer, None).reason is WaitReason.JOINING
            await asyncio.sleep(1)
            found = told(consumer, None)
            assert found.reason is WaitReason.JOIN_REFUSED
            assert "the next poll raises it" in found.text

    run_share(main, "a")


def test_records_that_must_be_acknowledged_and_those_that_wait_for_a_poll() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.explicit() as consumer:
            record = await consumer.getone()
            whole, of_partition = consumer.explain()
            assert whole.reason is WaitReason.UNACKNOWLEDGED
            assert "1 returned records are not acknowledged" in whole.text
            assert of_partition.reason is WaitReason.BUFFERED
            assert of_partition.size_in_bytes
            assert "from offset 1, and their locks end in 30." in of_partition.text or (
                "from offset 1, and their locks end in 29." in of_partition.text
            )
            consumer.acknowledge(record)
            assert reasons(consumer) == [WaitReason.BUFFERED]
            last = await consumer.getone()
            consumer.acknowledge(last, AcknowledgeType.REJECT)
            assert reasons(consumer) == [WaitReason.NOT_POLLED]

    run_share(main, "a", "b", together=True)


def test_a_fetch_on_its_way_and_one_that_has_failed() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer(retry_backoff_ms=5_000, retry_backoff_max_ms=5_000) as consumer:
            assert len(await read(consumer)) == 1
            polling = asyncio.create_task(read(consumer, 60_000))
            await asyncio.sleep(0.2)
            found = told(consumer)
            assert (found.reason, found.node_id) == (WaitReason.FETCHING, 1)
            share.broker.faults.fail(ShareFetchRequest, UnknownError, times=1)
            await asyncio.sleep(1.5)
            found = told(consumer)
            assert found.reason is WaitReason.FETCH_FAILED
            assert found.delay_s is not None
            assert 0 < found.delay_s <= 6
            await share.write("b")
            assert len(await polling) == 1

    run_share(main, "a")


def test_a_node_that_is_away() -> None:
    async def main(share: ShareKafka) -> None:
        slow = {"reconnect_backoff_ms": 60_000, "reconnect_backoff_max_ms": 60_000}
        async with share.consumer(**slow) as consumer:
            await read(consumer)
            share.broker.stop_node(1)
            assert await read(consumer, 1_000) == []
            found = told(consumer)
            assert (found.reason, found.node_id) == (WaitReason.NODE_BACKING_OFF, 1)
            assert found.error is not None
            assert found.error in found.text
            share.broker.start_node(1)

    run_share(main, "a")


def test_a_partition_without_a_leader() -> None:
    async def main(share: ShareKafka) -> None:
        broker = share.broker
        broker.delete_topic(TOPIC)
        broker.create_topic(TOPIC, replication_factor=1)
        leader = broker.leader(TP)
        broker.move_coordinator(GROUP, 3 - leader)
        async with share.consumer() as consumer:
            await read(consumer)
            broker.stop_node(leader)
            await read(consumer, 3000)
            assert told(consumer).reason is WaitReason.NO_LEADER

    run_share(main, "a", nodes=2)


def test_a_deserializer_that_waits() -> None:
    async def slow(value: bytes | None) -> bytes | None:
        await asyncio.sleep(5)
        return value

    async def main(share: ShareKafka) -> None:
        async with share.consumer(value_deserializer=slow) as consumer:
            polling = asyncio.create_task(read(consumer, 60_000))
            await asyncio.sleep(2)
            found = told(consumer)
            assert found.reason is WaitReason.DESERIALIZING
            assert found.size_in_bytes
            assert len(await polling) == 1

    run_share(main, "a")


def test_a_group_that_has_read_nothing_is_told_where_groups_begin() -> None:
    async def main(share: ShareKafka) -> None:
        begins = "a new share group begins at the end of its topics"
        async with share.consumer() as consumer:
            await asyncio.sleep(10)
            assert await consumer.getmany(timeout_ms=10_000) == {}
            poll = asyncio.ensure_future(consumer.getmany(timeout_ms=60_000))
            await asyncio.sleep(0.1)
            found = told(consumer)
            assert found.reason is WaitReason.FETCHING
            assert begins in found.text
            assert "share.auto.offset.reset" in found.text
            await share.write("since")
            assert await poll
            poll = asyncio.ensure_future(consumer.getmany(timeout_ms=5_000))
            await asyncio.sleep(0.1)
            assert begins not in told(consumer).text
            await poll

    run_share(main)
