"""Starting, stopping, and everything done too early, too late or twice; nothing stays behind."""

import asyncio
import gc
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill, offsets
from tests.support.leftovers import nothing_left_behind

P0, P1 = tps(0, 1)

LATE_CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("getone", ()),
    ("getmany", ()),
    ("position", (P0,)),
    ("seek_to_beginning", ()),
    ("seek_to_end", ()),
    ("beginning_offsets", ([P0],)),
    ("end_offsets", ([P0],)),
    ("topics", ()),
]


@pytest.mark.parametrize(("method", "arguments"), LATE_CALLS)
async def test_use_after_stop_is_a_clear_error(method: str, arguments: tuple[Any, ...]) -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t")
        async with consumer:
            pass
        with pytest.raises(ConsumerStoppedError, match="stopped> takes no more calls; make a new"):
            await getattr(consumer, method)(*arguments)
        for late in (
            lambda: consumer.subscribe(["t"]),
            lambda: consumer.assign([P0]),
            lambda: consumer.seek(P0, 0),
        ):
            with pytest.raises(ConsumerStoppedError):
                late()
        with pytest.raises(ConsumerStoppedError):
            await consumer.start()


@pytest.mark.parametrize("group_id", [None, "g"])
async def test_letting_go_after_stop_is_no_mistake(group_id: str | None) -> None:
    """Frameworks stop their consumers first, and unsubscribe them then."""
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", group_id=group_id)
        async with consumer:
            await consumer.position(P0)
        consumer.pause(P0)
        consumer.resume(P0)
        for _ in range(2):
            await consumer.stop()
            consumer.unsubscribe()
            consumer.assign([])
            assert consumer.assignment() == consumer.subscription() == frozenset()
        assert not broker.group("g").members if group_id else True


async def test_assigning_nothing_after_stop_does_not_end_a_subscription() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t")
        await consumer.stop()
        with pytest.raises(IllegalStateError, match=r"call unsubscribe\(\) first"):
            consumer.assign([])
        assert consumer.subscription() == {"t"}


async def test_letting_go_while_it_stops_leaves_the_last_commit_alone() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 3)
        async with consumer_of(broker, "t", group_id="g", auto_offset_reset="earliest") as consumer:
            assert offsets(await consumer.getmany(timeout_ms=10_000)) == {0: [0, 1, 2]}
            stop = asyncio.create_task(consumer.stop())
            await asyncio.sleep(0)
            consumer.unsubscribe()
            await stop
        assert broker.group("g").offsets[P0].offset == 3


async def test_after_stop_not_even_a_record_decoded_ahead_is_returned() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 5)
        async with consumer_of(broker, "t") as consumer:
            assert (await consumer.getone()).offset == 0
        with pytest.raises(ConsumerStoppedError):
            await consumer.getone()


async def test_starting_twice_is_an_error() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        with pytest.raises(IllegalStateError, match=r"did you call start\(\) twice"):
            await consumer.start()


async def test_stop_is_idempotent_and_may_be_called_before_start_and_twice_at_once() -> None:
    async with embedded({"t": 1}) as broker:
        never_started = consumer_of(broker, "t")
        await never_started.stop()
        await never_started.stop()
        consumer = consumer_of(broker, "t")
        await consumer.start()
        await asyncio.gather(consumer.stop(), consumer.stop())
        await consumer.stop()


async def test_stop_wakes_a_pending_getone_and_a_pending_getmany_in_the_long_poll() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", fetch_max_wait_ms=20_000)
        await consumer.start()
        one = asyncio.create_task(consumer.getone())
        many = asyncio.create_task(consumer.getmany(timeout_ms=60_000))
        await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))
        async with asyncio.timeout(15):
            await consumer.stop()
        with pytest.raises(ConsumerStoppedError):
            await one
        assert await many == {}


PENDING_CALLS: dict[str, tuple[type, Callable[[AIOKafkaConsumer[Any, Any]], Any]]] = {
    "end_offsets": (ListOffsetsRequest, lambda consumer: consumer.end_offsets([P0])),
    "beginning_offsets": (ListOffsetsRequest, lambda consumer: consumer.beginning_offsets([P0])),
    "offsets_for_times": (ListOffsetsRequest, lambda consumer: consumer.offsets_for_times({P0: 0})),
    "seek_to_end": (ListOffsetsRequest, lambda consumer: consumer.seek_to_end(P0)),
    "topics": (MetadataRequest, lambda consumer: consumer.topics()),
    "list_partitions": (MetadataRequest, lambda consumer: consumer.list_partitions("t")),
    "commit": (OffsetCommitRequest, lambda consumer: consumer.commit({P0: 1})),
    "committed": (OffsetFetchRequest, lambda consumer: consumer.committed(P0)),
    "seek_to_committed": (OffsetFetchRequest, lambda consumer: consumer.seek_to_committed(P0)),
}


@pytest.mark.parametrize("name", PENDING_CALLS)
@pytest.mark.parametrize("fault", ["stall", "cut"])
async def test_calls_that_wait_end_with_the_consumer_stopped_meanwhile(
    name: str, fault: str
) -> None:
    """Whether their answer is on its way or they are between two attempts; no time passes."""
    request_type, call = PENDING_CALLS[name]
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", group_id="g", enable_auto_commit=False, clock=clock)
        await consumer.start()
        asked = len(broker.requests_of(request_type))
        getattr(broker.faults, fault)(request_type, times=None)
        waiting = asyncio.create_task(call(consumer))
        await broker.wait_until(lambda: len(broker.requests_of(request_type)) > asked)
        await asyncio.wait_for(consumer.stop(), 30)
        with pytest.raises(ConsumerStoppedError, match="was stopped"):
            await asyncio.wait_for(waiting, 30)
        assert clock.monotonic() < 1
        broker.faults.clear()


async def test_start_getone_and_stop_may_each_run_in_a_task_of_its_own() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 1)
        consumer = consumer_of(broker, "t")
        await asyncio.create_task(consumer.start())
        record = await asyncio.create_task(consumer.getone())
        assert record.offset == 0
        await asyncio.create_task(consumer.stop())


async def test_h6_a_start_that_fails_leaves_nothing_and_may_be_repeated() -> None:
    async with embedded({"t": 1}) as broker:
        broker.stop_node(1)
        consumer = consumer_of(broker, "t", request_timeout_ms=200, fetch_max_wait_ms=10)
        async with nothing_left_behind():
            with pytest.raises(KafkaConnectionError, match=broker.bootstrap_servers):
                await consumer.start()
        broker.start_node(1)
        fill(broker, P0, 1)
        async with consumer:
            assert (await consumer.getone()).offset == 0


async def test_a_topic_that_does_not_exist_ends_start_with_its_name() -> None:
    async with embedded(auto_create_topics=False) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        consumer = consumer_of(broker, "nope", clock=clock, default_api_timeout_ms=3000)
        async with nothing_left_behind():
            with pytest.raises(UnknownTopicOrPartitionError, match="'nope'"):
                await consumer.start()
        assert clock.pending_timers == 0


async def test_a_start_cancelled_at_any_moment_leaves_nothing() -> None:
    async with embedded({"t": 1}) as broker:
        for steps in range(40):
            consumer = consumer_of(broker, "t")
            tasks = asyncio.all_tasks()
            starting = asyncio.create_task(consumer.start())
            for _ in range(steps):
                await asyncio.sleep(0)
            starting.cancel()
            await asyncio.wait([starting])
            left = {task for task in asyncio.all_tasks() - tasks if "consumer" in task.get_name()}
            assert not left or not starting.cancelled()
            await consumer.stop()


async def test_stop_while_it_starts_ends_the_start() -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.stall(MetadataRequest)
        consumer = consumer_of(broker, "t")
        starting = asyncio.create_task(consumer.start())
        await broker.wait_until(lambda: bool(broker.requests_of(MetadataRequest)))
        await consumer.stop()
        with pytest.raises(ConsumerStoppedError):
            await starting


@pytest.mark.parametrize("is_fetching", [True, False])
async def test_a_stop_cancelled_at_any_moment_can_be_finished_by_another(is_fetching: bool) -> None:
    """Nothing stays behind, wherever it is struck: with a session to close, or only sockets."""
    for steps in range(1, 12):
        async with embedded({"t": 1}) as broker:
            consumer = consumer_of(broker, "t", fetch_max_wait_ms=20_000)
            await consumer.start()
            if is_fetching:
                await consumer.seek_to_beginning()
                await consumer.getmany()
                await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))
            stopping = asyncio.create_task(consumer.stop())
            for _ in range(steps):
                await asyncio.sleep(0)
            stopping.cancel()
            await asyncio.gather(stopping, return_exceptions=True)
            with pytest.raises(ConsumerStoppedError):
                await consumer.getmany()
            await consumer.stop()


async def test_stop_ends_in_time_with_every_broker_dead() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 3)
        consumer = consumer_of(broker, "t")
        await consumer.start()
        await consumer.getone()
        broker.stop_node(1)
        async with asyncio.timeout(30):
            await consumer.stop()


async def test_an_exception_in_the_block_still_stops_the_consumer() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t")
        with pytest.raises(ZeroDivisionError):
            async with consumer:
                raise ZeroDivisionError
        assert repr(consumer).endswith(" stopped>")


async def test_an_unclosed_consumer_warns_when_it_is_dropped() -> None:
    """Background tasks do not keep it alive; dropping it ends them as well."""
    async with embedded({"t": 1}) as broker:
        calls: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda _loop, context: calls.append(context)
        )
        consumer = consumer_of(broker, "t")
        await consumer.start()
        await consumer.getmany(timeout_ms=10)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del consumer
            gc.collect()
        (warning,) = caught
        assert warning.category is ResourceWarning
        assert "Unclosed AIOKafkaConsumer <AIOKafkaConsumer" in str(warning.message)
        assert "`async with consumer:`" in str(warning.message)
        assert [call.pop("message") for call in calls] == ["Unclosed AIOKafkaConsumer"]
        assert "`async with consumer:`" in calls[0]["remedy"]
        calls.clear()
        asyncio.get_running_loop().set_exception_handler(None)
        async with asyncio.timeout(30):
            while any(task.get_name().startswith("consumer") for task in asyncio.all_tasks()):
                await asyncio.sleep(0)


async def test_a_stopped_or_never_started_consumer_does_not_warn() -> None:
    async with embedded({"t": 1}) as broker:
        stopped = consumer_of(broker, "t")
        async with stopped:
            pass
        never_started = consumer_of(broker, "t")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            del stopped, never_started
            gc.collect()


async def test_a_failed_background_task_is_not_hidden_by_records_decoded_ahead() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 100)
        await consumer.getone()

        async def fail() -> None:
            raise LookupError("a bug")

        assert consumer._engine is not None
        await consumer._engine.client.owner.spawn("a task", fail).wait()
        with pytest.raises(KafkaError, match="a bug"):
            await consumer.getone()


async def test_a_failed_background_task_reaches_the_pending_poll_and_stop_still_ends() -> None:
    """An unexpected error of a background task ends the poll that waits (H1)."""
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", fetch_max_wait_ms=20_000)
        await consumer.start()
        pending = asyncio.create_task(consumer.getone())
        await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))

        async def fail() -> None:
            raise LookupError("a bug")

        assert consumer._engine is not None
        consumer._engine.client.owner.spawn("a task", fail)
        with pytest.raises(KafkaError, match="a bug") as caught:
            await pending
        assert isinstance(caught.value.__cause__, LookupError)
        for call in (consumer.getone(), consumer.getmany(timeout_ms=10), consumer.position(P0)):
            with pytest.raises(KafkaError, match="a bug"):
                await call
        await consumer.stop()


async def test_stop_may_be_called_while_the_second_fetch_is_on_its_way() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 2)
        consumer = consumer_of(broker, "t", fetch_max_wait_ms=20_000)
        await consumer.start()
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1]}
        assert consumer.statistics().fetching_nodes == {1}
        async with asyncio.timeout(15):
            await consumer.stop()
