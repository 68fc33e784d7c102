"""Offsets that a call names: every leader is asked, and what is missing at the end is named."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.offset_lister import OffsetLister
from aiokafka_lite.errors import (
    KafkaTimeoutError,
    LeaderNotAvailableError,
    UnsupportedForMessageFormatError,
)
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, fill

P0, P1 = tps(0, 1)


@asynccontextmanager
async def asking(broker: EmbeddedBroker, **parts: Any) -> AsyncIterator[OffsetLister]:
    config = ConsumerConfig(bootstrap_servers=broker.bootstrap_servers)
    client = KafkaClient(config, **parts)
    signal = PollSignal(client.clock)
    client.metadata.add_listener(lambda _snapshot: signal.notify())
    await client.start()
    try:
        yield OffsetLister(config, client, signal)
    finally:
        await client.close()


async def test_offsets_of_topics_not_known_yet_are_found() -> None:
    async with embedded({"t": 2}, nodes=2) as broker, asking(broker) as lister:
        fill(broker, P1, 4)
        listed = await lister.list_offsets({P1: -1, P0: -2}, 5.0)
        assert {tp: answer.offset for tp, answer in listed.items()} == {P1: 4, P0: 0}
        assert list(listed) == [P1, P0], "in the order of the question"


async def test_a_log_too_old_for_timestamps_gives_minus_one() -> None:
    async with embedded({"t": 1}) as broker, asking(broker) as lister:
        broker.faults.fail(ListOffsetsRequest, UnsupportedForMessageFormatError)
        listed = await lister.list_offsets({P0: 5}, 5.0)
        assert listed[P0].offset == -1


async def test_what_is_missing_at_the_end_of_the_time_is_named_with_its_reason() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        async with asking(broker, clock=clock) as lister:
            broker.faults.fail(ListOffsetsRequest, LeaderNotAvailableError, times=None)
            with pytest.raises(KafkaTimeoutError, match=r"t-0 \(LEADER_NOT_AVAILABLE\)"):
                await lister.list_offsets({P0: -1}, 3.0)
            assert clock.monotonic() == pytest.approx(3.0, abs=0.2)
