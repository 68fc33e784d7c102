"""The order of a poll, and what it does when it has nothing to return."""

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from aiokafka_lite.consumer import poll_steps
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.record_poller import RecordPoller
from aiokafka_lite.errors import CorruptRecordException, UnknownError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.consumer.batches import batches, tps, with_bad_crc
from tests.scenarios.consuming import consumer_of, embedded, eventually, fill, offsets
from tests.support.interpreter_steps import counted

P0, P1 = tps(0, 1)


async def test_b8_positions_are_looked_for_before_anything_is_fetched() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 1)
        await consumer.getmany(timeout_ms=30_000)
        kinds = [type(received.request) for received in broker.requests]
        assert kinds.index(ListOffsetsRequest) < kinds.index(FetchRequest)


async def test_partitions_with_a_position_are_read_while_others_look_for_theirs() -> None:
    async with embedded({"t": 2}, nodes=2) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        broker.faults.stall(ListOffsetsRequest, node_id=broker.leader(P1))
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1]}
        broker.faults.release()


async def test_a9_an_error_that_stands_aside_waits_for_the_fetches_on_their_way_only() -> None:
    """Neither does it hide what the others are about to bring, nor is it silent for ever."""
    async with embedded({"t": 2}) as broker:
        broker.append(P0, with_bad_crc(batches(0, 2)))
        async with consumer_of(broker, "t") as consumer:
            with pytest.raises(CorruptRecordException):
                await consumer.getone()
            broker.faults.stall(FetchRequest)
            poll = asyncio.create_task(consumer.getone())
            await eventually(consumer, lambda: consumer.statistics().fetching_nodes == {1})
            fill(broker, P1, 1)
            broker.faults.release()
            assert (await poll).partition == 1
            with pytest.raises(CorruptRecordException):
                await consumer.getone()


async def test_a9_an_error_that_stands_aside_is_raised_when_the_time_of_a_poll_is_over() -> None:
    async with embedded({"t": 2}) as broker:
        broker.append(P0, with_bad_crc(batches(0, 2)))
        async with consumer_of(broker, "t") as consumer:
            with pytest.raises(CorruptRecordException):
                await consumer.getone()
            broker.faults.stall(FetchRequest)
            await eventually(consumer, lambda: consumer.statistics().fetching_nodes == {1})
            for timeout_ms in (0, 10):
                with pytest.raises(CorruptRecordException):
                    await consumer.getmany(timeout_ms=timeout_ms)
            broker.faults.release()


@contextmanager
def polling(poller: RecordPoller, partitions: tuple[TopicPartition, ...]) -> Iterator[None]:
    """Pretend that a poll of the partitions runs."""
    poller._begin_poll(partitions)
    yield
    poller._end_poll(partitions)


async def test_a11_nothing_is_dropped_that_another_poll_is_about_to_take() -> None:
    options = {"fetch_buffer_bytes": 1, "fetch_max_bytes": 1}
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t", **options) as consumer:
        fill(broker, P0, 3)
        await consumer.getmany(timeout_ms=30_000, max_records=1)
        engine = consumer._engine
        assert engine is not None
        poller = engine.poller
        for others in ((P0,), ()):
            with polling(poller, others), polling(poller, (P1,)):
                poller._fetch_what_is_wanted(None)
            assert engine.buffer.is_buffered(P0)
        with polling(poller, (P1,)):
            poller._fetch_what_is_wanted(None)
        assert not engine.buffer.is_buffered(P0)


async def test_a11_the_end_of_a_poll_lets_the_others_look_for_room_again() -> None:
    options = {"fetch_buffer_bytes": 1, "fetch_max_bytes": 1}
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t", **options) as consumer:
        fill(broker, P0, 3)
        await consumer.getmany(timeout_ms=30_000, max_records=1)
        engine = consumer._engine
        assert engine is not None
        poller = engine.poller
        waiting = asyncio.create_task(consumer._signal.wait())
        with polling(poller, (P1,)):
            with polling(poller, (P0,)):
                await settle()
                assert not waiting.done()
            await asyncio.wait_for(waiting, 30)


async def test_the_time_of_a_poll_follows_the_consumers_clock() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock()
        async with consumer_of(broker, "t", clock=clock, fetch_max_wait_ms=20_000) as consumer:
            poll = asyncio.create_task(consumer.getmany(timeout_ms=7000))
            await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))
            await clock.advance(6.9)
            assert not poll.done()
            await clock.advance(0.2)
            assert await poll == {}
            assert clock.monotonic() == pytest.approx(7.1)


def count_turns(consumer: AIOKafkaConsumer[Any, Any]) -> list[None]:
    """Return a list that grows by one with each turn of a poll."""
    assert consumer._engine is not None
    turns: list[None] = []
    poller = consumer._engine.poller
    look_for_records = poller._look_for_records

    def counted(poll: poll_steps.RunningPoll) -> Any:
        turns.append(None)
        return look_for_records(poll)

    poller._look_for_records = counted  # type: ignore[method-assign]  # to count
    return turns


async def steps_of_polls(partitions: int) -> int:
    """The steps of polls that wait, return a record each of two partitions, and go on fetching."""
    async with (
        embedded({"t": partitions}) as broker,
        consumer_of(broker, "t") as consumer,
    ):

        async def read(rounds: int) -> None:
            for _ in range(rounds):
                poll = asyncio.create_task(consumer.getmany(timeout_ms=30_000))
                await asyncio.sleep(0)
                fill(broker, P0, 1)
                fill(broker, P1, 1)
                assert await poll

        await read(5)
        with counted() as count:
            await read(10)
            consumer.seek(P0, 0)
            consumer.pause(P1)
            assert await consumer.getmany(timeout_ms=30_000)
            consumer.resume(P1)
            await consumer.getmany(timeout_ms=200)
        return count.steps


async def test_what_a_poll_costs_does_not_grow_with_what_is_assigned() -> None:
    few, many = await steps_of_polls(10), await steps_of_polls(500)
    assert many < 2 * few, (few, many)


async def test_polls_that_use_up_fetch_after_fetch_do_not_look_at_all_that_is_buffered() -> None:
    """Nor at what is assigned, while no fetch could go out."""

    async def steps(partitions: int) -> int:
        async with (
            embedded({"t": partitions}) as broker,
            consumer_of(broker, "t", max_poll_records=2) as consumer,
        ):
            for tp in tps(*range(partitions)):
                fill(broker, tp, 2)
            await consumer.getmany(timeout_ms=30_000, max_records=1)
            assert len(consumer.statistics().buffered) == partitions
            broker.faults.stall(FetchRequest)
            await consumer.getmany(max_records=1)
            assert consumer.statistics().fetching_nodes
            with counted() as count:
                assert [len(await consumer.getmany()) for _ in range(10)] == [1] * 10
            broker.faults.release()
            return count.steps

    few, many = await steps(20), await steps(500)
    assert many < 2 * few, (few, many)


async def test_a_waiting_poll_does_not_spin() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        await consumer.seek_to_beginning()
        turns = count_turns(consumer)
        assert await consumer.getmany(timeout_ms=500) == {}
        assert len(turns) <= 12, "one turn per answered fetch (100 ms each), and the last one"


@pytest.mark.parametrize(
    "reason", ["all paused", "all in backoff", "no leader", "node gone", "nothing assigned"]
)
async def test_a_poll_that_can_fetch_nothing_does_not_spin_and_keeps_its_time(reason: str) -> None:
    async with embedded({"t": 2}, nodes=2) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 5)
        await consumer.getmany(timeout_ms=30_000, max_records=1)
        if reason == "all paused":
            consumer.pause(P0, P1)
        elif reason == "all in backoff":
            broker.faults.fail(FetchRequest, UnknownError, times=None)
            consumer.seek(P0, 5)
        elif reason == "no leader":
            consumer.unsubscribe()
            consumer.assign([TopicPartition("t", 9)])
            consumer.seek(TopicPartition("t", 9), 0)
        elif reason == "node gone":
            consumer.pause(P1)
            consumer.seek(P0, 5)
            broker.stop_node(broker.leader(P0))
        else:
            consumer.unsubscribe()
        turns = count_turns(consumer)
        loop = asyncio.get_running_loop()
        before = loop.time()
        assert await consumer.getmany(timeout_ms=500) == {}
        assert loop.time() - before >= 0.49
        assert len(turns) <= 30


async def test_a_poll_that_will_wait_gives_up_no_turn_before_but_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A turn of the loop costs as much as a poll, and other tasks run while it waits."""
    monkeypatch.setattr(poll_steps, "_TURN_S", 60.0)
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 1)
        await consumer.getone()
        broker.faults.stall(FetchRequest)

        def begins_with_a_turn(poll: Coroutine[Any, Any, Any]) -> bool:
            given = poll.send(None)
            poll.close()
            return not asyncio.isfuture(given)

        # None of these polls comes to its end, so no other task runs between them.
        assert not begins_with_a_turn(consumer.getone())
        assert not begins_with_a_turn(consumer.getmany(timeout_ms=1_000))
        assert begins_with_a_turn(consumer.getmany(timeout_ms=0))
        assert [begins_with_a_turn(consumer.getone()) for _ in range(9)] == [False] * 8 + [True]
        broker.faults.release()


async def test_several_tasks_that_wait_for_one_record_each_get_one_each() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t") as consumer:
        await consumer.seek_to_beginning()
        waiting = [asyncio.create_task(consumer.getone()) for _ in range(4)]
        await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))
        fill(broker, P0, 2)
        fill(broker, P1, 2)
        records = await asyncio.wait_for(asyncio.gather(*waiting), 30)
        seen = sorted((record.partition, record.offset) for record in records)
        assert seen == [(0, 0), (0, 1), (1, 0), (1, 1)]


async def test_what_a_fetch_brings_of_a_partition_paused_meanwhile_is_kept_for_later() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        await consumer.seek_to_beginning()
        fill(broker, P0, 2)
        broker.faults.stall(FetchRequest)
        assert await consumer.getmany(timeout_ms=10) == {}
        consumer.pause(P0)
        broker.faults.release()
        assert await consumer.getmany(timeout_ms=50) == {}
        await eventually(consumer, lambda: bool(consumer.statistics().buffered))
        assert await consumer.getmany(timeout_ms=10) == {}
        consumer.resume(P0)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1]}
        fetched = [r for r in broker.requests_of(FetchRequest) if r.topics]
        assert [r.topics[0].partitions[0].fetch_offset for r in fetched].count(0) == 1


async def test_resuming_wakes_the_poll_that_waits() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 3)
        await consumer.getone()
        consumer.pause(P0)
        pending = asyncio.create_task(consumer.getone())
        await settle()
        assert not pending.done()
        consumer.resume(P0)
        assert (await asyncio.wait_for(pending, 30)).offset == 1


@pytest.mark.parametrize("kind", ["getmany", "getone"])
@pytest.mark.parametrize("request_type", [FetchRequest, ListOffsetsRequest])
async def test_h5_a_waiting_poll_goes_on_by_itself_when_a_backoff_is_over(
    kind: str,
    request_type: type[FetchRequest] | type[ListOffsetsRequest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Metadata, which would wake it, is not asked for."""
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 1)
        assert consumer._engine is not None
        monkeypatch.setattr(consumer._engine.client.metadata, "request_update", lambda: None)
        broker.faults.fail(request_type, UnknownError, times=2)
        pending = consumer.getone() if kind == "getone" else consumer.getmany(timeout_ms=60_000)
        await asyncio.wait_for(pending, 30)
        assert await consumer.position(P0) == 1
