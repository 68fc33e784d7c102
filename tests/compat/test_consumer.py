"""The consumer under the name `aiokafka` calls listeners and raises errors as aiokafka's does.

The same program runs on both packages, on the embedded broker.
"""

import asyncio
import itertools
import logging
import weakref
from collections.abc import Callable
from typing import Any

import aiokafka
import pytest

from aiokafka_lite.compat.consumer import AIOKafkaConsumer
from aiokafka_lite.compat.installation import found
from aiokafka_lite.compat.producer import AIOKafkaProducer
from aiokafka_lite.consumer import consumer as lite
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.errors import CommitFailedError, IllegalStateError, RebalanceInProgressError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.topics import create_topic

pytestmark = [
    pytest.mark.asyncio(loop_factories=["asyncio"]),
    pytest.mark.usefixtures("others_may_leak"),
]

FAST: dict[str, Any] = {"heartbeat_interval_ms": 50, "auto_offset_reset": "earliest"}


async def test_its_client_sends_requests_of_aiokafka() -> None:
    request = found("protocol.metadata", "MetadataRequest")(None)
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer,
    ):
        answer = await consumer._client.send(1, request)
        assert [each[0] for each in answer.brokers] == [1]


def listener_of(base: Any, *, fails: bool = False) -> Any:
    class Listener(base):  # type: ignore[misc]
        def __init__(self) -> None:
            self.calls: list[tuple[str, int]] = []

        def on_partitions_revoked(self, revoked: Any) -> None:
            self.calls.append(("revoked", len(revoked)))
            if fails:
                raise LookupError("mine")

        async def on_partitions_assigned(self, assigned: Any) -> None:
            self.calls.append(("assigned", len(assigned)))

    return Listener()


async def a_life_of_rebalances(address: str, kind: Any, base: Any, tp: Any) -> list[Any]:
    """A member alone, with a second one, alone again, and with other topics."""
    listener = listener_of(base)
    member = kind(bootstrap_servers=address, group_id="g", **FAST)
    member.subscribe(["t"], listener=listener)
    await member.start()
    second = kind("t", bootstrap_servers=address, group_id="g", **FAST)
    await second.start()
    async with asyncio.timeout(20):
        while len(member.assignment()) != 1:
            await member.getmany(timeout_ms=10)
        await second.stop()
        while len(member.assignment()) != 2:
            await member.getmany(timeout_ms=10)
        member.subscribe(["t", "u"], listener=listener)
        while len(member.assignment()) != 4:
            await member.getmany(timeout_ms=10)
    await member.stop()
    return changes(listener.calls)


def changes(calls: list[Any]) -> list[Any]:
    """The calls without those of a rebalance that changed nothing: of those there may be more."""
    kept: list[Any] = []
    for call in calls:
        if kept and call[0] == "assigned" and kept[-1] == ("revoked", call[1]) and kept[1:]:
            kept.pop()
        else:
            kept.append(call)
    return kept


async def test_a_listener_is_called_as_often_as_by_aiokafka() -> None:
    async def calls(kind: Any, base: Any) -> list[Any]:
        async with EmbeddedBroker(num_partitions=2) as broker:
            for topic in ("t", "u"):
                await create_topic(broker.bootstrap_servers, topic)
            return await a_life_of_rebalances(broker.bootstrap_servers, kind, base, TopicPartition)

    theirs = await calls(aiokafka.AIOKafkaConsumer, aiokafka.abc.ConsumerRebalanceListener)
    ours = await calls(AIOKafkaConsumer, ConsumerRebalanceListener)
    assert ours == theirs
    assert theirs[-1] == ("assigned", 4)  # stop() is not told
    plain = await calls(lite.AIOKafkaConsumer, ConsumerRebalanceListener)
    assert plain[-1] == ("revoked", 4)


async def test_what_unsubscribe_gives_up_is_told_when_the_member_joins_again() -> None:
    async with EmbeddedBroker(num_partitions=2) as broker:
        await create_topic(broker.bootstrap_servers, "t")
        listener = listener_of(ConsumerRebalanceListener)
        consumer = AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers, group_id="g", **FAST
        )
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            assert listener.calls == [("revoked", 0), ("assigned", 2)]
            consumer.unsubscribe()
            async with asyncio.timeout(10):
                while consumer.group_metadata().generation_id > 0:
                    await asyncio.sleep(0)
            assert len(listener.calls) == 2
            consumer.subscribe(["t"], listener=listener)
            async with asyncio.timeout(10):
                while len(consumer.assignment()) != 2:
                    await consumer.getmany(timeout_ms=10)
        assert listener.calls[2:] == [("revoked", 2), ("assigned", 2)]


async def test_an_error_of_a_listener_is_logged_and_not_raised(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with EmbeddedBroker() as broker:
        listener = listener_of(ConsumerRebalanceListener, fails=True)
        consumer = AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers, group_id="g", **FAST
        )
        consumer.subscribe(["t"], listener=listener)
        with caplog.at_level(logging.ERROR):
            async with consumer:
                assert await consumer.getmany(timeout_ms=10) == {}
        assert "failed on on_partitions_revoked" in caplog.text
        assert "mine" in caplog.text


CHANGES: dict[str, Callable[[Any], Any]] = {
    "topics": lambda consumer: consumer.subscribe(["t"]),
    "pattern": lambda consumer: consumer.subscribe(pattern="t.*"),
    "partitions": lambda consumer: consumer.assign([TopicPartition("t", 0)]),
    "nothing": lambda consumer: consumer.assign([]),
    "unsubscribe": lambda consumer: consumer.unsubscribe(),
}


async def subscriptions(
    kind: Any, topics: tuple[str, ...], changes: tuple[str, ...], *, stopped: bool
) -> list[Any]:
    """What a consumer reads after each change, or the error of the change."""
    consumer = kind(*topics, bootstrap_servers="localhost:9")
    if stopped:
        await consumer.stop()
    found: list[Any] = []
    for change in changes:
        try:
            CHANGES[change](consumer)
        except Exception as error:  # noqa: BLE001  it is compared
            found.append(type(error).__name__)
        else:
            found.append((set(consumer.subscription()), set(consumer.assignment())))
    await consumer.stop()
    return found


@pytest.mark.parametrize("topics", [(), ("t",)])
async def test_each_change_of_a_subscription_leads_where_it_leads_in_aiokafka(
    topics: tuple[str, ...],
) -> None:
    for changes in itertools.product(CHANGES, repeat=3):
        theirs = await subscriptions(aiokafka.AIOKafkaConsumer, topics, changes, stopped=False)
        ours = await subscriptions(AIOKafkaConsumer, topics, changes, stopped=False)
        assert ours == theirs, changes


@pytest.mark.parametrize("topics", [(), ("t",)])
async def test_letting_go_after_stop_is_taken_as_by_aiokafka(topics: tuple[str, ...]) -> None:
    """Other changes raise a ConsumerStoppedError then."""
    for changes in itertools.product(("nothing", "unsubscribe"), repeat=3):
        theirs = await subscriptions(aiokafka.AIOKafkaConsumer, topics, changes, stopped=True)
        ours = await subscriptions(AIOKafkaConsumer, topics, changes, stopped=True)
        assert ours == theirs, changes


async def test_no_record_is_waited_for_after_an_empty_assignment(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer,
    ):
        consumer.assign([])
        assert await consumer.getmany(timeout_ms=5) == {}
        assert "nothing is subscribed or assigned" in caplog.text
        with pytest.raises(IllegalStateError, match="nothing is subscribed or assigned"):
            await consumer.getone()
        assert [each.reason.name for each in consumer.explain()] == ["NOTHING_SUBSCRIBED"]


async def test_the_same_listener_is_no_other_subscription() -> None:
    async with EmbeddedBroker() as broker:
        listener = listener_of(ConsumerRebalanceListener)
        consumer = AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers, group_id="g", **FAST
        )
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            generation = consumer.group_metadata().generation_id
            consumer.subscribe(["t"], listener=listener)
            await consumer.getmany(timeout_ms=200)
            assert consumer.group_metadata().generation_id == generation


class OwnError(Exception):
    pass


def refuse(data: bytes) -> Any:
    raise OwnError(data)


async def test_a_deserializer_s_own_error_is_raised_and_the_record_stays() -> None:
    async with EmbeddedBroker() as broker:
        address = {"bootstrap_servers": broker.bootstrap_servers}
        async with AIOKafkaProducer(**address) as producer:
            await producer.send_and_wait("t", b"1", partition=0)
        async with AIOKafkaConsumer(
            "t", auto_offset_reset="earliest", value_deserializer=refuse, **address
        ) as consumer:
            for _ in range(2):
                with pytest.raises(OwnError):
                    await consumer.getone()
                with pytest.raises(OwnError):
                    await consumer.getmany(timeout_ms=1000)
            with pytest.raises(OwnError):
                await anext(aiter(consumer))
            consumer.seek(TopicPartition("t", 0), 1)
            assert await consumer.getmany(timeout_ms=10) == {}


async def test_one_poll_returns_all_that_was_fetched() -> None:
    async with EmbeddedBroker() as broker:
        address = {"bootstrap_servers": broker.bootstrap_servers}
        async with AIOKafkaProducer(**address) as producer:
            await producer.send_many("t", [b"x"] * 2000, partition=0)
        async with AIOKafkaConsumer("t", auto_offset_reset="earliest", **address) as consumer:
            await consumer.getone()
            [records] = (await consumer.getmany(timeout_ms=5000)).values()
            assert len(records) == 1999


async def test_a_commit_during_a_rebalance_fails_as_in_aiokafka(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def commit(self: Any, offsets: Any = None) -> None:
        raise RebalanceInProgressError("it goes on")

    monkeypatch.setattr(lite.AIOKafkaConsumer, "commit", commit)
    with pytest.raises(CommitFailedError, match="goes on"):
        await AIOKafkaConsumer("t", group_id="g").commit()


async def test_a_tracer_sees_each_commit_where_aiokafka_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    coordinator = found("consumer.group_coordinator", "GroupCoordinator")
    commit_offsets, seen = coordinator.commit_offsets, []

    async def traced(self: Any, assignment: Any, offsets: Any) -> Any:
        result = await commit_offsets(self, assignment, offsets)
        seen.append((self.group_id, {tp: next(iter(each)) for tp, each in offsets.items()}))
        return result

    monkeypatch.setattr(coordinator, "commit_offsets", traced)
    async with EmbeddedBroker() as broker:
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with AIOKafkaProducer(**address) as producer:
            await producer.send_and_wait("t", b"1", partition=0)
        async with AIOKafkaConsumer("t", group_id="g", **FAST, **address) as consumer:
            place = TopicPartition("t", 0)
            await consumer.getone()
            await consumer.commit()
            assert await consumer.committed(place) == 1
            await consumer.commit({place: (0, "")})
            assert await consumer.committed(place) == 0
    assert seen == [("g", {place: 1}), ("g", {place: 0})]


async def test_its_client_is_always_the_same_and_does_not_hold_it() -> None:
    consumer = AIOKafkaConsumer("t")
    client: Any = consumer.client
    client._cluster_id_of_a_tracer = "kept"
    assert consumer._client is client
    assert consumer.client._cluster_id_of_a_tracer == "kept"  # type: ignore[attr-defined]
    reference = weakref.ref(consumer)
    del consumer
    assert reference() is None
    assert client.cluster.brokers()
