"""FastStream: groups, batches, patterns, policies, replies, test brokers and a FastAPI router."""

import asyncio
import sys
from collections.abc import Awaitable, Callable

from fastapi import FastAPI
from fastapi.testclient import TestClient
from faststream import AckPolicy
from faststream.kafka import (
    KafkaBroker,
    KafkaMessage,
    KafkaResponse,
    TestKafkaBroker,
    TopicPartition,
)
from faststream.kafka.fastapi import KafkaRouter

BOOTSTRAP, MARK = sys.argv[1:]


def topic(name: str) -> str:
    return f"fs-{MARK}-{name}"


async def without_a_group() -> None:
    """What is published after `start()` is read, by each of two subscribers."""
    broker = KafkaBroker(BOOTSTRAP, logger=None)
    read: asyncio.Queue[str] = asyncio.Queue()

    @broker.subscriber(topic("plain"))
    async def first(text: str) -> None:
        await read.put(f"first {text}")

    @broker.subscriber(topic("plain"))
    async def second(text: str) -> None:
        await read.put(f"second {text}")

    async with broker:
        await broker.start()
        await broker.publish("hello", topic("plain"))
        print(sorted([await asyncio.wait_for(read.get(), 20) for _ in range(2)]))


async def with_a_group_and_a_batch() -> None:
    broker = KafkaBroker(BOOTSTRAP, logger=None)
    read: asyncio.Queue[int] = asyncio.Queue()

    @broker.subscriber(
        topic("batch"), batch=True, max_records=7, group_id=topic("b"), auto_offset_reset="earliest"
    )
    async def take(numbers: list[int]) -> None:
        assert len(numbers) <= 7
        for number in numbers:
            await read.put(number)

    async with broker:
        await broker.publish_batch(*range(30), topic=topic("batch"))
        await broker.start()
        print(sorted([await asyncio.wait_for(read.get(), 20) for _ in range(30)]))


async def by_a_pattern() -> None:
    for group in (None, topic("pattern-group")):
        broker = KafkaBroker(BOOTSTRAP, logger=None)
        read: asyncio.Queue[str] = asyncio.Queue()
        await made(topic(f"pattern-{group}-a"))

        handler = broker.subscriber(
            pattern=topic(f"pattern-{group}-.*"), group_id=group, auto_offset_reset="earliest"
        )
        handler(putting(read))

        async with broker:
            await broker.start()
            await broker.publish("matched", topic(f"pattern-{group}-a"), partition=0)
            print([await asyncio.wait_for(read.get(), 20) for _ in range(2)])


def putting(read: asyncio.Queue[str]) -> Callable[[str], Awaitable[None]]:
    async def take(text: str) -> None:
        await read.put(text)

    return take


async def made(name: str) -> None:
    async with KafkaBroker(BOOTSTRAP, logger=None) as broker:
        await broker.start()
        await broker.publish("first", name, partition=0)


async def partitions() -> None:
    """A subscriber of partitions, which has no group."""
    await made(topic("parts"))
    broker = KafkaBroker(BOOTSTRAP, logger=None)
    read: asyncio.Queue[str] = asyncio.Queue()

    @broker.subscriber(partitions=[TopicPartition(topic("parts"), 0)], auto_offset_reset="earliest")
    async def take(text: str, message: KafkaMessage) -> None:
        await read.put(f"{text} {message.raw_message.partition}")

    async with broker:
        await broker.start()
        await broker.publish("second", topic("parts"), partition=0)
        print(sorted({await asyncio.wait_for(read.get(), 20)}))


async def each_policy() -> None:
    """What is stored for the group, of a good record, a bad one and a good one."""
    for policy in AckPolicy:
        name = topic(policy.value)
        await made(name)
        broker = KafkaBroker(BOOTSTRAP, logger=None)
        calls: list[str] = []
        over = asyncio.Event()

        handler = broker.subscriber(
            name, group_id=name, ack_policy=policy, auto_offset_reset="earliest"
        )
        handler(failing(policy, calls, over))
        async with broker:
            for text in ("bad", "last"):
                await broker.publish(text, name, partition=0)
            await broker.start()
            await asyncio.wait_for(over.wait(), 20)
            await asyncio.sleep(0.3)
            stored = await broker.config.admin_client.list_consumer_group_offsets(name)
        print(policy.value, calls, sorted((p.partition, o.offset) for p, o in stored.items()))


def failing(
    policy: AckPolicy, calls: list[str], over: asyncio.Event
) -> Callable[[str, KafkaMessage], Awaitable[None]]:
    """The first time that it gets "bad", it raises."""

    async def handle(text: str, message: KafkaMessage) -> None:
        calls.append(text)
        if text == "bad" and calls.count("bad") == 1:
            raise ValueError(text)
        if policy is AckPolicy.MANUAL and text != "last":
            await message.ack()
        if text == "last":
            over.set()

    return handle


async def requests() -> None:
    """A request waits for its reply, on a topic of replies that nobody has read before."""
    broker = KafkaBroker(BOOTSTRAP, logger=None)

    @broker.subscriber(topic("asked"), group_id=topic("asked"), auto_offset_reset="earliest")
    async def answer(text: str) -> KafkaResponse:
        return KafkaResponse(f"answer to {text}", key=b"k", headers={"h": "1"})

    replies: asyncio.Queue[str] = asyncio.Queue()

    @broker.subscriber(topic("replies"))
    async def reply(text: str, message: KafkaMessage) -> None:
        await replies.put(f"{text} {message.headers['h']}")

    async with broker:
        await broker.start()
        for number in range(3):
            await broker.publish(
                f"{number}", topic("asked"), reply_to=topic("replies"), correlation_id=f"{number}"
            )
            print(await asyncio.wait_for(replies.get(), 20))


async def a_real_test_broker() -> None:
    broker = KafkaBroker(BOOTSTRAP, logger=None)

    @broker.subscriber(topic("real"), auto_offset_reset="earliest")
    @broker.publisher(topic("real-out"))
    async def handle(text: str) -> str:
        return text.upper()

    async with TestKafkaBroker(broker, with_real=True) as test:
        await test.publish("hello", topic("real"))
        await handle.wait_call(timeout=20)
        handle.mock.assert_called_once_with("hello")
        print("called with hello")
    async with TestKafkaBroker(broker) as test:
        await test.publish("again", topic("real"))
        handle.mock.assert_called_once_with("again")
        print("called with again, in memory")


def a_fastapi_router() -> None:
    router = KafkaRouter(BOOTSTRAP, logger=None)
    read: list[str] = []

    @router.subscriber(topic("api"), group_id=topic("api"), auto_offset_reset="earliest")
    async def take(text: str) -> None:
        read.append(text)

    @router.get("/send/{text}")
    async def send(text: str) -> str:
        await router.broker.publish(text, topic("api"))
        async with asyncio.timeout(20):
            while text not in read:
                await asyncio.sleep(0.02)
        return "sent"

    app = FastAPI()
    app.include_router(router)
    with TestClient(app) as client:
        print(client.get("/send/hello").json(), client.get("/asyncapi").status_code)
    print(read)


async def main() -> None:
    await without_a_group()
    await with_a_group_and_a_batch()
    await by_a_pattern()
    await partitions()
    await each_policy()
    await requests()
    await a_real_test_broker()


if __name__ == "__main__":
    asyncio.run(main())
    a_fastapi_router()
