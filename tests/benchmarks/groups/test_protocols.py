"""The measurements of groups by protocol: what they tell apart, and that both clients tell it."""

from dataclasses import replace

import pytest

from benchmarks.groups.protocols import CONTENDERS, Contender, kept_and_moved
from benchmarks.groups.rebalance_pause import Pauses
from benchmarks.peers.group_paths import is_balanced, note_requests
from benchmarks.peers.job import Job
from benchmarks.processes.harness import fresh, run_peer, topic


def test_a_pause_is_what_a_partition_waits_beyond_its_usual_gap() -> None:
    found = Pauses(quiet_s=[0.01, 0.02, 0.03], pause_s=[0.012, 0.5, 0.02], moved={1})
    kept, moved = kept_and_moved(found)
    assert kept == [pytest.approx(2.0), 0.0]
    assert moved == [pytest.approx(480.0)]


def test_a_group_is_balanced_when_each_partition_has_one_owner_and_nobody_has_much_more() -> None:
    job = Job("", "", 1, partitions=5)
    assert is_balanced([[0, 3], [1, 4], [2]], job)
    assert not is_balanced([[0, 3], [1, 4], []], job)
    assert not is_balanced([[0, 3, 1], [4], [2]], job)
    assert not is_balanced([[0, 3], [1, 4], [2, 3]], job)


def test_requests_are_those_that_came_to_be() -> None:
    job = Job("", "", 1)
    note_requests({"Fetch": 7, "Metadata": 2}, {"Fetch": 9, "Metadata": 2, "Heartbeat": 1}, job)
    assert job.outcome.requests == {"Fetch": 2, "Heartbeat": 1}
    assert job.outcome.records == 3


@pytest.mark.parametrize("contender", CONTENDERS[::2], ids=lambda each: each.title)
def test_each_contender_balances_its_members(contender: Contender, address: str) -> None:
    with topic(address, fresh("balanced"), 4) as name:
        job = replace(contender.job(address, name, 4), clients=2)
        assert run_peer(contender.peer, "balance", job).records == 2
