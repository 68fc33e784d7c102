"""Starting joins the group in bounded time; metrics and observers hear what a member does."""

import asyncio

import pytest

from aiokafka_lite.errors import (
    GroupLoadInProgressError,
    KafkaTimeoutError,
    TopicAuthorizationFailedError,
    UnsupportedVersionError,
)
from aiokafka_lite.metrics.observed_client import ObservedClient
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.share.share_kafka import GROUP, TP, ShareKafka, read, run_share, seen


def test_joining_is_bounded() -> None:
    async def main(share: ShareKafka) -> None:
        share.broker.faults.fail(ShareGroupHeartbeatRequest, GroupLoadInProgressError, times=None)
        consumer = share.consumer(default_api_timeout_ms=5_000)
        with pytest.raises(KafkaTimeoutError, match="not in share group 'g' within 5 s"):
            await consumer.start()
        share.broker.faults.clear()

    run_share(main)


def test_a_topic_that_may_not_be_read_is_refused_at_once() -> None:
    async def main(share: ShareKafka) -> None:
        share.broker.faults.fail(MetadataRequest, TopicAuthorizationFailedError, times=1)
        with pytest.raises(TopicAuthorizationFailedError):
            await share.consumer().start()

    run_share(main)


def test_a_broker_without_share_groups_is_told_of() -> None:
    async def main(share: ShareKafka) -> None:
        began_s = share.clock.monotonic()
        with pytest.raises(UnsupportedVersionError, match="do not offer share groups"):
            await share.consumer().start()
        assert share.clock.monotonic() - began_s < 15

    run_share(main, configs=None, share_version=0)


class Heard(Observer):
    def __init__(self) -> None:
        self.clients: list[ObservedClient] = []
        self.returned: list[tuple[TopicPartition, int]] = []

    def of_client(self, client: ObservedClient) -> Observer:
        self.clients.append(client)
        return self

    def records_returned(self, topic_partition: TopicPartition, records: int) -> None:
        self.returned.append((topic_partition, records))


def test_an_observer_hears_of_records() -> None:
    async def main(share: ShareKafka) -> None:
        heard = Heard()
        async with share.consumer(observer=heard) as consumer:
            assert seen(await read(consumer)) == [("a", 1), ("b", 1)]
        assert [(each.kind, each.group_id) for each in heard.clients] == [("consumer", GROUP)]
        assert heard.returned == [(TP, 2)]

    run_share(main, "a", "b", together=True)


def test_statistics_say_what_is_held_and_what_became_of_it() -> None:
    async def main(share: ShareKafka) -> None:
        consumer = share.explicit()
        before = consumer.statistics()
        assert (before.assigned, before.buffered, before.fetches) == ((), (), 0)
        assert (before.held_records, before.since_poll_s) == (0, None)
        async with consumer:
            first = await consumer.getone()
            await asyncio.sleep(2)
            now = consumer.statistics()
            assert now.assigned == (TP,)
            (buffered,) = now.buffered
            assert (buffered.topic_partition, buffered.next_offset) == (TP, 1)
            assert buffered.size_in_bytes == now.unread_bytes == now.fetched_bytes > 0
            assert (now.held_records, now.returned_records, now.acknowledged_records) == (1, 1, 0)
            assert now.since_poll_s == pytest.approx(2)
            assert now.network.open_connections
            consumer.acknowledge(first)
            second = await consumer.getone()
            consumer.acknowledge(second, AcknowledgeType.RELEASE)
            await consumer.commit()
            now = consumer.statistics()
            assert (now.buffered, now.unread_bytes, now.held_records) == ((), 0, 0)
            assert (now.returned_records, now.acknowledged_records) == (2, 2)
            assert now.refused_acknowledgements == 0
            again = await consumer.getone()
            consumer.acknowledge(again)
            share.broker.expire_share_locks(GROUP)
            await consumer.commit()
            now = consumer.statistics()
            assert (now.acknowledged_records, now.refused_acknowledgements) == (2, 1)

    run_share(main, "a", "b", together=True)


def test_statistics_name_the_nodes_that_fetch() -> None:
    async def main(share: ShareKafka) -> None:
        async with share.consumer() as consumer:
            assert len(await read(consumer)) == 1
            assert consumer.statistics().fetching_nodes == frozenset()
            polling = asyncio.create_task(read(consumer, 10_000))
            await asyncio.sleep(0.2)
            now = consumer.statistics()
            assert now.fetching_nodes == {1}
            assert (now.since_poll_s, now.held_records) == (0.0, 0)
            await polling

    run_share(main, "a")
