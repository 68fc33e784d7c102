"""A repeated request is not taken for a stranger's: a static member whose answer was lost joins
again under its own name, and a stranger's name stays refused. In virtual time.
"""

from typing import Any, Literal

import pytest

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.errors import UnreleasedInstanceIdError
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.schema.message import Request
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

HEARTBEAT = ConsumerGroupHeartbeatRequest
Protocol = Literal["classic", "consumer"]


def consumer(kafka: VirtualKafka, protocol: Protocol, **options: Any) -> AIOKafkaConsumer[Any, Any]:
    return AIOKafkaConsumer(
        "t",
        **kafka.client_options,
        group_id="g",
        group_protocol=protocol,
        group_instance_id="pod-1",
        auto_offset_reset="earliest",
        **options,
    )


async def reads_on(kafka: VirtualKafka, reader: AIOKafkaConsumer[Any, Any], value: str) -> None:
    kafka.broker.produce("t", value)
    assert (await reader.getone()).value == value.encode()


def lose(broker: EmbeddedBroker, fault: str, api: type[Request[Any]]) -> None:
    """Let the coordinator serve the request, and its answer never arrive."""
    if fault == "cut":
        broker.faults.cut(api)
    else:
        broker.faults.drop(api)


@pytest.mark.parametrize("fault", ["cut", "drop"])
@pytest.mark.parametrize(
    ("protocol", "api"),
    [("consumer", HEARTBEAT), ("classic", JoinGroupRequest), ("classic", SyncGroupRequest)],
)
def test_a_join_whose_answer_is_lost_is_repeated(
    protocol: Protocol, api: type[Request[Any]], fault: str
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        lose(kafka.broker, fault, api)
        async with consumer(kafka, protocol, rebalance_timeout_ms=10_000) as member:
            await reads_on(kafka, member, "1")
            assert len(kafka.broker.group("g").members) == 1

    run_virtual_kafka(main)


@pytest.mark.parametrize("code", [110, 25], ids=["FENCED_MEMBER_EPOCH", "UNKNOWN_MEMBER_ID"])
def test_a_member_that_is_fenced_under_its_own_name_joins_again(code: int) -> None:
    """Its coordinator has it with another epoch: it gives its place up itself, and takes it."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        async with consumer(kafka, "consumer") as member:
            await reads_on(kafka, member, "1")
            await member.commit()
            kafka.broker.faults.fail(HEARTBEAT, code)
            await kafka.clock.sleep(10)
            await reads_on(kafka, member, "2")
            await member.commit()
            assert len(kafka.broker.group("g").members) == 1

    run_virtual_kafka(main)


def test_the_name_of_a_stranger_stays_refused() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        async with consumer(kafka, "consumer") as member:
            await reads_on(kafka, member, "1")
            stranger = consumer(kafka, "consumer")
            with pytest.raises(UnreleasedInstanceIdError, match="pod-1"):
                await stranger.start()
            await stranger.stop()
            await reads_on(kafka, member, "2")

    run_virtual_kafka(main)
