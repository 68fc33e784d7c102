"""A member without partitions learns soon of those that others have given up (KIP-848)."""

import asyncio

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

INTERVAL_S = 5.0
"""Between heartbeats, as brokers ask for by default."""


async def heartbeats_in_ten_intervals(kafka: VirtualKafka) -> int:
    kafka.broker.forget_requests()
    await asyncio.sleep(10 * INTERVAL_S)
    return len(kafka.broker.requests_of(ConsumerGroupHeartbeatRequest))


def test_a_second_member_need_not_wait_for_an_interval_of_its_own() -> None:
    async def main(kafka: VirtualKafka) -> None:
        def member(topic: str) -> AIOKafkaConsumer:
            return AIOKafkaConsumer(
                topic, group_id="g", group_protocol="consumer", **kafka.client_options
            )

        kafka.broker.create_topic("t", partitions=2)
        async with member("t") as first:
            await asyncio.sleep(INTERVAL_S - 0.2)  # the next heartbeat of the first one is near
            async with member("t") as second:
                began_s = kafka.clock.monotonic()
                while not second.assignment():
                    await asyncio.sleep(0.01)
                assert kafka.clock.monotonic() - began_s < 1.0
                assert len(first.assignment()) == len(second.assignment()) == 1
                await asyncio.sleep(3 * INTERVAL_S)
                assert 19 <= await heartbeats_in_ten_intervals(kafka) <= 21

    run_virtual_kafka(main)


def test_a_member_too_many_asks_no_more_often_than_others_in_the_end() -> None:
    async def main(kafka: VirtualKafka) -> None:
        options = {"group_id": "g", "group_protocol": "consumer", **kafka.client_options}
        kafka.broker.create_topic("t", partitions=1)
        async with AIOKafkaConsumer("t", **options), AIOKafkaConsumer("t", **options):
            await asyncio.sleep(4 * INTERVAL_S)
            assert 19 <= await heartbeats_in_ten_intervals(kafka) <= 21

    run_virtual_kafka(main)
