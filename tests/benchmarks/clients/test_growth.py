"""What is noted and limited of figures by hand, and a short run of all clients in every kind."""

import pytest

from benchmarks.clients import growth
from benchmarks.clients.growth import Size
from benchmarks.peers.job import Job, Outcome
from benchmarks.processes.harness import PEERS
from benchmarks.report.progress import Steps
from benchmarks.report.results import OURS, Figure

SMALL = [Size("partitions", 1), Size("partitions", 50)]
MANY = [Size("consumers", 1), Size("consumers", 10)]


def test_figures_are_noted_and_limited_by_the_least_of_their_kind() -> None:
    figures = [
        Figure(size.title, OURS, [cost])
        for size, cost in zip([*SMALL, *MANY], (10.0, 30.0, 5.0, 40.0), strict=True)
    ]
    table = growth.noted("growth-idle", "", "", "", figures, [*SMALL, *MANY])
    assert [figure.note for figure in table.figures] == ["1x", "3x", "1x", "8x"]
    assert table.limits == {
        "consumer, partitions: 1": 20.0,
        "consumer, partitions: 50": 20.0,
        "consumers: 1": 10.0,
        "consumers: 10": 100.0,
    }, "each of ten consumers polls; of fifty partitions no more are active than of one"
    of_cluster = growth.noted("growth-idle", "", "", "", figures[:2], SMALL, 3)
    assert of_cluster.limits["consumer, partitions: 50"] == 60.0, "a fetch waits at each node"


def test_a_start_may_grow_with_the_size_but_no_faster() -> None:
    sizes = [Size("partitions", count) for count in (1, 11, 101)]
    figures = [
        Figure(size.title, OURS, [cost])
        for size, cost in zip(sizes, (100.0, 150.0, 100.0), strict=True)
    ]
    table = growth.noted("growth-start", "", "", "", figures, sizes)
    assert table.limits == {sizes[2].title: 1100.0}, "100 and twice ten times the 50 of one step"


def test_stopwatch_runs_behind_the_first_rounds_for_as_many_as_count() -> None:
    job = Job("", "", records=2, warm_up=1)
    for _ in range(5):
        job.note_round()
    assert job.outcome.records == 2
    assert 0 <= job.outcome.wall_s < 60


def test_order_alternates_and_a_round_of_each_kind_does_not_count(
    monkeypatch: pytest.MonkeyPatch, address: str, steps: Steps
) -> None:
    ran: list[str] = []

    def run(peer: str, *_: object) -> Outcome:
        ran.append(peer)
        return Outcome(records=1, first_s=len(ran))

    monkeypatch.setattr(growth, "_run", run)
    there = ["ours", "aiokafka_peer"]
    first, *_ = growth.measure("here", address, there, steps, rounds=2, sizes=[*SMALL, MANY[0]])
    back = there[::-1]
    assert ran == [*back, *there, *back, *back, *there, *back, *there, *back]
    ours = [figure.samples for figure in first.figures if figure.client == OURS]
    assert [list(samples) for samples in ours] == [[3000, 6000], [8000, 9000], [13000, 16000]]


def test_all_clients_tell_what_each_kind_costs(address: str, steps: Steps) -> None:
    sizes = [Size(kind, 2) for kind in ("partitions", "topics", "consumers", "producer")]
    peers = list(PEERS)
    tables = growth.measure(
        "here", address, peers, steps, rounds=1, sizes=sizes, polls=3, idle_s=0.05
    )
    names = ("first", "start", "cpu", "idle", "memory")
    assert [table.name for table in tables] == [f"growth-{name}" for name in names]
    clients = {PEERS[peer] for peer in growth.GROWING_PEERS}
    everything = {(size.title, client) for size in sizes for client in clients}
    first, start, rounds, idle, memory = [
        {(figure.row, figure.client) for figure in table.figures} for table in tables
    ]
    assert rounds <= everything
    assert first == start == idle == memory == everything
    assert all(figure.median > 0 for figure in (*tables[0].figures, *tables[3].figures))
