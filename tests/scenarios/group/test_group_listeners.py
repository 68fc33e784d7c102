"""Rebalance listeners: who is called when, in which order (2e-6), and what they may do."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.assignor import AbstractPartitionAssignor
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.errors import (
    CommitFailedError,
    IllegalGenerationError,
    IllegalStateError,
    KafkaError,
    UnknownMemberIdError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, eventually, fill, offsets, read
from tests.scenarios.grouping import (
    AsyncListener,
    Listener,
    assigned,
    committed,
    expel,
    member_of,
    nobody_is_left,
    poll,
    stable,
)
from tests.scenarios.transacting import transacting

P0, P1, P2, P3 = tps(0, 1, 2, 3)
EAGER = [RangePartitionAssignor]
COOPERATIVE = [CooperativeStickyAssignor]
Strategy = list[type[AbstractPartitionAssignor]]
Call = Callable[[], Coroutine[Any, Any, Any]]

both_kinds = pytest.mark.parametrize("kind", [Listener, AsyncListener], ids=["plain", "async"])


# The order of calls…


@both_kinds
async def test_2e_6_eager_everything_is_revoked_before_each_join(kind: type[Listener]) -> None:
    """An empty set before the first one, as aiokafka calls it."""
    async with embedded({"t": 2}) as broker:
        listener = kind()
        first = member_of(broker, client_id="a", partition_assignment_strategy=EAGER)
        first.subscribe(["t"], listener=listener)
        async with first:
            assert listener.diary == [("revoked", []), ("assigned", [0, 1])]
            async with member_of(
                broker, "t", client_id="b", partition_assignment_strategy=EAGER
            ) as second:
                await assigned(first, {P0})
                await assigned(second, {P1})
                assert listener.diary[2:] == [("revoked", [0, 1]), ("assigned", [0])]
            await assigned(first, {P0, P1})
            assert listener.diary[4:] == [("revoked", [0]), ("assigned", [0, 1])]
        assert listener.diary[6:] == [("revoked", [0, 1])]


@both_kinds
async def test_2e_6_cooperative_only_what_moves_is_revoked_and_then_the_member_rejoins(
    kind: type[Listener],
) -> None:
    async with embedded({"t": 4}) as broker:
        listener, newcomer = kind(), kind()
        first = member_of(broker, client_id="a", partition_assignment_strategy=COOPERATIVE)
        first.subscribe(["t"], listener=listener)
        async with first:
            assert listener.diary == [("assigned", [0, 1, 2, 3])]
            second = member_of(broker, client_id="b", partition_assignment_strategy=COOPERATIVE)
            second.subscribe(["t"], listener=newcomer)
            async with second:
                await eventually(first, lambda: len(first.assignment()) == 2)
                await eventually(second, lambda: len(second.assignment()) == 2)
                await assigned(first, first.assignment())
                await assigned(second, second.assignment())
                kept = sorted(tp.partition for tp in first.assignment())
                moved = sorted(tp.partition for tp in second.assignment())
                assert sorted(kept + moved) == [0, 1, 2, 3]
                # Revoked, and in the same rebalance nothing new; then the one that gives it away.
                assert listener.diary[1:] == [
                    ("revoked", moved),
                    ("assigned", []),
                    ("assigned", []),
                ]
                assert newcomer.diary == [("assigned", []), ("assigned", moved)]
            assert newcomer.diary[2:] == [("revoked", moved)]
            await assigned(first, {P0, P1, P2, P3})
            assert listener.diary[4:] == [("assigned", moved)]
        assert listener.diary[5:] == [("revoked", [0, 1, 2, 3])]


@pytest.mark.parametrize("strategy", [EAGER, COOPERATIVE], ids=["eager", "cooperative"])
@pytest.mark.parametrize("error", [UnknownMemberIdError, IllegalGenerationError])
async def test_2e_6_a_membership_that_is_gone_loses_its_partitions_instead(
    strategy: Strategy, error: type[KafkaError]
) -> None:
    async with embedded({"t": 2}) as broker:
        listener = Listener()
        consumer = member_of(broker, partition_assignment_strategy=strategy)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            listener.diary.clear()
            member_ids = set(broker.group("g").members)
            if error is UnknownMemberIdError:
                await expel(consumer)
            else:
                broker.faults.fail(HeartbeatRequest, IllegalGenerationError)
            await eventually(consumer, lambda: len(listener.diary) == 2)
            await assigned(consumer, {P0, P1})
            assert listener.diary == [("lost", [0, 1]), ("assigned", [0, 1])]
            has_same_id = bool(member_ids & set(broker.group("g").members))
            assert has_same_id is (error is IllegalGenerationError), "2e-3: which id stays"


async def test_2e_6_on_lost_is_on_revoked_unless_it_is_overridden() -> None:
    class Old(Listener):
        on_partitions_lost = Listener.__base__.on_partitions_lost  # type: ignore[union-attr]

    async with embedded({"t": 1}) as broker:
        listener, consumer = Old(), member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            listener.diary.clear()
            await expel(consumer)
            await eventually(consumer, lambda: len(listener.diary) == 2)
            assert listener.diary == [("revoked", [0]), ("assigned", [0])]


async def test_2e_6_on_lost_comes_on_stop_when_the_membership_is_gone() -> None:
    async with embedded({"t": 1}) as broker:
        listener, consumer = Listener(), member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        await consumer.start()
        broker.faults.stall(JoinGroupRequest, times=None)
        await expel(consumer)
        await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) > 2)
        await asyncio.wait_for(consumer.stop(timeout_ms=1000), 30)
        assert listener.diary[2:] == [("lost", [0])], "once, not again on stop"


@both_kinds
@pytest.mark.parametrize("strategy", [EAGER, COOPERATIVE], ids=["eager", "cooperative"])
async def test_2e_6_unsubscribe_revokes_and_leaves_in_the_background(
    kind: type[Listener], strategy: Strategy
) -> None:
    async with embedded({"t": 2}) as broker:
        listener = kind()
        consumer = member_of(broker, partition_assignment_strategy=strategy)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            listener.diary.clear()
            consumer.unsubscribe()
            assert consumer.assignment() == set()
            await nobody_is_left(broker)
            assert listener.diary == [("revoked", [0, 1])]
            consumer.subscribe(["t"], listener=listener)
            await assigned(consumer, {P0, P1})
            assert listener.diary[-1] == ("assigned", [0, 1])


async def test_2e_6_cooperative_topics_no_longer_subscribed_are_revoked_before_the_join() -> None:
    async with embedded({"t": 1, "u": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker, partition_assignment_strategy=COOPERATIVE)
        consumer.subscribe(["t", "u"], listener=listener)
        async with consumer:
            listener.diary.clear()
            consumer.subscribe(["t"], listener=listener)
            await assigned(consumer, {P0})
            assert listener.diary == [("revoked", [0]), ("assigned", [])]


# What they may do…


async def test_they_may_await_calls_of_the_same_consumer() -> None:
    """Before start() has returned, in the middle, and while stop() runs."""

    class Caller(AsyncListener):
        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            for tp in sorted(assigned):
                self.answers.append(await consumer.committed(tp))
                self.answers.append(await consumer.position(tp))
                await consumer.seek_to_end(tp)
                self.answers.append(await consumer.position(tp))
                self.answers.append((await consumer.end_offsets([tp]))[tp])
            await super().on_partitions_assigned(assigned)

        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            if revoked:
                await consumer.commit()
                self.stored.append(committed(broker))
            await super().on_partitions_revoked(revoked)

        def __init__(self) -> None:
            super().__init__()
            self.answers: list[int | None] = []
            self.stored: list[dict[TopicPartition, int]] = []

    async with embedded({"t": 2}) as broker:
        fill(broker, P0, 3)
        fill(broker, P1, 5)
        listener = Caller()
        consumer = member_of(broker, client_id="a", enable_auto_commit=False)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            assert listener.answers == [None, 0, 3, 3, None, 0, 5, 5]
            fill(broker, P0, 2)
            assert offsets(await poll(consumer)) == {0: [3, 4]}
            async with member_of(broker, "t", client_id="b", enable_auto_commit=False):
                await assigned(consumer, {P0})
                assert listener.stored == [{P0: 5, P1: 5}], "commit() before the revocation"
                assert listener.answers[8:] == [5, 5, 5, 5]
        assert len(listener.stored) >= 2, "on stop, too"
        assert all(what != "lost" for what, _ in listener.diary)


@pytest.mark.parametrize("strategy", [EAGER, COOPERATIVE], ids=["eager", "cooperative"])
async def test_commit_in_every_revocation_has_nothing_to_store_where_nothing_is_revoked(
    strategy: Strategy,
) -> None:
    """An eager member revokes nothing before its first join; that is no error of its listener."""

    class Committer(AsyncListener):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            await consumer.commit()
            await super().on_partitions_revoked(revoked)

    async with embedded({"t": 1}) as broker:
        listener = Committer()
        consumer = member_of(
            broker, enable_auto_commit=False, partition_assignment_strategy=strategy
        )
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            fill(broker, P0, 2)
            assert offsets(await poll(consumer)) == {0: [0, 1]}
        assert listener.diary[-1] == ("revoked", [0])
        assert committed(broker) == {P0: 2}


async def by_tasks(call: Call) -> None:
    await asyncio.gather(call())


async def by_task_group(call: Call) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(call())


async def by_wait_for(call: Call) -> None:
    await asyncio.wait_for(call(), 30)


async def by_itself(call: Call) -> None:
    await call()


each_way = pytest.mark.parametrize("way", [by_itself, by_tasks, by_task_group, by_wait_for])


@each_way
async def test_they_may_call_from_tasks_of_their_own_in_the_first_rebalance_as_later(
    way: Callable[[Call], Coroutine[Any, Any, None]],
) -> None:
    """`gather`, a TaskGroup or `wait_for` in a listener makes no difference."""

    class Caller(AsyncListener):
        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            for tp in sorted(assigned):
                await way(lambda tp=tp: ask(tp))  # type: ignore[misc]
            await super().on_partitions_assigned(assigned)

    async def ask(tp: TopicPartition) -> None:
        answers.append((await consumer.committed(tp), await consumer.position(tp)))

    answers: list[tuple[int | None, int]] = []
    async with embedded({"t": 1}) as broker:
        listener, consumer = Caller(), member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            assert await asyncio.wait_for(consumer.getmany(), 30) == {}, "no error is kept for it"
            assert answers == [(None, 0)]
            consumer.enforce_rebalance()
            await eventually(consumer, lambda: len(listener.diary) == 4)
            assert await asyncio.wait_for(consumer.getmany(), 30) == {}
            assert len(answers) == 2


@each_way
async def test_stop_in_a_task_that_a_listener_waits_for_is_refused_at_once(
    way: Callable[[Call], Coroutine[Any, Any, None]],
) -> None:
    """It would wait for the listener, which waits for it; the consumer goes on."""

    class Stopper(AsyncListener):
        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            await way(consumer.stop)

        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            if revoked:  # stop() itself calls it
                with pytest.raises((IllegalStateError, ExceptionGroup)):
                    await way(consumer.stop)
                self.note("revoked", revoked)

    async with embedded({"t": 1}) as broker, member_of(broker) as consumer:
        listener = Stopper()
        consumer.subscribe(["t"], listener=listener)
        await assigned(consumer, {P0})
        with pytest.raises(KafkaError, match="on_partitions_assigned"):
            await poll(consumer)
        fill(broker, P0, 1)
        assert offsets(await poll(consumer)) == {0: [0]}
        await asyncio.wait_for(consumer.stop(), 30)
        assert listener.diary == [("revoked", [0])]
        assert not broker.group("g").members


async def test_a_task_that_a_listener_has_left_behind_may_stop_the_consumer() -> None:
    """Workers started by `on_partitions_assigned` are tasks like others once it has returned."""

    class Starter(Listener):
        def on_partitions_assigned(self, assigned: set[TopicPartition]) -> object:
            workers.append(asyncio.create_task(work()))
            return None

    async def work() -> None:
        await may_stop.wait()
        await consumer.stop()

    workers: list[asyncio.Task[None]] = []
    may_stop = asyncio.Event()
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker)
        consumer.subscribe(["t"], listener=Starter())
        await consumer.start()
        may_stop.set()
        await asyncio.wait_for(asyncio.gather(*workers), 30)
        assert not broker.group("g").members


async def test_on_assigned_may_seek_and_no_record_comes_before_it_has_returned() -> None:
    class Seeker(AsyncListener):
        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            is_called.set()
            await may_return.wait()
            for tp in assigned:
                consumer.seek(tp, 7)

    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 10)
        is_called, may_return = asyncio.Event(), asyncio.Event()
        consumer = member_of(broker)
        await consumer.start()
        consumer.subscribe(["t"], listener=Seeker())
        await asyncio.wait_for(is_called.wait(), 30)
        polling = asyncio.create_task(consumer.getmany(timeout_ms=60_000))
        assert await asyncio.wait_for(consumer.getmany(timeout_ms=50), 30) == {}
        may_return.set()
        assert offsets(await asyncio.wait_for(polling, 30)) == {0: [7, 8, 9]}
        await consumer.stop()


async def test_on_revoked_holds_back_the_records_of_what_goes() -> None:
    """While `on_partitions_revoked` runs, a partition is held back; its commit works (2c-9)."""

    class Slow(AsyncListener):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            if revoked:
                is_called.set()
                await may_return.wait()
                await consumer.commit({P1: 1})

    async with embedded({"t": 2}) as broker:
        is_called, may_return = asyncio.Event(), asyncio.Event()
        consumer = member_of(broker, client_id="a", max_poll_records=1, enable_auto_commit=False)
        consumer.subscribe(["t"], listener=Slow())
        async with consumer:
            fill(broker, P0, 5)
            fill(broker, P1, 5)
            await poll(consumer)
            other = member_of(broker, "t", client_id="b", enable_auto_commit=False)
            starting = asyncio.create_task(other.start())
            await asyncio.wait_for(is_called.wait(), 30)
            assert await asyncio.wait_for(consumer.getmany(timeout_ms=50), 30) == {}
            may_return.set()
            await asyncio.wait_for(starting, 30)
            await assigned(consumer, {P0})
            assert committed(broker) == {P1: 1}
            record = await asyncio.wait_for(other.getone(), 30)
            assert (record.partition, record.offset) == (1, 1)
            await other.stop()


async def test_a_membership_lost_inside_a_rebalance_is_not_read_on() -> None:
    """Once the group has given the partitions to others, this member returns nothing of them (F2):
    also while its listener is still being told of what the rebalance changed.
    """

    class Expelled(AsyncListener):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            await super().on_partitions_revoked(revoked)
            if revoked and len(self.diary) == 2:
                await expel(consumer)
                await eventually(consumer, lambda: consumer.group_metadata().generation_id < 0)

        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            await super().on_partitions_assigned(assigned)
            if len(self.diary) > 1:
                is_told.set()
                await may_return.wait()

    is_told, may_return = asyncio.Event(), asyncio.Event()
    async with embedded({"t": 4}) as broker:
        listener = Expelled()
        options = {"partition_assignment_strategy": COOPERATIVE, "fetch_max_wait_ms": 10}
        consumer = member_of(broker, client_id="a", **options)
        consumer.subscribe(["t"], listener=listener)
        async with consumer, member_of(broker, "t", client_id="b", **options) as other:
            await asyncio.wait_for(is_told.wait(), 30)
            for tp in (P0, P1, P2, P3):
                fill(broker, tp, 1)
            assert await consumer.getmany(timeout_ms=200) == {}
            await eventually(other, lambda: bool(other.assignment()))
            may_return.set()
            await read(other, 2)
        assert listener.diary[:3] == [
            ("assigned", [0, 1, 2, 3]),
            ("revoked", [2, 3]),
            ("lost", [0, 1]),
        ]


async def test_a_transaction_takes_no_offsets_from_a_member_that_is_none_any_more() -> None:
    """Without a generation and without an id it would: nobody can tell whose offsets those are."""
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", client_id="a", enable_auto_commit=False) as consumer,
        transacting(broker) as producer,
    ):
        fill(broker, P0, 1)
        await poll(consumer)
        consumed = consumer.consumed_offsets()
        await expel(consumer)
        await eventually(consumer, lambda: consumer.group_metadata().generation_id < 0)
        lost = consumer.group_metadata()
        await assigned(consumer, {P0})
        with pytest.raises(CommitFailedError):
            async with producer.transaction():
                await producer.send_offsets_to_transaction(consumed, lost)
        assert committed(broker) == {}


# Faults…


@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
@pytest.mark.parametrize("method", ["on_partitions_revoked", "on_partitions_assigned"])
async def test_what_a_listener_raises_is_logged_and_raised_by_the_next_poll_once(
    method: str, is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """The rebalance goes on all the same."""

    def plain(*_: object) -> None:
        raise ZeroDivisionError("in the listener")

    async def later(*_: object) -> None:
        await asyncio.sleep(0)
        raise ZeroDivisionError("in the listener")

    async with embedded({"t": 2}) as broker, member_of(broker) as consumer:
        listener = Listener()
        setattr(listener, method, later if is_async else plain)
        fill(broker, P0, 2)
        consumer.subscribe(["t"], listener=listener)
        await assigned(consumer, {P0, P1})
        with pytest.raises(KafkaError, match="ZeroDivisionError") as caught:
            await poll(consumer)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
        assert offsets(await poll(consumer)) == {0: [0, 1]}
        assert "the rebalance goes on" in caplog.text
        assert "Traceback" in caplog.text


@pytest.mark.parametrize("method", ["on_partitions_revoked", "on_partitions_assigned"])
async def test_what_a_listener_raises_in_the_first_rebalance_does_not_fail_start(
    method: str,
) -> None:
    """Nor is it lost: the next poll raises it, as in all later rebalances."""
    async with embedded({"t": 1}) as broker:
        listener, consumer = Listener(), member_of(broker)
        setattr(listener, method, lambda _: 1 / 0)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            fill(broker, P0, 2)
            with pytest.raises(KafkaError, match="ZeroDivisionError"):
                await poll(consumer)
            assert offsets(await poll(consumer)) == {0: [0, 1]}
            delattr(listener, method)


async def test_a_listener_that_raises_on_stop_is_logged_and_the_group_is_left(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with embedded({"t": 1}) as broker:
        listener, consumer = Listener(), member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        await consumer.start()
        listener.on_partitions_revoked = lambda revoked: 1 / 0  # type: ignore[method-assign]
        await consumer.stop()
        assert broker.group("g").members == {}
        assert "ZeroDivisionError" in caplog.text


async def test_stop_inside_a_listener_is_refused_at_once() -> None:
    class Stopper(AsyncListener):
        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            await consumer.stop()

    async with embedded({"t": 1}) as broker, member_of(broker) as consumer:
        consumer.subscribe(["t"], listener=Stopper())
        await assigned(consumer, {P0})
        with pytest.raises(KafkaError, match="inside a rebalance listener") as caught:
            await poll(consumer)
        assert isinstance(caught.value.__cause__, IllegalStateError)


async def test_a_listener_that_hangs_does_not_keep_stop_from_ending(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Hanging(AsyncListener):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            if revoked:
                await asyncio.Event().wait()

    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, clock=clock)
        consumer.subscribe(["t"], listener=Hanging())
        await consumer.start()
        before_s = clock.monotonic()
        with caplog.at_level(logging.WARNING):
            await asyncio.wait_for(consumer.stop(timeout_ms=5000), 30)
        assert clock.monotonic() - before_s <= 5.1
        assert "too long" in caplog.text


async def test_a_listener_may_unsubscribe() -> None:
    class Leaver(Listener):
        def on_partitions_assigned(self, assigned: set[TopicPartition]) -> object:
            consumer.unsubscribe()
            return super().on_partitions_assigned(assigned)

    async with embedded({"t": 1}) as broker, member_of(broker) as consumer:
        listener = Leaver()
        consumer.subscribe(["t"], listener=listener)
        await eventually(consumer, lambda: len(listener.diary) == 3)
        assert listener.diary == [("revoked", []), ("assigned", [0]), ("revoked", [0])]
        await nobody_is_left(broker)


async def test_a_listener_needs_a_group_and_its_class() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker) as consumer:
        with pytest.raises(TypeError, match="ConsumerRebalanceListener"):
            consumer.subscribe(["t"], listener=object())  # type: ignore[arg-type]
        await nobody_is_left(broker)
        consumer.subscribe(["t"])
        await stable(broker, 1)
