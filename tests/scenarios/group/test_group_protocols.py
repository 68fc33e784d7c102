"""The same acts by members of each protocol, on the embedded broker in virtual time."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.testing.virtual_kafka import VirtualKafka
from tests.support.group_protocols import ACTS, Act, Diary, Stage, balanced, until


@pytest.mark.parametrize("protocol", ["classic", "consumer", "auto"])
@pytest.mark.parametrize("act", ACTS)
def test_members_may_rely_on(act: Act, protocol: str, virtual_kafka: Callable[..., Any]) -> None:
    async def main(kafka: VirtualKafka) -> None:
        await act(Stage(kafka.client_options, "t", protocol))

    virtual_kafka(main, group_initial_rebalance_delay_ms=0)


@pytest.mark.parametrize("act", ACTS)
def test_auto_is_the_classic_protocol_where_brokers_have_no_other(
    act: Act, virtual_kafka: Callable[..., Any]
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        await act(Stage(kafka.client_options, "t", "auto"))
        assert kafka.broker.requests_of(JoinGroupRequest)

    virtual_kafka(main, group_version=0)


def test_auto_is_the_classic_protocol_where_the_settings_of_brokers_lack_the_other(
    virtual_kafka: Callable[..., Any],
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        await ACTS[0](Stage(kafka.client_options, "t", "auto"))
        assert kafka.broker.requests_of(JoinGroupRequest)
        assert not kafka.broker.requests_of(ConsumerGroupHeartbeatRequest)

    virtual_kafka(main, group_coordinator_rebalance_protocols=["classic"])


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
@pytest.mark.parametrize("ending", ["removed", "unsubscribes"])
def test_a_member_hears_at_once_that_its_partitions_are_gone_though_it_processes(
    protocol: str, ending: str, virtual_kafka: Callable[..., Any]
) -> None:
    """`processing()` holds a rebalance back, which is void when others have the partitions."""

    async def main(kafka: VirtualKafka) -> None:
        stage = Stage(kafka.client_options, "t", protocol)
        await stage.make_topic()
        diary = Diary()
        async with stage.member(diary) as first, stage.member() as second:
            await balanced(first, second)
            with first.processing():
                third = stage.member()
                joining = asyncio.create_task(third.start())
                await asyncio.sleep(10)
                lines = len(diary.lines)
                if ending == "removed":
                    await stage.remove_members()
                else:
                    first.unsubscribe()
                await asyncio.sleep(10)
                told, _ = diary.lines[lines]
                assert told == ("lost" if ending == "removed" else "revoked")
            await joining
            await until(lambda: bool(third.assignment()), second, third)
            await third.stop()

    virtual_kafka(main, group_initial_rebalance_delay_ms=0)
