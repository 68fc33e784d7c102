"""The same acts by members of each protocol, on the embedded broker in virtual time."""

from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.testing.virtual_kafka import VirtualKafka
from tests.support.group_protocols import ACTS, Act, Stage


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
