"""One round of the imports."""

from benchmarks.clients import imports
from benchmarks.processes.harness import GROUP_PEERS
from benchmarks.report.progress import Steps


def test_every_import_costs_something(steps: Steps) -> None:
    table = imports.measure(GROUP_PEERS, steps, rounds=1)
    assert len(table.figures) == 2 * len(GROUP_PEERS)
    assert all(figure.median > 0 for figure in table.figures)
