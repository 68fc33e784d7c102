"""A dead letter is its record, with the reasons in headers."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, DeadLetters, KeyedWorkers
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.leftovers import nothing_left_behind
from tests.support.patience import eventually
from tests.workers.records import record_at


@pytest.mark.parametrize(("key", "value"), [(b"k", b"v"), (None, b"v"), (b"k", None), (None, None)])
async def test_key_value_timestamp_and_headers_are_kept(
    key: bytes | None, value: bytes | None
) -> None:
    async with nothing_left_behind(), EmbeddedBroker() as broker:
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with AIOKafkaProducer(**address) as producer:
            record = record_at(3, key, value=value, headers=[("own", b"1")])
            await DeadLetters(producer, "dead")._send(
                record, ValueError("no"), group_id="g", client_id="c", handler="h"
            )
        async with AIOKafkaConsumer("dead", auto_offset_reset="earliest", **address) as consumer:
            letter = await consumer.getone()
        assert (letter.key, letter.value, letter.timestamp) == (key, value, 7)
        assert letter.headers[0] == ("own", b"1")
        assert ("__connect.errors.offset", b"3") in list(letter.headers)


async def test_a_letter_tells_from_which_topic_of_the_name_it_comes() -> None:
    """Its offset means another record once the topic was made anew."""
    async with nothing_left_behind(), EmbeddedBroker() as broker:
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        ids = []
        for _ in range(2):
            broker.create_topic("t")
            ids.append(str(broker.cluster.topics["t"].topic_id).encode())
            broker.move_leader(("t", 0), broker.leader(("t", 0)))
            broker.produce("t", b"v")
            consumer = AIOKafkaConsumer[Any, Any](
                "t",
                group_id="g",
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                **address,
            )
            async with (
                AIOKafkaProducer(**address) as producer,
                KeyedWorkers(
                    consumer, refuse, retries=0, dead_letters=DeadLetters(producer, "dead")
                ) as workers,
            ):
                running = asyncio.create_task(workers.run())
                await eventually(lambda: workers.statistics().dead_letters == 1)
                workers.stop()
                await running
            broker.delete_topic("t")
        letters = broker.records("dead")
        told = [dict(letter.headers) for letter in letters]
        assert [each["__connect.errors.topic.id"] for each in told] == ids
        assert {each["__connect.errors.leader.epoch"] for each in told} == {b"1"}


async def refuse(_: object) -> None:
    raise ValueError("no")
