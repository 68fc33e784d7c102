import asyncio
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import BufferExhaustedError, KafkaTimeoutError, ProducerClosed
from aiokafka_lite.producer.batch.buffer_pool import BufferPool
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.support.reentry import ALL_WAYS


def taker(
    pool: BufferPool, size: int, *, clock: FakeClock, timeout_s: float = 60.0
) -> "asyncio.Task[bytearray]":
    return asyncio.create_task(
        pool.take(size, clock=clock, timeout_s=timeout_s, max_block_ms=int(timeout_s * 1000))
    )


def granted(pool: BufferPool, size: int) -> bytearray:
    """A buffer that nobody has to wait for."""
    buffer = pool.take_nowait(size)
    assert buffer is not None
    return buffer


def test_buffers_of_the_usual_size_are_used_again() -> None:
    """The pool keeps buffers of `max_batch_size` for the next batch (2d-3)."""
    pool = BufferPool(1000, 100)
    first = pool.take_nowait(100)
    odd = pool.take_nowait(150)
    assert first is not None
    assert odd is not None
    pool.give(first)
    pool.give(odd)
    assert pool.take_nowait(150) is not odd
    assert pool.take_nowait(100) is first


def test_a_buffer_somebody_may_still_read_is_not_used_again() -> None:
    pool = BufferPool(1000, 100)
    first = pool.take_nowait(100)
    assert first is not None
    pool.give(first, reusable=False)
    assert pool.available_bytes == 1000
    assert pool.take_nowait(100) is not first


def test_kept_buffers_make_room_for_another_size() -> None:
    pool = BufferPool(300, 100)
    buffers = [pool.take_nowait(100) for _ in range(3)]
    assert pool.take_nowait(1) is None
    for buffer in buffers:
        assert buffer is not None
        pool.give(buffer)
    assert pool.kept_bytes == 300
    assert pool.take_nowait(250) is not None
    assert pool.kept_bytes == 0


def test_a_compressed_batch_keeps_only_its_new_size() -> None:
    pool = BufferPool(300, 100)
    buffer = pool.take_nowait(300)
    assert buffer is not None
    pool.shrink(buffer, 120)
    assert pool.used_bytes == 120
    pool.give_bytes(120)
    assert pool.available_bytes == 300


def test_buffers_of_several_sizes_are_used_again() -> None:
    pool = BufferPool(1000, 100, 200, 400)
    taken = [pool.take_nowait(size) for size in (100, 200, 400)]
    for buffer in taken:
        assert buffer is not None
        pool.give(buffer)
    assert pool.kept_bytes == 700
    assert [pool.take_nowait(size) for size in (400, 100, 200)] == [taken[2], taken[0], taken[1]]
    assert pool.kept_bytes == 0


def test_the_largest_kept_buffers_make_room_first() -> None:
    pool = BufferPool(1000, 100, 400)
    for buffer in [pool.take_nowait(size) for size in (100, 400, 400)]:
        assert buffer is not None
        pool.give(buffer)
    assert pool.take_nowait(300) is not None
    assert pool.kept_bytes == 500
    assert pool.take_nowait(600) is not None
    assert pool.kept_bytes == 100


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 400)), max_size=60),
    st.sampled_from([(100,), (100, 200, 350)]),
)
def test_the_bound_holds_whatever_is_taken_and_given(
    steps: list[tuple[int, int]], kept_sizes: tuple[int, ...]
) -> None:
    """`buffer_memory` bounds the memory in use, kept buffers included."""
    pool = BufferPool(1000, *kept_sizes)
    held: list[bytearray] = []
    shrunk: list[int] = []
    for kind, size in steps:
        if kind < 2:
            buffer = pool.take_nowait(kept_sizes[size % len(kept_sizes)] if kind else size)
            if buffer is not None:
                held.append(buffer)
        elif held and kind == 2:
            pool.give(held.pop(size % len(held)), reusable=size % 2 == 0)
        elif held:
            buffer = held.pop(size % len(held))
            shrunk.append(min(size, len(buffer)))
            pool.shrink(buffer, shrunk[-1])
        assert pool.used_bytes == sum(map(len, held)) + sum(shrunk)
        assert pool.kept_bytes == sum(len(b) for kept in pool._kept.values() for b in kept)
        assert pool.used_bytes + pool.kept_bytes <= 1000
    for buffer in held:
        pool.give(buffer)
    for size in shrunk:
        pool.give_bytes(size)
    assert pool.used_bytes == 0


async def test_those_who_wait_are_served_in_their_order_one_per_freed_space() -> None:
    """Freed memory goes to the caller that has waited longest (2d-3)."""
    clock, pool = FakeClock(), BufferPool(200, 100)
    held = [granted(pool, 100), granted(pool, 100)]
    tasks = [taker(pool, 100, clock=clock) for _ in range(3)]
    await settle()
    assert pool.waiting == 3
    pool.give(held[0])
    await settle()
    assert [task.done() for task in tasks] == [True, False, False]
    assert pool.waiting == 2
    pool.give(held[1])
    pool.give(await tasks[0])
    await asyncio.gather(*tasks[1:])
    assert pool.waiting == 0
    assert clock.pending_timers == 0


async def test_nobody_overtakes_a_large_one_at_the_head() -> None:
    clock, pool = FakeClock(), BufferPool(200, 100)
    held = [granted(pool, 100), granted(pool, 100)]
    large = taker(pool, 200, clock=clock)
    await settle()
    small = taker(pool, 50, clock=clock)
    pool.give(held[0])
    await settle()
    assert pool.take_nowait(1) is None
    assert not large.done()
    assert not small.done()
    pool.give(held[1])
    pool.give(await large)
    await small


async def test_waiting_ends_with_an_error_that_names_both_options() -> None:
    """A wait for memory ends with an error that names `buffer_memory` and `max_block_ms` (C4)."""
    clock, pool = FakeClock(), BufferPool(100, 100)
    pool.take_nowait(100)
    task = taker(pool, 100, clock=clock, timeout_s=5)
    await clock.advance(4.9)
    assert not task.done()
    await clock.advance(0.2)
    with pytest.raises(BufferExhaustedError, match=r"max_block_ms=5000.*buffer_memory=100") as e:
        await task
    assert isinstance(e.value, KafkaTimeoutError)
    assert pool.waiting == 0


async def test_a_cancelled_waiter_gives_its_turn_on() -> None:
    """A cancelled caller passes its memory on to the next (2d-3)."""
    clock, pool = FakeClock(), BufferPool(100, 100)
    held = pool.take_nowait(100)
    assert held is not None
    first, second = taker(pool, 100, clock=clock), taker(pool, 100, clock=clock)
    await settle()
    pool.give(held)  # granted to the first…
    first.cancel()  # …who is cancelled before it can run
    assert await second is held
    with pytest.raises(asyncio.CancelledError):
        await first
    pool.give(held)
    assert pool.used_bytes == 0


async def test_a_waiter_cancelled_at_the_head_lets_the_next_smaller_one_in() -> None:
    clock, pool = FakeClock(), BufferPool(200, 100)
    pool.take_nowait(100)
    large, small = taker(pool, 150, clock=clock), taker(pool, 50, clock=clock)
    await settle()
    large.cancel()
    assert len(await small) == 50
    assert pool.waiting == 0


@pytest.mark.parametrize("comes_first", [True, False])
async def test_memory_that_comes_in_the_moment_of_the_timeout_is_not_lost(
    comes_first: bool,
) -> None:
    """It is handed out if it came first, and is free again if not."""
    clock, pool = FakeClock(), BufferPool(100, 100)
    held = pool.take_nowait(100)
    assert held is not None
    if comes_first:
        clock.call_at(1.0, lambda: pool.give(held))
    task = taker(pool, 100, clock=clock, timeout_s=1)
    await settle()
    if not comes_first:
        clock.call_at(1.0, lambda: pool.give(held))
    await clock.advance(1.0)
    if comes_first:
        pool.give(await task)
    else:
        with pytest.raises(BufferExhaustedError):
            await task
    assert pool.used_bytes == 0


async def test_closing_fails_those_who_wait_and_those_who_come() -> None:
    clock, pool = FakeClock(), BufferPool(100, 100)
    held = pool.take_nowait(100)
    assert held is not None
    task = taker(pool, 100, clock=clock)
    await settle()
    pool.close(ProducerClosed("stopped"))
    with pytest.raises(ProducerClosed, match="stopped"):
        await task
    with pytest.raises(ProducerClosed, match="stopped"):
        await taker(pool, 10, clock=clock)
    pool.give(held)
    assert pool.used_bytes == 0
    assert pool.take_nowait(10) is None
    assert clock.pending_timers == 0


def test_repr_says_how_full_it_is() -> None:
    pool = BufferPool(200, 100)
    pool.take_nowait(100)
    assert repr(pool) == "<BufferPool 100 of 200 bytes used, 0 bytes kept, 0 waiting>"


async def test_memory_that_is_free_is_taken_without_waiting_and_without_a_timer() -> None:
    clock, pool = FakeClock(), BufferPool(100, 100)
    buffer = await pool.take(60, clock=clock, timeout_s=1, max_block_ms=1000)
    assert len(buffer) == 60
    assert clock.pending_timers == 0


async def test_what_compression_frees_and_what_is_left_of_a_batch_go_to_who_waits() -> None:
    """Memory that compression frees wakes a caller that waits (2d-3)."""
    clock, pool = FakeClock(), BufferPool(100, 100)
    held = pool.take_nowait(100)
    assert held is not None
    first, second = taker(pool, 40, clock=clock), taker(pool, 60, clock=clock)
    await settle()
    pool.shrink(held, 50)
    await settle()
    assert (first.done(), second.done()) == (True, False)
    pool.give_bytes(50)
    assert len(await second) == 60
    assert (pool.used_bytes, pool.waiting) == (100, 0)


async def test_who_gave_up_in_the_middle_of_the_queue_does_not_count_as_waiting() -> None:
    """A caller that gave up no longer counts as waiting for memory (2d-3)."""
    clock, pool = FakeClock(), BufferPool(100, 100)
    held = pool.take_nowait(100)
    assert held is not None
    tasks = [taker(pool, 100, clock=clock) for _ in range(3)]
    await settle()
    tasks[1].cancel()
    await asyncio.wait([tasks[1]])
    assert pool.waiting == 2
    pool.give(held)
    assert await tasks[0] is held
    pool.give(held)
    assert await tasks[2] is held


async def test_waiters_cancelled_all_at_once_are_passed_over() -> None:
    """Callers that were cancelled are passed over, even before they could withdraw (2d-3)."""
    clock, pool = FakeClock(), BufferPool(100, 100)
    held = pool.take_nowait(100)
    assert held is not None
    tasks = [taker(pool, 100, clock=clock) for _ in range(3)]
    await settle()
    tasks[0].cancel()
    tasks[1].cancel()
    pool.give(held)
    assert await tasks[2] is held
    assert pool.waiting == 0


async def test_a_waiter_cancelled_as_the_pool_closes_is_cancelled() -> None:
    clock, pool = FakeClock(), BufferPool(100, 100)
    pool.take_nowait(100)
    task = taker(pool, 100, clock=clock)
    await settle()
    pool.close(ProducerClosed("stopped"))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_no_buffer_is_kept_beyond_the_bound_or_after_the_close() -> None:
    pool = BufferPool(100, 100)
    buffer = pool.take_nowait(100)
    assert buffer is not None
    pool.shrink(buffer, 90)
    assert repr(pool) == "<BufferPool 90 of 100 bytes used, 0 bytes kept, 0 waiting>"
    pool.give_bytes(90)
    buffer = pool.take_nowait(100)
    assert buffer is not None
    pool.close(ProducerClosed("stopped"))
    pool.give(buffer)
    assert "0 bytes kept" in repr(pool)


@pytest.mark.parametrize("way", ALL_WAYS)
async def test_memory_given_back_in_the_middle_reaches_all_who_wait(way: str) -> None:
    """As of a handler of signals that sends, and so closes a batch (C1)."""
    clock = FakeClock()
    for place in range(1, 400):
        pool = BufferPool(1000)
        free, used = granted(pool, 300), granted(pool, 700)
        small, large = (taker(pool, size, clock=clock) for size in (100, 1000))
        await settle()
        with ALL_WAYS[way](partial(pool.give_bytes, 50), after=place) as interruption:
            pool.give(free)
        if not interruption.came:
            pool.give_bytes(50)
        await settle()
        pool.give_bytes(len(used) - 50)
        pool.give(small.result())
        await settle()
        assert len(large.result()) == 1000
        assert (pool.used_bytes, pool.waiting) == (1000, 0)
        if not interruption.came:
            break
