"""How soon clients go on after the leader of a partition was killed and another one was elected.

The controller replaces a dead leader only after seconds. Until then the metadata names the dead
one, and nobody can say when the other one comes. All of it is played in virtual time.
"""

import asyncio

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.scenarios.consuming import fill

P0 = TopicPartition("words", 0)
MOST_S = 0.130
"""From the election to the next ack or record: a pause of 100 ms ± 20 %, and some round trips."""


def kill(kafka: VirtualKafka) -> int:
    """Make the leader's node unreachable while it still leads; return the node to be elected."""
    leader = kafka.broker.leader(P0)
    port = int(kafka.bootstrap_servers.split(",")[leader - 1].rpartition(":")[2])
    kafka.network.close(port)
    kafka.broker.drop_connections(leader)
    return leader % 3 + 1


@pytest.mark.parametrize("dead_s", [0.7, 1.9, 3.0, 5.3, 8.8])
def test_a_producer_goes_on_a_tenth_of_a_second_after_the_election(dead_s: float) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("words", 1)
        kafka.network.latency_s = 0.0005
        async with AIOKafkaProducer(**kafka.client_options) as producer:
            await producer.send_and_wait("words", b"first")
            heir = kill(kafka)
            sending = asyncio.ensure_future(producer.send_and_wait("words", b"second"))
            await kafka.clock.sleep(dead_s)
            kafka.broker.move_leader(P0, heir)
            elected_s = kafka.clock.monotonic()
            await sending
            assert kafka.clock.monotonic() - elected_s < MOST_S

    run_virtual_kafka(main, nodes=3)


@pytest.mark.parametrize("dead_s", [0.7, 1.9, 3.0, 5.3, 8.8])
def test_a_consumer_goes_on_a_tenth_of_a_second_after_the_election(dead_s: float) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("words", 1)
        kafka.network.latency_s = 0.0005
        options = kafka.client_options
        consumer = AIOKafkaConsumer(auto_offset_reset="earliest", **options)
        consumer.assign([P0])
        async with consumer, AIOKafkaProducer(**options) as producer:
            await producer.send_and_wait("words", b"first")
            await consumer.getone()
            heir = kill(kafka)
            reading = asyncio.ensure_future(consumer.getone())
            await kafka.clock.sleep(dead_s)
            kafka.broker.move_leader(P0, heir)
            fill(kafka.broker, P0, 1)
            elected_s = kafka.clock.monotonic()
            await reading
            assert kafka.clock.monotonic() - elected_s < MOST_S

    run_virtual_kafka(main, nodes=3)


def test_clients_ask_less_and_less_often_when_no_leader_comes() -> None:
    """Ten times a second for ten seconds, then as after other responses without news."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("words", 1)
        async with AIOKafkaProducer(**kafka.client_options) as producer:
            await producer.send_and_wait("words", b"first")
            heir = kill(kafka)
            kafka.broker.forget_requests()
            sending = asyncio.ensure_future(producer.send_and_wait("words", b"second"))
            await kafka.clock.sleep(10.5)
            assert 80 < len(kafka.broker.requests_of(MetadataRequest)) < 130
            kafka.broker.forget_requests()
            await kafka.clock.sleep(10.0)
            assert len(kafka.broker.requests_of(MetadataRequest)) < 20
            kafka.broker.move_leader(P0, heir)
            await sending

    run_virtual_kafka(main, nodes=3)


def test_a_client_that_needs_no_leader_does_not_ask_for_one() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("words", 1)
        async with AIOKafkaProducer(**kafka.client_options) as producer:
            await producer.send_and_wait("words", b"first")
            kafka.broker.forget_requests()
            kill(kafka)
            await kafka.clock.sleep(20.0)
            assert len(kafka.broker.requests_of(MetadataRequest)) <= 2

    run_virtual_kafka(main, nodes=3)
