"""Records handed out one by one, by each twin."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from aiokafka_lite.consumer.fetch import _decoded_records_py
from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch
from aiokafka_lite.consumer.position.partition_state import PartitionState
from aiokafka_lite.consumer.revision import Revision
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from tests.support.twins import native_twin

TP = TopicPartition("t", 0)


@pytest.fixture(params=["pure", "native"])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    if request.param == "pure":
        return _decoded_records_py
    return native_twin("aiokafka_lite.consumer.fetch._decoded_records")


class Bench:
    """Records of offsets 0, 10, 20, … decoded ahead, and an iteration over them."""

    def __init__(self, twin: ModuleType, count: int) -> None:
        self.revision = Revision()
        self.fetch = CompletedFetch(TP, 0, node_id=1)
        self.state = PartitionState(TP)
        self.decoded = twin.DecodedRecords(self.revision)
        self.records = [
            ConsumerRecord("t", 0, number * 10, 0, 0, b"", b"", None, 0, 0, ())
            for number in range(count)
        ]
        self.decoded_list = self.records[::-1]
        self.decoded.follow(self.decoded_list, self.fetch, self.state)
        self.polls = 0
        bench = self

        class Iteration(twin.RecordIteration):  # type: ignore[name-defined, misc]
            async def getone(self) -> Any:
                await asyncio.sleep(0)
                bench.polls += 1
                return "by getone"

            _own_getone = getone

            async def _next_by_getone(self) -> Any:
                return await self.getone()

        self.iteration = Iteration()
        self.iteration._decoded = self.decoded

    @property
    def positions(self) -> tuple[int, int]:
        return self.state.offset, self.fetch.next_offset


@pytest.fixture
def bench(twin: ModuleType) -> Callable[[int], Bench]:
    return lambda count: Bench(twin, count)


def test_a6_positions_move_with_each_record(bench: Callable[[int], Bench]) -> None:
    at = bench(3)
    assert len(at.decoded) == 3
    assert at.decoded.take() is at.records[0]
    assert at.positions == (1, 1)
    assert at.decoded.take() is at.records[1]
    assert at.positions == (11, 11)
    assert len(at.decoded) == 1


def test_the_last_record_is_left_to_a_poll(bench: Callable[[int], Bench]) -> None:
    at = bench(2)
    at.decoded.take()
    assert at.decoded.take() is None
    assert at.positions == (1, 1)
    assert bench(0).decoded.take() is None


def test_more_may_come_in_front_of_the_last_record(bench: Callable[[int], Bench]) -> None:
    at = bench(4)
    decoded = at.decoded_list
    behind, decoded[:] = decoded[:2], decoded[2:]
    asked = []

    def decode_on() -> bool:
        asked.append(len(decoded))
        decoded[:0], behind[:] = behind, []
        return len(decoded) > 1

    at.decoded.follow(decoded, at.fetch, at.state, decode_on)
    assert [at.decoded.take() for _ in range(4)] == [*at.records[:3], None]
    assert asked == [1, 1]
    assert at.positions == (21, 21)
    at.revision.number += 1
    assert (at.decoded.take(), asked) == (None, [1, 1])


@pytest.mark.parametrize("change", ["forget", "revision"])
def test_what_a_deserializer_changes_meanwhile_makes_a_poll_due(
    bench: Callable[[int], Bench], change: str
) -> None:
    at = bench(2)

    def decode_on() -> bool:
        if change == "forget":
            at.decoded.forget()
        else:
            at.revision.number += 1
        return True

    at.decoded.follow(at.decoded_list[-1:], at.fetch, at.state, decode_on)
    assert at.decoded.take() is None


@pytest.mark.parametrize("far", [0, 250, 2**30 - 3, 2**60 - 3, 2**62])
def test_a_position_that_was_seen_stays_as_it_was(twin: ModuleType, far: int) -> None:
    at = Bench(twin, 6)
    for number, record in enumerate(at.records):
        record.offset = far + number
    seen = []
    for number in range(5):
        at.decoded.take()
        assert at.positions == (far + number + 1, far + number + 1)
        if number % 2:
            seen.append(at.state.offset)
    assert seen == [far + 2, far + 4]


def test_after_any_change_a_poll_is_due(bench: Callable[[int], Bench]) -> None:
    at = bench(5)
    at.decoded.take()
    at.revision.number += 1
    assert at.decoded.take() is None
    assert at.positions == (1, 1)


def test_it_counts_what_it_has_handed_out_and_nothing_else(bench: Callable[[int], Bench]) -> None:
    """Whoever takes from the same list by another way, or forgets it, changes the count in nothing
    (B7)."""
    at = bench(6)
    at.decoded.take()
    at.decoded.take()
    assert at.decoded.handed_out == 2
    del at.decoded_list[2:]
    assert (len(at.decoded), at.decoded.handed_out) == (2, 2)
    at.decoded.take()
    assert at.decoded.take() is None, "the last one is left to a poll"
    at.decoded.forget()
    assert at.decoded.handed_out == 3


def test_what_was_forgotten_is_not_handed_out(bench: Callable[[int], Bench]) -> None:
    at = bench(5)
    at.decoded.forget()
    assert (at.decoded.take(), len(at.decoded)) == (None, 0)


async def test_iteration_takes_what_is_there_and_then_polls(bench: Callable[[int], Bench]) -> None:
    at = bench(3)
    assert await at.iteration.__anext__() is at.records[0]
    assert await at.iteration.__anext__() is at.records[1]
    assert at.polls == 0
    assert await at.iteration.__anext__() == "by getone"
    assert at.polls == 1


async def test_a_record_is_taken_when_it_is_awaited_and_not_before(
    bench: Callable[[int], Bench],
) -> None:
    at = bench(4)
    at.iteration.__anext__().close()
    early, later = at.iteration.__anext__(), at.iteration.__anext__()
    assert at.state.offset == -1
    assert await later is at.records[0]
    assert await early is at.records[1]


async def test_a_task_cancelled_before_it_ran_has_taken_nothing(
    bench: Callable[[int], Bench],
) -> None:
    at = bench(3)
    task = asyncio.create_task(at.iteration.__anext__())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(at.iteration.__anext__(), 0)
    assert at.state.offset == -1
    assert await at.iteration.__anext__() is at.records[0]


async def test_tasks_gather_and_timeouts_take_it_for_a_coroutine(
    bench: Callable[[int], Bench],
) -> None:
    at = bench(5)
    call = at.iteration.__anext__
    assert await asyncio.create_task(call()) is at.records[0]
    assert await asyncio.wait_for(call(), 30) is at.records[1]
    assert await asyncio.gather(call(), call()) == at.records[2:4]


async def test_what_changes_between_call_and_await_leads_to_a_poll(
    bench: Callable[[int], Bench],
) -> None:
    at = bench(5)
    awaitable = at.iteration.__anext__()
    at.revision.number += 1
    assert await awaitable == "by getone"
    at = bench(5)
    task = asyncio.create_task(at.iteration.__anext__())
    at.revision.number += 1
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_awaitable_is_awaited_once(bench: Callable[[int], Bench]) -> None:
    at = bench(5)
    awaitable = at.iteration.__anext__()
    await awaitable
    with pytest.raises(RuntimeError, match="cannot reuse"):
        await awaitable


@pytest.mark.parametrize("place", ["class", "instance"])
async def test_a_replaced_getone_sees_every_record(
    bench: Callable[[int], Bench], place: str
) -> None:
    at = bench(5)
    target: Any = at.iteration if place == "instance" else type(at.iteration)

    async def replaced(*_: Any) -> str:
        return "replaced"

    assert await at.iteration.__anext__() is at.records[0]
    target.getone = replaced
    assert await at.iteration.__anext__() == "replaced"
    if place == "instance":
        del target.getone
        assert await at.iteration.__anext__() is at.records[1]


@pytest.mark.parametrize("place", ["class", "base", "instance"])
async def test_a_getone_replaced_after_many_records_is_seen_at_once(
    bench: Callable[[int], Bench], place: str
) -> None:
    """What was found out about the class and the instance holds until something is set there."""
    at = bench(9)

    class Derived(type(at.iteration)):  # type: ignore[misc]  # a class of this very test
        pass

    async def replaced(*_: Any) -> str:
        return "replaced"

    iteration = Derived()
    iteration._decoded = at.decoded
    target: Any = {"class": Derived, "base": type(at.iteration), "instance": iteration}[place]
    for number in range(3):
        iteration.unrelated = number
        assert await iteration.__anext__() is at.records[number]
    before = vars(target).get("getone")
    target.getone = replaced
    for _ in range(2):
        assert await iteration.__anext__() == "replaced"
    if before is None:
        del target.getone
    else:
        target.getone = before
    assert await iteration.__anext__() is at.records[3]


async def test_an_iteration_step_of_ones_own_goes_before_ours(
    bench: Callable[[int], Bench],
) -> None:
    """Whether the class has it from the beginning or gets it once records have been read."""
    at = bench(9)

    async def own_step(self: Any) -> Any:
        return "own", await super(type(self), self).__anext__()

    async def first(iteration: Any) -> Any:
        async for found in iteration:
            return found
        raise AssertionError("it never ends")

    kind = type(at.iteration)
    kind.__aiter__ = lambda self: self
    early = type("Early", (kind,), {"__anext__": own_step})()
    late = type("Late", (kind,), {})()
    early._decoded = late._decoded = at.decoded
    for number in range(0, 4, 2):
        assert await first(early) == ("own", at.records[number])
        assert await first(late) is at.records[number + 1]
    type(late).__anext__ = own_step
    assert await first(late) == ("own", at.records[4])
    del type(late).__anext__
    assert await first(late) is at.records[5]


async def test_an_abandoned_poll_is_collected(bench: Callable[[int], Bench]) -> None:
    at = bench(5)
    awaitable = at.iteration.__anext__()
    at.revision.number += 1
    at.iteration.waits_in = awaitable  # a circle
    awaitable.send(None)
    gone = weakref.ref(at.iteration)
    del at, awaitable
    gc.collect()
    assert gone() is None


def test_slots_are_replaced_on_the_interpreters_we_know() -> None:
    assert native_twin("aiokafka_lite.consumer.fetch._decoded_records").HAS_PATCHED_SLOTS
