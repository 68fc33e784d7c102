"""Starting, stopping, and everything done too early, too late or twice; nothing stays behind."""

import asyncio
import gc
import inspect
import warnings
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    FeatureNotSupportedError,
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
    RecordTooLargeError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.net.scripted_node import nothing_left_behind
from tests.scenarios.consuming import consumer_of, embedded, eventually, fill, offsets

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


async def test_the_constructor_needs_no_loop_and_no_broker() -> None:
    def build() -> AIOKafkaConsumer[Any, Any]:
        return AIOKafkaConsumer("t", bootstrap_servers="127.0.0.1:1")

    consumer = await asyncio.to_thread(build)
    assert consumer.subscription() == {"t"}
    assert consumer.assignment() == frozenset()
    assert consumer.partitions_for_topic("t") is None
    assert repr(consumer).endswith(" not started>")


@pytest.mark.parametrize(("method", "arguments"), LATE_CALLS)
async def test_d18_use_before_start_is_a_clear_error(
    method: str, arguments: tuple[Any, ...]
) -> None:
    consumer = AIOKafkaConsumer("t")
    with pytest.raises(IllegalStateError, match=r"await its start\(\) first"):
        await getattr(consumer, method)(*arguments)


@pytest.mark.parametrize(("method", "arguments"), LATE_CALLS)
async def test_use_after_stop_is_a_clear_error(method: str, arguments: tuple[Any, ...]) -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t")
        async with consumer:
            pass
        with pytest.raises(ConsumerStoppedError, match="stopped"):
            await getattr(consumer, method)(*arguments)
        for late in (
            lambda: consumer.subscribe(["t"]),
            lambda: consumer.assign([P0]),
            lambda: consumer.seek(P0, 0),
            consumer.unsubscribe,
        ):
            with pytest.raises(ConsumerStoppedError):
                late()
        with pytest.raises(ConsumerStoppedError):
            await consumer.start()


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
        async with asyncio.timeout(5):
            await consumer.stop()
        with pytest.raises(ConsumerStoppedError):
            await one
        assert await many == {}


async def test_start_getone_and_stop_may_each_run_in_a_task_of_its_own() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 1)
        consumer = consumer_of(broker, "t")
        await asyncio.create_task(consumer.start())
        record = await asyncio.create_task(consumer.getone())
        assert record.offset == 0
        await asyncio.create_task(consumer.stop())


async def test_d23_a_start_that_fails_leaves_nothing_and_may_be_repeated() -> None:
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
        clock = FakeClock(autojump_threshold_s=0.05)
        consumer = consumer_of(broker, "nope", clock=clock, default_api_timeout_ms=3000)
        async with nothing_left_behind():
            with pytest.raises(UnknownTopicOrPartitionError, match="'nope'"):
                await consumer.start()
        assert clock.pending_timers == 0


async def test_a_start_cancelled_at_any_moment_leaves_nothing() -> None:
    async with embedded({"t": 1}) as broker:
        for steps in range(40):
            consumer = consumer_of(broker, "t")
            async with nothing_left_behind():
                starting = asyncio.create_task(consumer.start())
                for _ in range(steps):
                    await asyncio.sleep(0)
                starting.cancel()
                await asyncio.gather(starting, return_exceptions=True)
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


async def test_a_cancelled_stop_can_be_finished_by_another() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", fetch_max_wait_ms=20_000)
        await consumer.start()
        await consumer.getmany(timeout_ms=10)
        stopping = asyncio.create_task(consumer.stop())
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
        async with asyncio.timeout(5):
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
        assert [call.pop("message") for call in calls] == ["Unclosed AIOKafkaConsumer"]
        calls.clear()
        asyncio.get_running_loop().set_exception_handler(None)


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


async def test_a_failed_background_task_reaches_the_pending_poll_and_stop_still_ends() -> None:
    """D1: an unexpected error ends no poll in silence."""
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", fetch_max_wait_ms=20_000)
        await consumer.start()
        pending = asyncio.create_task(consumer.getone())
        await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))

        async def fail() -> None:
            raise LookupError("a bug")

        assert consumer._poller is not None
        consumer._poller.client.owner.spawn("a task", fail)
        with pytest.raises(KafkaError, match="a bug") as caught:
            await pending
        assert isinstance(caught.value.__cause__, LookupError)
        for call in (consumer.getone(), consumer.getmany(timeout_ms=10), consumer.position(P0)):
            with pytest.raises(KafkaError, match="a bug"):
                await call
        await consumer.stop()


# Ordinary classes…


async def test_subclasses_see_every_record_of_an_iteration_in_getone() -> None:
    class Counting(AIOKafkaConsumer[bytes, bytes]):
        count = 0

        async def getone(self, *partitions: TopicPartition) -> ConsumerRecord[bytes, bytes]:
            record = await super().getone(*partitions)
            self.count += 1
            return record

    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 5)
        consumer = Counting(
            "t", bootstrap_servers=broker.bootstrap_servers, auto_offset_reset="earliest"
        )
        async with consumer:
            async for record in consumer:
                if record.offset == 4:
                    break
        assert consumer.count == 5


async def test_a_wrapped_getone_is_seen_by_the_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    """What instrumentation packages do."""
    seen = []
    original = AIOKafkaConsumer.getone

    async def wrapped(self: AIOKafkaConsumer[Any, Any], *args: Any) -> Any:
        record = await original(self, *args)
        seen.append(record.offset)
        return record

    monkeypatch.setattr(AIOKafkaConsumer, "getone", wrapped)
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 3)
        async for record in consumer:
            if record.offset == 2:
                break
    assert seen == [0, 1, 2]


def test_methods_are_coroutine_functions_where_aiokafkas_are() -> None:
    waiting = {
        "start stop getone getmany position seek_to_beginning seek_to_end beginning_offsets",
        "end_offsets topics",
    }
    plain = {
        "subscribe unsubscribe subscription assign assignment seek highwater last_stable_offset",
        "last_poll_timestamp pause resume paused partitions_for_topic",
    }
    for names, expected in ((waiting, True), (plain, False)):
        for name in " ".join(names).split():
            method = getattr(AIOKafkaConsumer, name)
            assert inspect.iscoroutinefunction(method) is expected, name


async def test_getone_can_be_a_task_and_be_waited_for_with_a_timeout() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(consumer.getone(), 0.01)
        fill(broker, P0, 4)
        assert (await asyncio.create_task(consumer.getone())).offset == 0
        assert (await asyncio.wait_for(consumer.getone(), 5)).offset == 1
        assert [r.offset for r in await asyncio.gather(consumer.getone(), consumer.getone())] == [
            2,
            3,
        ]


# Arguments…


async def test_wrong_arguments_are_refused() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        for bad in (0, -1, "5"):
            with pytest.raises(ValueError, match="`max_records` must be a positive Integer"):
                await consumer.getmany(max_records=bad)  # type: ignore[arg-type]  # that is the point
        with pytest.raises(ValueError, match="timeout_ms=-1 is negative"):
            await consumer.getmany(timeout_ms=-1)
        for call in (consumer.getone("t"), consumer.getmany("t")):  # type: ignore[arg-type]  # that is the point
            with pytest.raises(TypeError, match="TopicPartition"):
                await call
        for method in (consumer.pause, consumer.resume):
            with pytest.raises(TypeError, match="partitions must be TopicPartition namedtuples"):
                method("t")  # type: ignore[arg-type]  # that is the point
            with pytest.raises(IllegalStateError, match="is not assigned"):
                method(P1)


def test_b1_wrong_subscriptions_are_refused() -> None:
    consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer()
    with pytest.raises(TypeError, match="You should provide either `topics` or `pattern`"):
        consumer.subscribe()
    with pytest.raises(TypeError, match="You can't provide both `topics` and `pattern`"):
        consumer.subscribe(["t"], pattern="t.*")
    for bad in ("t", [1], [["t"]]):
        with pytest.raises(TypeError, match="Topics should be list of strings"):
            consumer.subscribe(bad)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(TypeError, match="Topics should be list of strings"):
        AIOKafkaConsumer(["t"])  # type: ignore[arg-type]  # that is the point
    with pytest.raises(FeatureNotSupportedError, match=r"pattern='t\.\*'"):
        consumer.subscribe(pattern="t.*")
    with pytest.raises(FeatureNotSupportedError, match="listener"):
        consumer.subscribe(["t"], listener=object())
    with pytest.raises(TypeError, match="TopicPartition"):
        consumer.assign([("t", 0)])  # type: ignore[list-item]  # that is the point
    consumer.subscribe(["t"])
    for partitions in ([P0], []):
        with pytest.raises(IllegalStateError, match="mutually exclusive"):
            consumer.assign(partitions)
    consumer.unsubscribe()
    consumer.assign([P0])
    with pytest.raises(IllegalStateError, match="mutually exclusive"):
        consumer.subscribe(["t"])
    consumer.assign([])
    consumer.subscribe(["t"])


@pytest.mark.parametrize("name", ["loop", "api_version", "consumer_timeout_ms"])
def test_options_without_effect_are_called_deprecated(name: str) -> None:
    options: dict[str, Any] = {name: object()}
    with pytest.warns(DeprecationWarning, match=f"{name} has no effect"):
        AIOKafkaConsumer("t", **options)


def test_groups_are_refused_with_the_way_to_go_without() -> None:
    with pytest.raises(FeatureNotSupportedError, match=r"group_id='g'.*assign\(\)"):
        AIOKafkaConsumer("t", group_id="g")


async def test_d24_a_record_too_large_is_logged_by_the_iteration_and_does_not_end_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Once(AIOKafkaConsumer[bytes, bytes]):
        failed = False

        async def getone(self, *partitions: TopicPartition) -> ConsumerRecord[bytes, bytes]:
            if not self.failed:
                self.failed = True
                raise RecordTooLargeError("t-0 at offset 5")
            return await super().getone(*partitions)

    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 1)
        options = {"bootstrap_servers": broker.bootstrap_servers, "auto_offset_reset": "earliest"}
        async with Once("t", **options) as consumer:  # type: ignore[arg-type]  # a test's own options
            record = await anext(aiter(consumer))
    assert record.offset == 0
    assert "t-0 at offset 5" in caplog.text


async def test_topics_and_partitions_are_those_of_the_cluster() -> None:
    async with embedded({"t": 2, "u": 1}) as broker, consumer_of(broker, "t") as consumer:
        assert await consumer.topics() == {"t", "u"}
        assert consumer.partitions_for_topic("t") == {0, 1}
        assert consumer.partitions_for_topic("nope") is None


async def test_stop_may_be_called_while_the_second_fetch_is_on_its_way() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 2)
        consumer = consumer_of(broker, "t", fetch_max_wait_ms=20_000)
        await consumer.start()
        assert offsets(await consumer.getmany(timeout_ms=5000)) == {0: [0, 1]}
        assert consumer.statistics().fetching_nodes == {1}
        async with asyncio.timeout(5):
            await consumer.stop()


async def test_statistics_before_start_know_the_queue_only() -> None:
    consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer()
    consumer.assign([P1, P0])
    statistics = consumer.statistics()
    assert statistics.queue == (P1, P0)
    assert (statistics.free, statistics.buffered, statistics.unread_bytes) == ((), (), 0)


async def test_statistics_show_what_is_buffered() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 4)
        await consumer.getone()
        (fetch,) = consumer.statistics().buffered
        assert (fetch.topic_partition, fetch.next_offset) == (P0, 1)
        assert consumer.statistics().unread_bytes == fetch.size_in_bytes > 0
        await eventually(consumer, lambda: True)
