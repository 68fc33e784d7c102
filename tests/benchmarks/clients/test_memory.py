"""A short run of every client: what holds records grows by about their bytes, and not by much more.

20,000 records are 2 MB, which is more than what a process frees and takes again meanwhile.
"""

from benchmarks.clients import memory
from benchmarks.clients.paths import IN_PYTHON
from benchmarks.report.progress import Steps


def test_every_client_holds_what_a_broker_does_not_take(steps: Steps) -> None:
    table = memory.measure(IN_PYTHON, steps, rounds=1, records=20_000)
    assert len(table.figures) == 3 * len(IN_PYTHON) - len(memory.CANNOT)
    odd = [figure for figure in table.figures if not 50 < figure.median < 5000]
    assert odd == []
