"""A short run of every client: what holds records grows by at least their bytes."""

from benchmarks import memory
from benchmarks.paths import IN_PYTHON
from benchmarks.progress import Steps


def test_every_client_holds_what_a_broker_does_not_take(steps: Steps) -> None:
    table = memory.measure(IN_PYTHON, steps, rounds=1, records=5000)
    assert len(table.figures) == 3 * len(IN_PYTHON) - len(memory.CANNOT)
    assert all(50 < figure.median < 5000 for figure in table.figures)
