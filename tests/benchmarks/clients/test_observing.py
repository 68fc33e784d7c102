"""The cost of observers: one round, and a turn of each."""

import pytest

from benchmarks.clients import observing
from benchmarks.peers import observed_pairs
from benchmarks.peers.job import Job
from benchmarks.report.progress import Steps
from benchmarks.report.results import OURS
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, fill


def test_an_observer_is_compared_with_none(steps: Steps, address: str) -> None:
    settings = {"rounds": 1, "turns": 1, "turn_records": 1000}
    table = observing.measure(
        "embedded broker", address, steps, observers=["prometheus"], **settings
    )
    assert {figure.client for figure in table.figures} == {OURS}
    assert table.rows() == ["send, prometheus", "getmany, prometheus"]
    assert table.limits == dict.fromkeys(table.rows(), 2.0)
    assert all("µs a record" in figure.note for figure in table.figures)


@pytest.mark.asyncio(loop_factories=["asyncio"])
@pytest.mark.parametrize("observer", observed_pairs.OBSERVERS)
async def test_both_clients_take_turns_with_each_observer(observer: str) -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, tps(0)[0], *[100] * 100)
        for run in (observed_pairs.send, observed_pairs.getmany):
            job = Job(broker.bootstrap_servers, "t", 4, observer=observer, turn_records=1000)
            await run(job)
            assert job.outcome.records == 4 - observed_pairs.TURNS_NOT_COUNTED
            assert all(plain > 0 and seen > 0 for plain, seen in job.outcome.turns)
