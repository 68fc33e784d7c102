"""The public face: aiokafka's names, signatures and error texts, ordinary classes."""

import asyncio
import inspect
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.errors import (
    IllegalStateError,
    InvalidTopicError,
    RecordTooLargeError,
)
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill

P0, P1 = tps(0, 1)

WAITING_CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("getone", ()),
    ("getmany", ()),
    ("position", (P0,)),
    ("seek_to_beginning", ()),
    ("seek_to_end", ()),
    ("beginning_offsets", ([P0],)),
    ("end_offsets", ([P0],)),
    ("topics", ()),
    ("list_partitions", ("t",)),
]


# The constructor…


async def test_the_constructor_needs_no_loop_and_no_broker() -> None:
    def build() -> AIOKafkaConsumer[Any, Any]:
        return AIOKafkaConsumer("t", bootstrap_servers="127.0.0.1:1")

    consumer = await asyncio.to_thread(build)
    assert consumer.subscription() == {"t"}
    assert consumer.assignment() == frozenset()
    assert consumer.partitions_for_topic("t") is None
    assert repr(consumer).endswith(" not started>")


def test_every_option_of_the_configuration_is_spelled_out_with_the_same_default() -> None:
    signature = inspect.signature(AIOKafkaConsumer.__init__).parameters
    for field in ConsumerConfig.__dataclass_fields__.values():
        assert signature[field.name].default == field.default, field.name
        assert signature[field.name].kind is inspect.Parameter.KEYWORD_ONLY
    extra = signature.keys() - ConsumerConfig.__dataclass_fields__.keys()
    assert extra == {
        *("self", "topics", "loop", "api_version", "consumer_timeout_ms", "clock", "rng"),
        "client",
    }


@pytest.mark.parametrize("name", ["loop", "api_version"])
def test_options_without_effect_are_called_deprecated(name: str) -> None:
    options: dict[str, Any] = {name: object()}
    with pytest.warns(DeprecationWarning, match=f"{name} has no effect"):
        AIOKafkaConsumer("t", **options)


def test_the_default_of_an_option_without_effect_may_be_passed_on() -> None:
    """As FastStream does for each of its subscribers. A warning would fail this test."""
    AIOKafkaConsumer("t", consumer_timeout_ms=200)


# Arguments…


@pytest.mark.parametrize(("method", "arguments"), WAITING_CALLS)
async def test_d18_use_before_start_is_a_clear_error(
    method: str, arguments: tuple[Any, ...]
) -> None:
    consumer = AIOKafkaConsumer("t")
    with pytest.raises(IllegalStateError, match=r"await its start\(\) first"):
        await getattr(consumer, method)(*arguments)


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
    with pytest.raises(ValueError, match=r"'t\[' is no regular expression"):
        consumer.subscribe(pattern="t[")
    with pytest.raises(TypeError, match="instance of ConsumerRebalanceListener"):
        consumer.subscribe(["t"], listener=object())  # type: ignore[arg-type]
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
        assert (await asyncio.wait_for(consumer.getone(), 30)).offset == 1
        assert [r.offset for r in await asyncio.gather(consumer.getone(), consumer.getone())] == [
            2,
            3,
        ]


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


async def test_partitions_are_listed_as_they_are_now_and_no_topic_is_created_by_asking() -> None:
    async with embedded({"t": 2, "u": 1}) as broker, consumer_of(broker, "t") as consumer:
        broker.create_topic("new", partitions=3)
        listed = await consumer.list_partitions("u", "new", "nope")
        assert listed == {"u": {0}, "new": {0, 1, 2}}
        assert await consumer.topics() == {"t", "u", "new"}
        with pytest.raises(TypeError, match="list of strings"):
            await consumer.list_partitions(1)  # type: ignore[arg-type]  # that is the point
        with pytest.raises(InvalidTopicError, match=r"topic 'a b'"):
            await consumer.list_partitions("a b")


async def test_health_checks_read_whether_stop_was_called_under_aiokafkas_name() -> None:
    async with embedded() as broker:
        consumer = consumer_of(broker)
        assert not consumer._closed
        await consumer.start()
        assert not consumer._closed
        await consumer.stop()
        assert consumer._closed


async def test_an_instance_has_attributes_only_that_a_program_sets() -> None:
    """So a step of an iteration need not look there, and interpreters keep the place of methods."""
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        await consumer.getmany(timeout_ms=0)
        assert vars(consumer).keys() <= {"_decoded"}  # the pure twin has no place for that
        consumer.mine = 1  # type: ignore[attr-defined]
        assert vars(consumer)["mine"] == 1
