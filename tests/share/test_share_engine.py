"""Starting joins the group in bounded time; metrics and observers hear what a member does."""

import pytest

from aiokafka_lite.errors import (
    GroupLoadInProgressError,
    KafkaTimeoutError,
    TopicAuthorizationFailedError,
    UnsupportedVersionError,
)
from aiokafka_lite.metrics.observed_client import ObservedClient
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.model import TopicPartition
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
