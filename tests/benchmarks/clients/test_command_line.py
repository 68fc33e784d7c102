"""One round of the command line."""

from benchmarks.clients import command_line
from benchmarks.report.progress import Steps
from benchmarks.report.results import OURS


def test_every_way_sends_the_lines(steps: Steps, address: str) -> None:
    table = command_line.measure(address, steps, rounds=1, lines=1_000)
    ways = {figure.client for figure in table.figures}
    assert ways == {OURS, command_line.KEYED, command_line.LIBRARY}
