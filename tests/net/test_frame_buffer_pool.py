"""Buffers are reused exactly when nobody can see into them any more."""

import platform
import subprocess
import sys
from collections.abc import Iterator

import pytest

from aiokafka_lite.net import frame_buffer_pool
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from tests.net.support.pool_bytes import idle_bytes, pooled_bytes


def address_of(buffer: bytearray) -> int:
    return id(buffer)


def test_a_buffer_is_at_least_as_large_as_asked_and_wastes_little() -> None:
    pool = FrameBufferPool()
    for size in (1, 4096, 32_769, 1_000_001, 50 * 2**20 + 1):
        assert size <= len(pool.take(size)) <= size * 9 // 8 + 4096


def test_a_buffer_nobody_refers_to_is_handed_out_again() -> None:
    pool = FrameBufferPool()
    first = address_of(pool.take(100_000))
    assert address_of(pool.take(100_000)) == first
    assert address_of(pool.take(95_000)) == first
    assert pooled_bytes(pool) == len(pool.take(100_000))


def test_a_view_of_a_view_keeps_the_buffer_from_being_reused() -> None:
    pool = FrameBufferPool()
    buffer = pool.take(100_000)
    buffer[5:8] = b"abc"
    record = memoryview(buffer)[:50][5:8]
    first = address_of(buffer)
    del buffer
    for _ in range(3):
        other = pool.take(100_000)
        assert address_of(other) != first
        other[:] = bytes(len(other))
    assert record == b"abc"
    del record, other
    assert first in {address_of(pool.take(100_000)), address_of(pool.take(100_000))}


def test_a_small_need_does_not_take_a_huge_buffer() -> None:
    pool = FrameBufferPool()
    huge = address_of(pool.take(10_000_000))
    assert address_of(pool.take(40_000)) != huge


def test_the_smallest_idle_buffer_that_fits_is_taken() -> None:
    pool = FrameBufferPool()
    large, small = pool.take(190_000), pool.take(110_000)
    expected = address_of(small)
    del large, small
    assert address_of(pool.take(100_000)) == expected


def test_no_more_than_max_bytes_are_kept() -> None:
    pool = FrameBufferPool(max_bytes=300_000)
    held = [pool.take(100_000) for _ in range(5)]
    assert pooled_bytes(pool) <= 300_000
    assert len({address_of(buffer) for buffer in held}) == 5
    del held
    assert idle_bytes(pool) == pooled_bytes(pool)


def test_a_buffer_larger_than_the_pool_is_given_and_not_kept() -> None:
    pool = FrameBufferPool(max_bytes=50_000)
    assert len(pool.take(60_000)) >= 60_000
    assert pooled_bytes(pool) == 0


def test_idle_buffers_make_room_for_another_size() -> None:
    pool = FrameBufferPool(max_bytes=300_000)
    del (held := [pool.take(90_000) for _ in range(3)])[:]
    large = pool.take(250_000)
    assert pooled_bytes(pool) == len(large)
    assert idle_bytes(pool) == 0
    assert held == []


def test_the_number_of_buffers_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frame_buffer_pool, "_MAX_POOLED_BUFFERS", 2)
    pool = FrameBufferPool()
    held = [pool.take(5_000) for _ in range(4)]
    assert pooled_bytes(pool) == len(held[0]) + len(held[1])


@pytest.fixture
def inexact_refcounts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(frame_buffer_pool, "_REFCOUNTS_ARE_EXACT", False)
    return iter(())


@pytest.mark.usefixtures("inexact_refcounts")
def test_without_exact_refcounts_nothing_is_ever_reused() -> None:
    pool = FrameBufferPool()
    first = pool.take(100_000)
    view = memoryview(first)[:3]
    del first
    second = pool.take(100_000)
    assert view.obj is not second
    assert pooled_bytes(pool) == 0


def test_the_interpreter_is_asked_whether_refcounts_are_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert frame_buffer_pool._refcounts_are_exact()
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert not frame_buffer_pool._refcounts_are_exact()


_FAULTS_OF_POLLS = """
import resource
import aiokafka_lite.net.frame_buffer_pool

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

for poll in range(25):
    if poll == 5:
        before = faults()
    records = [bytes(1000) for _ in range(1000)]
    del records
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries decide otherwise")
def test_the_memory_of_one_polls_records_serves_the_next_without_page_faults() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _FAULTS_OF_POLLS], capture_output=True, check=True, text=True
    )
    assert int(answer.stdout) < 100  # else 200 a poll
