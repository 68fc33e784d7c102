"""Leaders tell where epochs end, to whom no position is (KIP-320)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.position.epoch_lister import epoch_ends
from aiokafka_lite.consumer.position.epoch_questions import EpochEnd
from aiokafka_lite.errors import (
    KafkaTimeoutError,
    NotLeaderForPartitionError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, fill

P0, P1 = tps(0, 1)
API = OffsetForLeaderEpochRequest


@asynccontextmanager
async def asking(broker: EmbeddedBroker, **parts: Any) -> AsyncIterator[KafkaClient]:
    client = KafkaClient(ConsumerConfig(bootstrap_servers=broker.bootstrap_servers), **parts)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


async def test_each_leader_tells_where_the_epochs_of_its_logs_end() -> None:
    async with embedded({"t": 2}, nodes=2) as broker, asking(broker) as client:
        fill(broker, P0, 4)
        fill(broker, P1, 3, 2)
        broker.cluster.partition(P1).truncate(3)
        broker.move_leader(P1, 3 - broker.leader(P1))
        fill(broker, P1, 6)
        found = await epoch_ends(client, {P0: 0, P1: 0}, 5.0)
        assert found == {P0: EpochEnd(0, 4), P1: EpochEnd(0, 3)}
        assert await epoch_ends(client, {}, 5.0) == {}


async def test_a_leader_that_has_moved_is_looked_for() -> None:
    async with embedded({"t": 1}, nodes=2) as broker, asking(broker) as client:
        fill(broker, P0, 4)
        broker.faults.fail(API, NotLeaderForPartitionError, times=2)
        assert await epoch_ends(client, {P0: 0}, 5.0) == {P0: EpochEnd(0, 4)}
        broker.move_leader(P0, 3 - broker.leader(P0))  # the metadata is older than the epoch
        fill(broker, P0, 4)
        assert await epoch_ends(client, {P0: 1}, 5.0) == {P0: EpochEnd(1, 8)}


async def test_an_epoch_that_no_leader_has_had_is_of_another_log() -> None:
    async with (
        embedded({"t": 1}) as broker,
        asking(broker, clock=FakeClock(autojump_threshold_s=0.1)) as client,
    ):
        fill(broker, P0, 4)
        found = await epoch_ends(client, {P0: 7}, 60.0)
        assert not found[P0].is_defined


@pytest.mark.parametrize(("highest", "found"), [(2, {}), (3, {P0: EpochEnd(0, 4)})])
async def test_brokers_before_2_3_tell_consumers_nothing(highest: int, found: object) -> None:
    async with (
        embedded({"t": 1}, max_versions={API.api_key: highest}) as broker,
        asking(broker) as client,
    ):
        fill(broker, P0, 4)
        assert await epoch_ends(client, {P0: 0}, 5.0) == found


async def test_what_does_not_come_in_time_is_named_with_its_reason() -> None:
    clock = FakeClock(autojump_threshold_s=0.1)
    async with embedded({"t": 1}) as broker, asking(broker, clock=clock) as client:
        broker.faults.fail(API, NotLeaderForPartitionError, times=None)
        with pytest.raises(KafkaTimeoutError, match=r"within 3 s: t-0 \(.*; check that the par"):
            await epoch_ends(client, {P0: 0}, 3.0)
        assert clock.monotonic() == pytest.approx(3.0, abs=0.2)
        broker.faults.clear()
        broker.faults.fail(API, TopicAuthorizationFailedError)
        with pytest.raises(TopicAuthorizationFailedError):
            await epoch_ends(client, {P0: 0}, 3.0)
