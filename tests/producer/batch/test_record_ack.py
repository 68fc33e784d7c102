import asyncio
import contextvars
import gc
import pickle
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import RecordMetadata
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.testing.fake_clock import settle
from tests.producer.batches import make_batch
from tests.producer.twins import producer_twin


async def test_an_ack_is_pending_then_done_and_may_be_awaited_many_times(
    twin: SimpleNamespace,
) -> None:
    batch = twin.make_batch(3)
    ack = twin.RecordAck(batch, 2, 1002)
    assert not ack.done()
    assert not ack.cancelled()
    with pytest.raises(asyncio.InvalidStateError):
        ack.result()
    with pytest.raises(asyncio.InvalidStateError):
        ack.exception()
    waiting = [asyncio.ensure_future(ack) for _ in range(3)]
    await settle()
    batch.succeed(10)
    results = await asyncio.gather(*waiting)
    assert {metadata.offset for metadata in results} == {12}
    assert (await ack).timestamp == 1002
    assert ack.done()
    assert ack.result() == await ack
    assert ack.exception() is None


@pytest.mark.parametrize("log_append_time_ms", [-1, 77])
async def test_metadata_that_is_kept_never_changes(
    twin: SimpleNamespace, log_append_time_ms: int
) -> None:
    """An object may be used again for the next ack only if nobody has it any more."""
    batch = twin.make_batch(6)
    sizes = [(1, 2), (1, 2), (-1, 2), (-1, -1), (1, 2), (1, 2)]
    acks = [twin.RecordAck(batch, index, index, *sizes[index]) for index in range(6)]
    batch.succeed(10, log_append_time_ms, 5)

    def told(metadata: RecordMetadata) -> tuple[object, ...]:
        sizes = metadata.serialized_key_size, metadata.serialized_value_size
        return metadata.offset, metadata.timestamp, metadata.log_start_offset, *sizes

    times = range(6) if log_append_time_ms < 0 else [log_append_time_ms] * 6
    expected = [(10 + at, times[at], 5, *sizes[at]) for at in range(6)]
    for _ in range(2):
        assert [told(await ack) for ack in acks] == expected
        assert [told(kept) for kept in [await ack for ack in acks]] == expected
    attributes = vars(await acks[0])
    assert told(await acks[2]) == expected[2]
    assert attributes["serialized_key_size"] == 1


async def test_the_hash_of_metadata_is_that_of_its_fields(twin: SimpleNamespace) -> None:
    """Also if an object is used again after its hash was asked for."""
    batch = twin.make_batch(3)
    acks = [twin.RecordAck(batch, index, index, 1, 2) for index in range(3)]
    batch.succeed(10)
    told = [hash(await ack) for ack in acks]
    assert told == [hash(RecordMetadata(*fields)) for fields in [tuple(await ack) for ack in acks]]
    assert len(set(told)) == 3


async def test_a_failed_record_raises_for_everybody(twin: SimpleNamespace) -> None:
    batch = twin.make_batch(2)
    blamed = KafkaError("your fault")
    acks = [twin.RecordAck(batch, index, 0) for index in range(2)]
    waiting = asyncio.ensure_future(acks[0])
    await settle()
    batch.fail(KafkaError("no luck"), {1: blamed})
    for awaitable in (waiting, acks[0], acks[0]):
        with pytest.raises(KafkaError, match="no luck"):
            await awaitable
    assert acks[1].exception() is blamed


async def test_asyncio_wait_gather_wait_for_and_shield_take_acks(twin: SimpleNamespace) -> None:
    """asyncio's wait, gather, wait_for and shield take an acknowledgement like a future."""
    first, second = twin.make_batch(2), twin.make_batch(1)
    acks = [twin.RecordAck(first, 0, 0), twin.RecordAck(first, 1, 0), twin.RecordAck(second, 0, 0)]
    first.succeed(5)
    done, pending = await asyncio.wait(acks, return_when=asyncio.FIRST_COMPLETED)
    assert (done, pending) == (set(acks[:2]), {acks[2]})
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(acks[2], 0.001)
    shielded = asyncio.shield(acks[2])
    gathered = asyncio.gather(*acks)
    waited = asyncio.ensure_future(asyncio.wait(acks))
    await settle()
    second.succeed(9)
    assert [metadata.offset for metadata in await gathered] == [5, 6, 9]
    assert (await shielded).offset == 9
    assert (await waited)[1] == set()
    assert (await asyncio.wait_for(acks[2], 30)).offset == 9


async def test_cancelling_one_who_waits_touches_nobody_else_and_leaves_nothing(
    twin: SimpleNamespace,
) -> None:
    batch = twin.make_batch()
    ack = twin.RecordAck(batch, 0, 0)
    first, second = asyncio.ensure_future(ack), asyncio.ensure_future(ack)
    await settle()
    first.cancel()
    await settle()
    assert first.cancelled()
    assert len(batch._listeners) == 1
    batch.succeed(3)
    assert (await second).offset == 3
    assert (await ack).offset == 3
    assert not batch._listeners


async def test_cancelling_the_ack_ends_its_own_waiters_only(twin: SimpleNamespace) -> None:
    batch = twin.make_batch(2)
    ack, other = twin.RecordAck(batch, 0, 0), twin.RecordAck(batch, 1, 0)
    called: list[RecordAck] = []
    ack.add_done_callback(called.append)
    waiting, neighbour = asyncio.ensure_future(ack), asyncio.ensure_future(other)
    await settle()
    assert ack.cancel()
    assert not ack.cancel()
    assert ack.done()
    assert ack.cancelled()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    with pytest.raises(asyncio.CancelledError):
        ack.result()
    assert called == [ack]
    assert not neighbour.done()
    batch.succeed(3)
    assert (await neighbour).offset == 4
    assert not other.cancel()
    assert "cancelled" in repr(ack)
    assert ack.remove_done_callback(called.append) == 0


async def test_callbacks_run_soon_after_in_the_order_of_sending_with_the_ack(
    twin: SimpleNamespace,
) -> None:
    """Callbacks run in the order of sending, each with its acknowledgement (C8)."""
    batch = twin.make_batch(3)
    acks = [twin.RecordAck(batch, index, 0) for index in range(3)]
    called: list[RecordAck] = []
    for index in (2, 0, 1):
        acks[index].add_done_callback(called.append)
    batch.succeed(0)
    assert called == []
    await settle()
    assert called == acks
    acks[0].add_done_callback(called.append)
    assert called == acks
    await settle()
    assert called == [*acks, acks[0]]


async def test_callbacks_run_in_the_context_given_or_that_of_adding(twin: SimpleNamespace) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    seen: list[str] = []
    batch = twin.make_batch()
    ack = twin.RecordAck(batch, 0, 0)
    given = contextvars.copy_context()
    given.run(variable.set, "given")
    ack.add_done_callback(lambda _: seen.append(variable.get()), context=given)
    variable.set("adding")
    ack.add_done_callback(lambda _: seen.append(variable.get()))
    variable.set("later")
    batch.succeed(0)
    await settle()
    assert seen == ["given", "adding"]


async def test_what_a_task_sets_after_an_ack_stays_set_if_its_context_was_empty(
    twin: SimpleNamespace,
) -> None:
    """An empty context counts as False; a copy of it would take what the task sets away."""
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    batch = twin.make_batch()
    ack = twin.RecordAck(batch, 0, 0)
    empty = contextvars.Context()

    async def set_after_the_ack() -> str:
        await ack
        variable.set("task")
        await asyncio.sleep(0)
        return variable.get()

    task = asyncio.create_task(set_after_the_ack(), context=contextvars.Context())
    await settle()
    ack.add_done_callback(lambda _: variable.set("callback"), context=empty)
    batch.succeed(0)
    assert await task == "task"
    assert empty[variable] == "callback"


async def test_the_garbage_collector_has_nothing_to_look_at_in_metadata() -> None:
    """It never changes, and refers to text and numbers only, so it is in no cycle (native)."""
    twin = producer_twin("native")
    batch = make_batch(2, twin=twin)
    batch.succeed(5)
    kept = [
        await twin.RecordAck(batch, index, 7, *sizes) for index, sizes in ((0, (3, 4)), (1, ()))
    ]
    assert [gc.is_tracked(metadata) for metadata in kept] == [False, False]
    gc.collect()
    assert [metadata.offset for metadata in kept] == [5, 6]
    copies = pickle.loads(pickle.dumps(kept))
    assert [(tuple(copy), vars(copy)) for copy in copies] == [
        (tuple(metadata), vars(metadata)) for metadata in kept
    ]


async def test_a_callback_may_be_taken_back(twin: SimpleNamespace) -> None:
    batch = twin.make_batch(2)
    ack, other = twin.RecordAck(batch, 0, 0), twin.RecordAck(batch, 1, 0)
    called: list[RecordAck] = []

    def callback(done: RecordAck) -> None:
        called.append(done)

    ack.add_done_callback(callback)
    ack.add_done_callback(callback)
    other.add_done_callback(callback)
    assert ack.remove_done_callback(callback) == 2
    assert ack.remove_done_callback(callback) == 0
    batch.succeed(0)
    await settle()
    assert called == [other]


async def test_acks_follow_their_record_into_the_piece_of_a_split_batch(
    twin: SimpleNamespace,
) -> None:
    """An acknowledgement follows its record into a piece of a split batch (C7, 2d-14)."""
    batch = twin.make_batch(4)
    acks = [twin.RecordAck(batch, index, 1000 + index, 2, index) for index in range(4)]
    order: list[int] = []
    for index in (3, 2):
        acks[index].add_done_callback(lambda ack: order.append(ack.result().offset))
    waiting = asyncio.ensure_future(acks[2])
    given_up = asyncio.ensure_future(acks[3])
    await asyncio.sleep(0)
    pieces = twin.make_batch(2), twin.make_batch(2)
    batch.split_into(pieces)
    given_up.cancel()
    await asyncio.wait([given_up])
    assert pieces[1].listeners_of(1) != []  # the callback of the one that gave up waiting
    pieces[0].fail(KafkaError("no"))
    assert acks[0].done()
    assert isinstance(acks[1].exception(), KafkaError)
    assert isinstance(acks[0].exception(), KafkaError)
    assert not acks[2].done()
    assert "0 of <ProducerBatch" in repr(acks[2])
    pieces[1].succeed(70)
    metadata = await waiting
    assert (metadata.offset, metadata.timestamp) == (70, 1002)
    assert (metadata.serialized_key_size, metadata.serialized_value_size) == (2, 2)
    assert (await acks[3]).offset == 71
    assert order == [70, 71]


async def test_an_ack_is_cancelled_or_relieved_of_callbacks_after_the_split_as_before(
    twin: SimpleNamespace,
) -> None:
    """After a split an acknowledgement can be cancelled, and its callbacks removed (2d-14)."""
    batch = twin.make_batch(2)
    ack = twin.RecordAck(batch, 1, 0)
    called: list[RecordAck] = []
    ack.add_done_callback(called.append)
    ack.add_done_callback(print)
    pieces = twin.make_batch(1), twin.make_batch(1)
    batch.split_into(pieces)
    assert ack.remove_done_callback(print) == 1
    assert ack.cancel()
    await asyncio.sleep(0)
    assert called == [ack]
    assert not pieces[1].is_done


async def test_cancelling_an_ack_leaves_other_acks_of_the_record_alone(
    twin: SimpleNamespace,
) -> None:
    """Interceptors hear of a record whose acknowledgement was cancelled (C8)."""
    batch = twin.make_batch()
    mine, other = twin.RecordAck(batch, 0, 0), twin.RecordAck(batch, 0, 0)
    called: list[RecordAck] = []
    mine.add_done_callback(called.append)
    other.add_done_callback(called.append)
    assert mine.cancel()
    await asyncio.sleep(0)
    assert called == [mine]
    batch.succeed(1)
    await asyncio.sleep(0)
    assert called == [mine, other]


async def _outcome_of(ack: RecordAck, seen: list[int], number: int) -> None:
    await ack
    seen.append(number)


async def test_those_who_wait_are_woken_in_the_order_of_sending_among_the_callbacks(
    twin: SimpleNamespace,
) -> None:
    """Awaiting tasks and callbacks go on in the order of sending (C8)."""
    batch = twin.make_batch(4)
    acks = [twin.RecordAck(batch, index, 0) for index in range(4)]
    seen: list[int] = []
    waiting = [asyncio.ensure_future(_outcome_of(acks[at], seen, at)) for at in (3, 1, 0)]
    await settle()
    acks[2].add_done_callback(lambda _: seen.append(2))
    batch.succeed(0)
    assert seen == []
    await asyncio.gather(*waiting)
    assert seen == [0, 1, 2, 3]


def test_tasks_that_await_acks_of_a_batch_cost_the_loop_one_callback(
    twin: SimpleNamespace,
) -> None:
    """In Python one each: to do without the loop's own futures costs more there."""
    is_native = not twin.RecordAck.__module__.endswith("_py")

    async def count() -> int:
        batch = twin.make_batch(100)
        gathered = asyncio.gather(*(twin.RecordAck(batch, index, 0) for index in range(100)))
        await settle()
        with mock.patch.object(loop := asyncio.get_running_loop(), "call_soon") as call_soon:
            call_soon.side_effect = type(loop).call_soon.__get__(loop)
            batch.succeed(7)
        assert [metadata.offset for metadata in await gathered] == list(range(7, 107))
        return call_soon.call_count

    with asyncio.Runner() as runner:
        assert runner.run(count()) == (1 if is_native else 100)


async def test_a_wait_ends_once_whatever_ends_it_first(twin: SimpleNamespace) -> None:
    """Cancelled after the outcome and before the task ran, with a word, and by being closed."""
    batch = twin.make_batch(3)
    acks = [twin.RecordAck(batch, index, 0) for index in range(3)]
    late, worded, closed = (_outcome_of(ack, [], 0) for ack in acks)
    late_task, worded_task = asyncio.ensure_future(late), asyncio.ensure_future(worded)
    closed.send(None)
    await settle()
    worded_task.cancel("enough")
    worded_task.cancel("twice")
    closed.close()
    with pytest.raises(asyncio.CancelledError, match=r"enough|twice"):
        await worded_task
    assert len(batch._listeners) == 1
    batch.succeed(3)
    late_task.cancel()
    await settle()
    assert late_task.cancelled()
    assert (await acks[0]).offset == 3


async def test_a_wait_is_a_future_to_the_task_that_waits_alone() -> None:
    """To the rest of asyncio it is a coroutine, of which it makes a task (native)."""
    twin = producer_twin("native")
    batch = make_batch(2, twin=twin)
    ack = twin.RecordAck(batch, 1, 0)
    wait: Any = ack.__await__()
    kinds = asyncio.isfuture(wait), asyncio.iscoroutine(wait)
    assert kinds == (False, True)
    assert not hasattr(type(wait), "add_done_callback")
    with pytest.raises(AttributeError, match="other"):
        wait.other = 1
    task = asyncio.create_task(wait)
    await asyncio.sleep(0)
    for name in ("cancel", "done", "result"):
        assert callable(getattr(wait, "".join(name)))  # a str of its own, as C makes one
    with pytest.raises(RuntimeError, match="before there is an outcome"):
        wait.send(None)
    with mock.patch.object(asyncio, "get_running_loop", side_effect=AssertionError):
        other = asyncio.ensure_future(twin.RecordAck(batch, 0, 0))  # the batch knows the loop
        await asyncio.sleep(0)
    assert [type(token) for token in batch._listeners] == [type(wait)] * 2
    assert wait.cancel("enough")
    assert not wait.cancel("twice")
    with pytest.raises(asyncio.CancelledError, match="enough"):
        await task
    batch.succeed(3)
    assert (await other).offset == 3
    assert (await wait).offset == 4


def test_the_loop_refuses_a_wait_of_another_loop() -> None:
    """As for its own futures (native)."""
    twin = producer_twin("native")
    batch = make_batch(2, twin=twin)

    async def wait(index: int) -> None:
        await twin.RecordAck(batch, index, 0)

    with asyncio.Runner() as first, asyncio.Runner() as second:
        task = first.get_loop().create_task(wait(0))
        first.run(asyncio.sleep(0))
        with pytest.raises(RuntimeError, match="different loop"):
            second.run(wait(1))
        first.get_loop().call_soon(batch.succeed, 0)
        first.run(asyncio.wait_for(task, 30))


def test_a_task_that_exits_keeps_no_other_from_waking(twin: SimpleNamespace) -> None:
    """SystemExit ends the loop; it may be run again."""
    batch = twin.make_batch(3)
    seen: list[int] = []

    async def leave() -> None:
        await twin.RecordAck(batch, 1, 0)
        raise SystemExit

    async def wait_for_acks() -> list[asyncio.Task[None]]:
        acks = [twin.RecordAck(batch, index, 0) for index in range(3)]
        bodies = (_outcome_of(acks[0], seen, 0), leave(), _outcome_of(acks[2], seen, 2))
        tasks = [asyncio.ensure_future(body) for body in bodies]
        await settle()
        asyncio.get_running_loop().call_soon(batch.succeed, 0)
        return tasks

    with asyncio.Runner() as runner:
        tasks = runner.run(wait_for_acks())
        with pytest.raises(SystemExit):
            runner.run(settle())
        runner.run(settle())
        assert seen == [0, 2]
        assert isinstance(tasks[1].exception(), SystemExit)


def test_an_ack_offers_what_a_future_has_and_facts_of_its_record(twin: SimpleNamespace) -> None:
    offered = {name for name in dir(twin.RecordAck) if not name.startswith("_")}
    future = {"add_done_callback", "cancel", "cancelled", "done", "exception"}
    facts = {"serialized_key_size", "serialized_value_size", "timestamp_ms", "topic_partition"}
    assert offered == future | {"remove_done_callback", "result"} | facts


async def test_each_record_has_its_own_sizes_and_time(twin: SimpleNamespace) -> None:
    """Records of one batch share what is equal in their metadata, and nobody can change it."""
    batch = twin.make_batch(6)
    records = [(1, 5, 7), (1, 5, 7), (2, -1, 7), (2, 5, -1), (2, -1, -1), (1, 5, 7)]
    acks = [twin.RecordAck(batch, index, *record) for index, record in enumerate(records)]
    batch.succeed(20)
    told = [await ack for ack in acks]
    assert [
        (one.timestamp, one.serialized_key_size, one.serialized_value_size) for one in told
    ] == records
    assert [one.offset for one in told] == list(range(20, 26))
    for name in ("serialized_key_size", "anything"):
        with pytest.raises(AttributeError, match=f"{name} cannot be set to 9"):
            setattr(told[0], name, 9)
    assert pickle.loads(pickle.dumps(told[3])).serialized_key_size == 5
    stamped = twin.make_batch(2)
    stamped.succeed(0, 99)
    for index in range(2):
        metadata = await twin.RecordAck(stamped, index, 4)
        assert (metadata.timestamp, metadata.serialized_key_size) == (99, -1)
