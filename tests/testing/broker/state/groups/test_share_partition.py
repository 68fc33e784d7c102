"""Records in flight: locks by the clock, what the log loses, gaps, and what is stored."""

import pytest

from tests.testing.broker.bench import batch
from tests.testing.broker.share_bench import ACCEPT, REJECT, RELEASE, RENEW, ShareBench


def states(bench: ShareBench) -> str:
    """A letter per record in flight: (a)vailable, (l)ocked, (d)one."""
    (share,) = bench.group.partitions.values()
    return "".join(
        "d" if each.state.is_final else "l" if each.lock else "a" for _, each in share.deliveries()
    )


async def test_a_lock_ends_by_the_clock_and_a_late_acknowledgement_is_refused() -> None:
    bench = ShareBench()
    bench.set("record.lock.duration.ms", "15000")
    assert bench.acquire() == {0: [(0, 2, 1)]}
    await bench.clock.advance(14.9)
    assert bench.acquire("b") == {}
    await bench.clock.advance(0.1)
    assert states(bench) == "aaa"
    assert bench.error((0, 0, ACCEPT)) == 121
    assert bench.acquire("b") == {0: [(0, 2, 2)]}
    assert bench.error((0, 0, ACCEPT)) == 121
    assert bench.error((0, 0, ACCEPT), member_id="b") == 0


async def test_a_renewed_lock_begins_anew_for_its_records_alone() -> None:
    bench = ShareBench()
    bench.acquire()
    await bench.clock.advance(20)
    assert bench.error((1, 1, RENEW), is_renew_ack=True) == 0
    await bench.clock.advance(10)
    assert states(bench) == "ala"
    await bench.clock.advance(20)
    assert states(bench) == "aaa"


async def test_a_record_whose_last_lock_ends_is_archived() -> None:
    bench = ShareBench(group_share_delivery_count_limit=2)
    bench.acquire()
    await bench.clock.advance(30)
    bench.acquire()
    await bench.clock.advance(30)
    assert states(bench) == ""
    assert bench.acquire() == {}
    (share,) = bench.group.partitions.values()
    assert (share.stored_start, share.stored_done, share.start_offset) == (0, 3, 3)


def test_locks_that_are_over_have_no_timers() -> None:
    bench = ShareBench()
    bench.acquire()
    assert len(bench.group._locks.names) == 1
    bench.acknowledge((0, 1, ACCEPT))
    assert len(bench.group._locks.names) == 1
    bench.acknowledge((2, 2, REJECT))
    assert not bench.group._locks.names


def test_records_that_the_log_has_lost_are_passed_over() -> None:
    bench = ShareBench(records=4)
    bench.acquire()
    bench.acknowledge((0, 1, RELEASE), (2, 2, ACCEPT))
    bench.read.partitions[0].log.delete_records(2)
    assert bench.acquire() == {}
    assert bench.error((3, 3, ACCEPT)) == 0
    bench.read.partitions[0].append(batch(b"4", b"5"))
    assert bench.acquire() == {0: [(4, 5, 1)]}


def test_a_log_that_begins_later_is_read_from_there() -> None:
    bench = ShareBench(records=3)
    bench.group.read(bench.read.partitions[0])
    bench.read.partitions[0].append(batch(b"3"))
    bench.read.partitions[0].log.delete_records(3)
    assert bench.acquire() == {0: [(3, 3, 1)]}


def test_gaps_in_the_log_are_never_in_flight() -> None:
    bench = ShareBench(records=2)
    bench.acquire()
    moved = bytearray(batch(b"x", b"y"))
    moved[:8] = (10).to_bytes(8, "big")
    bench.read.partitions[0].append(moved, keep_offsets=True)
    assert bench.acquire() == {0: [(10, 11, 1)]}
    assert bench.error((0, 1, ACCEPT)) == 0
    (share,) = bench.group.partitions.values()
    assert share.start_offset == 10
    assert bench.error((10, 11, ACCEPT)) == 0
    assert share.start_offset == share.next_offset == 12


def test_a_member_releases_what_it_has_and_nothing_else() -> None:
    bench = ShareBench(records=2)
    bench.acquire()
    bench.read.partitions[0].append(batch(b"2"))
    bench.acquire("b")
    bench.group.release("a", bench.group.partitions)
    assert states(bench) == "aal"


@pytest.mark.parametrize("acks", [[(0, 0, ACCEPT), (1, 9, ACCEPT)], [(0, 1, ACCEPT), (1, 1, 2)]])
def test_a_request_is_acknowledged_as_a_whole(acks: list[tuple[int, int, int]]) -> None:
    bench = ShareBench()
    bench.acquire()
    assert bench.error(*acks) != 0
    assert states(bench) == "lll"
