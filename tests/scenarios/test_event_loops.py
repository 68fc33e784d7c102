"""A client belongs to the event loop it was started in, and says so elsewhere, at once."""

import asyncio
import gc
import logging
import threading
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.errors import IllegalStateError, KafkaError
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import batches
from tests.scenarios.consuming import embedded
from tests.support.patience import PATIENCE_S

P0 = TopicPartition("t", 0)
REMEDY = r"belongs to the event loop .*run_coroutine_threadsafe"
Call = Callable[[], Any]


def producer_calls(producer: AIOKafkaProducer) -> dict[str, Call]:
    return {
        "send_and_wait": lambda: producer.send_and_wait("t", b"v"),
        "send to a new topic": lambda: producer.send("new", b"v"),
        "send_nowait to a new topic": lambda: producer.send_nowait("other", b"v"),
        "send_many": lambda: producer.send_many("t", [b"v"]),
        "flush": producer.flush,
        "partitions_for": lambda: producer.partitions_for("another"),
        "stop": producer.stop,
    }


def consumer_calls(consumer: AIOKafkaConsumer[Any, Any]) -> dict[str, Call]:
    return {
        "getmany": lambda: consumer.getmany(timeout_ms=1000),
        "getone": consumer.getone,
        "commit": consumer.commit,
        "position": lambda: consumer.position(P0),
        "seek": lambda: consumer.seek(P0, 0),
        "subscribe": lambda: consumer.subscribe(["u"]),
        "end_offsets": lambda: consumer.end_offsets([P0]),
        "stop": consumer.stop,
    }


async def outcome(call: Call) -> BaseException | None:
    """Call, and return what it raised; within half the patience, or it counts as hanging."""
    try:
        async with asyncio.timeout(PATIENCE_S / 2):
            answer = call()
            if isinstance(answer, Awaitable):
                await answer
    except BaseException as error:  # noqa: BLE001  the test looks at it
        return error
    return None


async def all_outcomes(calls: dict[str, Call]) -> dict[str, BaseException | None]:
    return {name: await outcome(call) for name, call in calls.items()}


@asynccontextmanager
async def running_clients() -> AsyncIterator[tuple[EmbeddedBroker, Any, Any]]:
    async with embedded({"t": 1}) as broker:
        broker.append(P0, batches(0, 1))
        producer, consumer = clients_of(broker)
        async with producer, consumer:
            yield broker, producer, consumer


def clients_of(broker: EmbeddedBroker) -> tuple[AIOKafkaProducer, AIOKafkaConsumer[Any, Any]]:
    servers = broker.bootstrap_servers
    return AIOKafkaProducer(bootstrap_servers=servers, linger_ms=60_000), AIOKafkaConsumer(
        "t", bootstrap_servers=servers, group_id="g", auto_offset_reset="earliest"
    )


@pytest.mark.parametrize("kind", ["producer", "consumer"])
async def test_a_call_from_another_loop_raises_and_names_the_way_to_do_it(kind: str) -> None:
    """No call from a loop in another thread waits for ever or disturbs the client."""
    async with running_clients() as (_, producer, consumer):
        calls = producer_calls(producer) if kind == "producer" else consumer_calls(consumer)
        found = await asyncio.to_thread(asyncio.run, all_outcomes(calls))
        assert {name: type(error) for name, error in found.items()} == dict.fromkeys(
            calls, IllegalStateError
        )
        for error in found.values():
            assert isinstance(error, IllegalStateError)
            error.args[0].index("run_coroutine_threadsafe")
        async with asyncio.timeout(PATIENCE_S):
            ack = await producer.send("t", b"v")
            await producer.flush()
            assert (await ack).offset == 1
            assert [(await consumer.getone()).offset for _ in range(2)] == [0, 1]


async def test_no_other_loop_gets_a_record_that_was_decoded_ahead() -> None:
    """A record that needs no poll is refused there as well, and stays for the client's own loop."""
    async with running_clients() as (broker, _, consumer), asyncio.timeout(PATIENCE_S):
        broker.append(P0, batches(1, 6))
        assert [(await consumer.getone()).offset for _ in range(2)] == [0, 1]
        calls = {"getone": consumer.getone, "async for": consumer.__anext__}
        found = await asyncio.to_thread(asyncio.run, all_outcomes(calls))
        kept = consumer.__anext__()
        found["an awaitable from here"] = (
            await asyncio.to_thread(asyncio.run, all_outcomes({"it": lambda: kept}))
        )["it"]
        assert {name: type(error) for name, error in found.items()} == dict.fromkeys(
            found, IllegalStateError
        )
        assert [(await consumer.getone()).offset for _ in range(4)] == [2, 3, 4, 5]


async def test_a_plain_call_from_a_thread_without_a_loop_raises_too() -> None:
    """Calls that do not wait are for the client's own loop, as all others."""
    async with running_clients() as (_, producer, consumer):
        for call in (
            lambda: producer.send_nowait("new", b"v"),
            lambda: consumer.subscribe(["u"]),
            lambda: consumer.pause(P0),
        ):
            with pytest.raises(IllegalStateError, match=REMEDY):
                await asyncio.to_thread(call)
        assert consumer.subscription() == {"t"}


async def test_the_way_named_by_the_error_works() -> None:
    """A thread may use a client through asyncio.run_coroutine_threadsafe."""
    async with running_clients() as (_, producer, consumer):
        loop = asyncio.get_running_loop()

        def in_thread() -> tuple[int, int]:
            def run(call: Coroutine[Any, Any, Any]) -> Any:
                return asyncio.run_coroutine_threadsafe(call, loop).result(PATIENCE_S)

            ack = run(producer.send("t", b"v"))
            run(producer.flush())
            return ack.result().offset, run(consumer.getone()).offset

        assert await asyncio.to_thread(in_thread) == (1, 0)


@contextmanager
def broker_of_its_own() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker.threaded() as broker:
        broker.create_topic("t")
        yield broker


@pytest.mark.parametrize("kind", ["producer", "consumer"])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_after_the_end_of_its_loop_a_client_says_so_and_stop_returns(kind: str) -> None:
    """Used in a second asyncio.run(), a client raises, and stop() ends at once without an error."""
    with broker_of_its_own() as broker:
        client = clients_of(broker)[0 if kind == "producer" else 1]
        asyncio.run(client.start())
        calls = (
            producer_calls(client)
            if isinstance(client, AIOKafkaProducer)
            else consumer_calls(client)
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = asyncio.run(all_outcomes(calls))
            gc.collect()
        assert found.pop("stop") is None
        for name, error in found.items():
            assert isinstance(error, IllegalStateError), (name, error)
            assert "has ended" in str(error)
        assert not [text for w in caught if "never awaited" in (text := str(w.message))]


def test_a_record_queued_when_its_loop_ends_has_an_error() -> None:
    """The end of asyncio.run() leaves no ack without an outcome."""
    with broker_of_its_own() as broker:
        producer, _ = clients_of(broker)

        async def queue() -> Any:
            await producer.start()
            return await producer.send("t", b"v")

        ack = asyncio.run(queue())
        assert isinstance(ack.exception(), KafkaError)
        assert "all tasks" in str(ack.exception())
        asyncio.run(producer.stop())


def cancel_all_others() -> list["asyncio.Task[Any]"]:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    return others


@pytest.mark.parametrize("kind", ["producer", "consumer"])
def test_a_shutdown_that_cancels_all_tasks_ends_every_wait(kind: str) -> None:
    """When all tasks are cancelled, a client's too, later calls raise and stop() ends at once."""

    async def main(broker: EmbeddedBroker) -> dict[str, BaseException | None]:
        client = clients_of(broker)[0 if kind == "producer" else 1]
        await client.start()
        calls: dict[str, Call]
        if isinstance(client, AIOKafkaProducer):
            ack = await client.send("t", b"queued")
            calls = {"ack": lambda: ack, **producer_calls(client)}
        else:
            calls = consumer_calls(client)
            del calls["seek"], calls["subscribe"], calls["commit"]  # nothing to wait for
        await asyncio.wait(cancel_all_others())
        return await all_outcomes(calls)

    with broker_of_its_own() as broker:
        found = asyncio.run(main(broker))
    assert found.pop("stop") is None
    for name, error in found.items():
        assert isinstance(error, KafkaError), (name, error)
        assert "cancelled" in str(error), (name, error)


@pytest.mark.parametrize("kind", ["producer", "transactions", "consumer"])
def test_clients_in_cancelled_tasks_end_at_once(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """`async with` in a task that ends with asyncio.run() holds nobody up."""
    caplog.set_level(logging.ERROR, "aiokafka_lite")

    async def use(broker: EmbeddedBroker, used: asyncio.Event) -> None:
        servers = broker.bootstrap_servers
        if kind == "consumer":
            async with clients_of(broker)[1] as consumer:
                used.set()
                await consumer.getone()
            return
        options: dict[str, Any] = {"transactional_id": "x"} if kind == "transactions" else {}
        async with AIOKafkaProducer(
            bootstrap_servers=servers, linger_ms=60_000, **options
        ) as producer:
            if options:
                await producer.begin_transaction()
            await producer.send("t", b"v")
            used.set()
            await asyncio.Event().wait()

    async def main(broker: EmbeddedBroker) -> None:
        used = asyncio.Event()
        task = asyncio.create_task(use(broker, used))
        await used.wait()
        assert not task.done()  # the end of asyncio.run() cancels it

    with broker_of_its_own() as broker:
        thread = threading.Thread(target=asyncio.run, args=[main(broker)], daemon=True)
        thread.start()
        thread.join(PATIENCE_S / 2)
        assert not thread.is_alive()
    undelivered = [text for text in caplog.messages if "1 records for t-0 were not" in text]
    assert caplog.messages == undelivered
    assert len(undelivered) == (kind != "consumer")
