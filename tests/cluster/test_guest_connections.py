"""Producers, consumers and admin clients share the connections of an `AIOKafkaClient`."""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    TopicPartition,
)
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.support.topics import create_topic

P0 = TopicPartition("orders", 0)
OLDEST: dict[str, Any] = {"auto_offset_reset": "earliest"}
PATIENT: dict[str, Any] = {**OLDEST, "fetch_max_wait_ms": 20_000}
QUICK: dict[str, Any] = {"retry_backoff_ms": 10}


def opened(broker: EmbeddedBroker) -> Counter[str | None]:
    """How many connections each client id has opened: each begins with ApiVersions."""
    found = [each for each in broker.requests if each.api_key == ApiKey.API_VERSIONS]
    return Counter(each.client_id for each in found)


def host_of(kafka: VirtualKafka, **options: Any) -> AIOKafkaClient:
    return AIOKafkaClient(**kafka.client_options, client_id="shop", **options)


def shared(kafka: VirtualKafka, client: AIOKafkaClient) -> dict[str, Any]:
    """What a client needs in order to share."""
    return {"client": client, "clock": kafka.clock, "rng": kafka.rng}


def test_only_what_the_broker_holds_back_has_connections_of_its_own() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("orders")
        async with host_of(kafka) as client:
            given = shared(kafka, client)
            async with (
                AIOKafkaProducer(**given, client_id="p") as producer,
                AIOKafkaAdminClient(**given, client_id="a") as admin,
            ):
                member = {"client_id": "c1", "group_id": "g", **OLDEST}
                async with (
                    AIOKafkaConsumer("orders", **given, **member) as first,
                    AIOKafkaConsumer(**given, client_id="c2") as second,
                ):
                    second.assign([P0])
                    await second.seek_to_beginning(P0)
                    await producer.send_and_wait("orders", b"v")
                    assert (await first.getone()).value == (await second.getone()).value == b"v"
                    await first.commit()
                    assert await admin.list_topics() == ["orders"]
                    # Shared: that of the seed, which is the node. Own: fetches, and the group.
                    assert opened(kafka.broker) == {"shop": 1, "c1": 2, "c2": 1}
                    assert producer.statistics().network.open_connections == 4
                # They have closed theirs; the connection of the client goes on.
                assert producer.statistics().network.open_connections == 1
                await producer.send_and_wait("orders", b"v")
            assert await client.ready(1)
            assert opened(kafka.broker) == {"shop": 1, "c1": 2, "c2": 1}

    run_virtual_kafka(main)


def test_a_fetch_that_waits_delays_nobody_else() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("orders")
        kafka.broker.create_topic("other")
        async with (
            host_of(kafka) as client,
            AIOKafkaConsumer("other", **shared(kafka, client), **PATIENT) as idle,
            AIOKafkaConsumer("orders", **shared(kafka, client), **PATIENT) as reader,
            AIOKafkaProducer(**shared(kafka, client)) as producer,
        ):
            waiting = asyncio.ensure_future(idle.getmany(timeout_ms=30_000))
            await asyncio.sleep(1)
            began_s = kafka.clock.monotonic()
            await producer.send_and_wait("orders", b"v")
            assert (await reader.getone()).value == b"v"
            assert (await reader.end_offsets([P0]))[P0] == 1
            assert kafka.clock.monotonic() - began_s < 0.5
            waiting.cancel()

    run_virtual_kafka(main)


def test_a_share_consumer_shares_too() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("orders")
        async with host_of(kafka) as client:
            given = shared(kafka, client)
            async with (
                AIOKafkaShareConsumer("orders", **given, client_id="s", group_id="g") as sharer,
                AIOKafkaProducer(**given) as producer,
            ):
                taken = asyncio.ensure_future(sharer.getone())
                while not taken.done():
                    await producer.send_and_wait("orders", b"v")
                    await asyncio.sleep(0.1)
                assert taken.result().value == b"v"
            assert set(opened(kafka.broker)) == {"shop", "s"}

    run_virtual_kafka(main)


def test_each_keeps_the_metadata_that_it_needs() -> None:
    async def main(kafka: VirtualKafka) -> None:
        for topic in ("orders", "other"):
            kafka.broker.create_topic(topic)
        async with host_of(kafka) as client:
            kafka.broker.forget_requests()
            async with AIOKafkaProducer(**shared(kafka, client)) as producer:
                await producer.send_and_wait("orders", b"v")
                assert producer.client.cluster.topics() == {"orders"}
            asked = kafka.broker.requests_of(MetadataRequest)
            assert [[each.name for each in one.topics or ()] for one in asked] == [[], ["orders"]]
            assert client.cluster.topics() == {"orders", "other"}

    run_virtual_kafka(main)


def test_the_end_of_one_leaves_the_others_and_a_cancelled_start_nothing() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("orders")
        async with (
            host_of(kafka) as client,
            AIOKafkaProducer(**shared(kafka, client)) as producer,
        ):
            for turns in range(0, 40, 3):
                options = {"group_id": f"g{turns}", **OLDEST}
                consumer = AIOKafkaConsumer("orders", **shared(kafka, client), **options)
                start = asyncio.ensure_future(consumer.start())
                for _ in range(turns):
                    await asyncio.sleep(0)
                start.cancel()
                with suppress(asyncio.CancelledError):
                    await start
                await producer.send_and_wait("orders", b"%d" % turns)
                await consumer.stop()
            async with AIOKafkaConsumer("orders", **shared(kafka, client), **OLDEST) as reader:
                assert [(await reader.getone()).value for _ in range(0, 40, 3)] == [
                    b"%d" % turns for turns in range(0, 40, 3)
                ]

    run_virtual_kafka(main)


def test_they_need_a_client_that_runs_in_the_same_loop() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("orders")
        client = host_of(kafka)
        producer = AIOKafkaProducer(**shared(kafka, client))
        with pytest.raises(IllegalStateError, match=r"is new; await its bootstrap\(\) before"):
            await producer.start()
        await client.bootstrap()
        await producer.start()  # a failed start may be repeated
        await producer.stop()
        await client.close()
        with pytest.raises(IllegalStateError, match="is closed"):
            await AIOKafkaConsumer(**shared(kafka, client)).start()

    run_virtual_kafka(main)


def test_those_that_share_a_client_fail_when_it_closes_first() -> None:
    """What waits ends at once with the reason, and so does what comes later."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("orders")
        kafka.broker.create_topic("written")
        client = host_of(kafka)
        await client.bootstrap()
        given = shared(kafka, client)
        producer = AIOKafkaProducer(**given)
        reader = AIOKafkaConsumer("orders", **given)
        member = AIOKafkaConsumer("orders", **given, group_id="g")
        admin = AIOKafkaAdminClient(**given)
        clients: list[Any] = [producer, reader, member, admin]
        for each in clients:
            await each.start()
        kafka.broker.faults.drop("Produce", times=None)
        ack = await producer.send("written", b"v")
        kafka.broker.faults.drop("Metadata", times=None)
        polls: list[Any] = [reader.getone(), member.getone()]
        asked = [*polls, producer.flush(), producer.send("other", b"v"), admin.list_topics()]
        waiting: list[Any] = [ack, *(asyncio.ensure_future(each) for each in asked)]
        await asyncio.sleep(1)
        began_s = kafka.clock.monotonic()
        await client.close()
        told = await asyncio.gather(*waiting, return_exceptions=True)
        assert all(isinstance(each, KafkaError) for each in told), told
        later: list[Any] = [producer.send("orders", b"v"), reader.getone(), member.getone()]
        for call in later:
            with pytest.raises(KafkaError, match="shares was closed; close it after those that"):
                await call
        assert not any(each.is_healthy() for each in clients)
        for each in clients[:-1]:
            await each.stop()
        await admin.close()
        assert kafka.clock.monotonic() - began_s < 1

    run_virtual_kafka(main)


class Visitors:
    """Members that join a group and leave it, and nodes that stop and start again."""

    def __init__(self, kafka: VirtualKafka, client: AIOKafkaClient, rng: random.Random) -> None:
        self._kafka = kafka
        self._client = client
        self._rng = rng
        self._members: list[AIOKafkaConsumer[bytes, bytes]] = []

    async def act(self) -> None:
        """Do one thing by chance."""
        act = self._rng.choice((self._join, self._leave, self._stop, self.start, self._drop))
        await act()

    async def _join(self) -> None:
        options = {"group_id": "g", **QUICK, "session_timeout_ms": 10_000}
        member = AIOKafkaConsumer("orders", **shared(self._kafka, self._client), **options)
        with suppress(KafkaConnectionError):
            await member.start()
            self._members.append(member)

    async def _leave(self) -> None:
        if self._members:
            await self._members.pop().stop()

    async def _stop(self) -> None:
        self._kafka.broker.stop_node(self._rng.choice((2, 3)))

    async def start(self) -> None:
        for node_id in (2, 3):
            self._kafka.broker.start_node(node_id)

    async def _drop(self) -> None:
        self._kafka.broker.drop_connections(self._rng.choice((1, 2, 3)))

    async def end(self) -> None:
        await self.start()
        while self._members:
            await self._leave()


@pytest.mark.parametrize("seed", range(6))
def test_whatever_comes_and_goes_each_record_is_written_and_read_once(seed: int) -> None:
    async def main(kafka: VirtualKafka) -> None:
        rng = random.Random(seed)
        kafka.broker.create_topic("orders", partitions=3)
        async with (
            host_of(kafka, **QUICK) as client,
            AIOKafkaProducer(**shared(kafka, client), **QUICK) as producer,
            AIOKafkaConsumer("orders", **shared(kafka, client), **QUICK, **OLDEST) as reader,
        ):
            visitors, acks, read = Visitors(kafka, client, rng), [], list[bytes]()

            async def poll(timeout_ms: int) -> None:
                for records in (await reader.getmany(timeout_ms=timeout_ms)).values():
                    read.extend(each.value or b"" for each in records)

            for number in range(120):
                acks.append(await producer.send("orders", b"%d" % number, partition=number % 3))
                if number % 2:
                    await visitors.act()
                await poll(timeout_ms=rng.randrange(200))
            await visitors.end()
            for ack in acks:
                await ack
            while len(read) < len(acks):
                await poll(timeout_ms=5_000)
            assert Counter(read) == Counter(b"%d" % number for number in range(120))

    run_virtual_kafka(main, nodes=3, seed=seed)


async def test_on_a_real_kafka(any_kafka: str, topic_name: str) -> None:
    await create_topic(any_kafka, topic_name, partitions=2)
    async with (
        AIOKafkaClient(bootstrap_servers=any_kafka) as client,
        AIOKafkaProducer(client=client) as producer,
        AIOKafkaConsumer(topic_name, client=client, group_id=topic_name, **OLDEST) as consumer,
        AIOKafkaAdminClient(client=client) as admin,
    ):
        for number in range(20):
            await producer.send(topic_name, b"%d" % number, partition=number % 2)
        await producer.flush()
        read = [(await consumer.getone()).value or b"" for _ in range(20)]
        assert sorted(read) == sorted(b"%d" % number for number in range(20))
        await consumer.commit()
        lag = await admin.group_lag(topic_name)
        assert {each.lag for each in lag.succeeded.values()} == {0}
