"""FastStream programs as their users write them: nothing in them names this package.

`python -m aiokafka_lite.compat faststream_programs.py BOOTSTRAP` runs all of them, and prints for
each its name and "ran", or a traceback.
"""

import asyncio
import json
import logging
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import Any

from aiokafka import ConsumerRecord
from aiokafka.structs import RecordMetadata, TopicPartition
from faststream import AckPolicy, BaseMiddleware, FastStream
from faststream.kafka import KafkaBroker, KafkaMessage, TestKafkaBroker
from faststream.message import StreamMessage
from pydantic import BaseModel

WAIT_S = 20


class Order(BaseModel):
    number: int
    customer: str


async def middleware(bootstrap: str) -> None:
    """A handler with a model, that publishes what it returns; a middleware sees both sides."""
    seen: list[str] = []

    class Watch(BaseMiddleware):
        async def consume_scope(
            self,
            call_next: Callable[[StreamMessage[Any]], Awaitable[Any]],
            msg: StreamMessage[Any],
        ) -> Any:
            assert isinstance(msg.raw_message, ConsumerRecord)
            seen.append(f"consumed {msg.raw_message.topic}")
            return await call_next(msg)

        async def publish_scope(self, call_next: Any, cmd: Any) -> Any:
            seen.append(f"published {cmd.destination}")
            return await call_next(cmd)

    broker = KafkaBroker(bootstrap, middlewares=[Watch], logger=None)
    billed: asyncio.Queue[str] = asyncio.Queue()

    @broker.subscriber("mw-orders", group_id="mw-bill", auto_offset_reset="earliest")
    @broker.publisher("mw-bills")
    async def bill(order: Order) -> str:
        return f"{order.customer} pays {order.number}"

    @broker.subscriber("mw-bills", group_id="mw-post", auto_offset_reset="earliest")
    async def post(text: str, message: KafkaMessage) -> None:
        assert message.headers["content-type"] == "text/plain"
        await billed.put(text)

    async with broker:
        await broker.start()
        metadata = await broker.publish(Order(number=7, customer="ann"), "mw-orders", key=b"ann")
        assert isinstance(metadata, RecordMetadata)
        async with asyncio.timeout(WAIT_S):
            assert await billed.get() == "ann pays 7"
    assert seen == [
        "published mw-orders",
        "consumed mw-orders",
        "published mw-bills",
        "consumed mw-bills",
    ]


async def batches(bootstrap: str) -> None:
    """A subscriber that takes lists, and a publisher of lists."""
    broker = KafkaBroker(bootstrap, logger=None)
    received: list[int] = []
    done = asyncio.Event()

    @broker.subscriber(
        "batch-numbers", batch=True, max_records=10, group_id="batch", auto_offset_reset="earliest"
    )
    async def take(numbers: list[int], message: KafkaMessage) -> None:
        assert len(message.raw_message) == len(numbers) <= 10
        received.extend(numbers)
        if len(received) >= 30:
            done.set()

    async with broker:
        await broker.publish_batch(*range(30), topic="batch-numbers")
        await broker.start()
        async with asyncio.timeout(WAIT_S):
            await done.wait()
    assert sorted(received) == list(range(30))


async def asyncapi(bootstrap: str) -> None:
    """The description of a service, with topics, models and the address of the cluster."""
    broker = KafkaBroker(bootstrap, logger=None)
    app = FastStream(broker)

    @broker.subscriber("api-orders", group_id="api")
    @broker.publisher("api-bills")
    async def bill(order: Order) -> str:
        return order.customer

    text = json.loads(app.schema.to_specification().to_json())
    assert {channel["address"].partition(":")[0] for channel in text["channels"].values()} == {
        "api-orders",
        "api-bills",
    }
    assert "Order" in json.dumps(text["components"]["schemas"])
    (server,) = text["servers"].values()
    assert server["host"] == bootstrap.split(",", maxsplit=1)[0]


async def ping(bootstrap: str) -> None:
    """The health check of FastStream, with a cluster and without."""
    broker = KafkaBroker(bootstrap, logger=None)
    assert not await broker.ping(timeout=1)  # not connected
    async with broker:
        await broker.start()
        assert await broker.ping(timeout=10)
        producer: Any = broker.config.producer
        assert not producer.closed
        topics = await broker.config.admin_client.list_topics()
        assert isinstance(topics, list)
        config = broker.config.admin_client
        await config.close()
        assert not await broker.ping(timeout=0.5)
    assert producer.closed


async def acknowledgements(bootstrap: str) -> None:
    """Each policy leaves the committed offset where FastStream's documentation puts it."""
    broker = KafkaBroker(bootstrap, logger=None)
    calls: dict[str, int] = {}
    done = {policy: asyncio.Event() for policy in ("reject", "nack", "manual", "first")}

    def handler(topic: str, policy: AckPolicy) -> Callable[[Any], Any]:
        return broker.subscriber(
            topic, group_id=topic, ack_policy=policy, auto_offset_reset="earliest"
        )

    @handler("ack-reject", AckPolicy.REJECT_ON_ERROR)
    async def rejects(text: str) -> None:
        calls["reject"] = calls.get("reject", 0) + 1
        if text == "bad":
            raise ValueError(text)
        done["reject"].set()

    @handler("ack-nack", AckPolicy.NACK_ON_ERROR)
    async def fails_once(text: str) -> None:
        calls["nack"] = calls.get("nack", 0) + 1
        if calls["nack"] == 1:
            raise ValueError(text)
        done["nack"].set()

    @handler("ack-manual", AckPolicy.MANUAL)
    async def acknowledges(text: str, message: KafkaMessage) -> None:
        assert text == "good"
        await message.ack()
        calls["manual"] = 1
        done["manual"].set()

    @handler("ack-first", AckPolicy.ACK_FIRST)
    async def after_commit(text: str) -> None:
        assert text
        done["first"].set()

    async with broker:
        for topic, texts in {
            "ack-reject": ["bad", "good"],
            "ack-nack": ["again"],
            "ack-manual": ["good"],
            "ack-first": ["good"],
        }.items():
            for text in texts:
                await broker.publish(text, topic, partition=0)
        await broker.start()
        async with asyncio.timeout(WAIT_S):
            for event in done.values():
                await event.wait()
        # The second delivery comes after a seek, at the same offset.
        assert calls == {"reject": 2, "nack": 2, "manual": 1}
    offsets = {}
    check = KafkaBroker(bootstrap, logger=None)
    async with check:
        await check.start()
        for group in ("ack-reject", "ack-nack", "ack-manual"):
            found = await check.config.admin_client.list_consumer_group_offsets(group)
            offsets[group] = found[TopicPartition(group, 0)].offset
    assert offsets == {"ack-reject": 2, "ack-nack": 1, "ack-manual": 1}


async def in_memory(bootstrap: str) -> None:
    """FastStream's own test broker, which takes the clients' place."""
    broker = KafkaBroker(bootstrap, logger=None)

    @broker.subscriber("mem-orders")
    @broker.publisher("mem-bills")
    async def bill(order: Order) -> str:
        return order.customer

    @broker.subscriber("mem-bills")
    async def post(text: str) -> None:
        assert text

    async with TestKafkaBroker(broker) as test:
        await test.publish({"number": 1, "customer": "ann"}, "mem-orders")
        bill.mock.assert_called_once_with({"number": 1, "customer": "ann"})
        post.mock.assert_called_once_with("ann")


PROGRAMS = (middleware, batches, asyncapi, ping, acknowledgements, in_memory)


async def main(bootstrap: str) -> int:
    failures = 0
    for program in PROGRAMS:
        try:
            await program(bootstrap)
        except Exception:  # noqa: BLE001 - the others run all the same
            failures += 1
            print(program.__name__, "failed", traceback.format_exc())
        else:
            print(program.__name__, "ran")
    return failures


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    sys.exit(asyncio.run(main(sys.argv[1])))
