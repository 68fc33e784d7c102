"""Where the time of the suite goes: a table of its rooms after each long run."""

from collections import Counter, defaultdict

import pytest

_FEWEST_CASES = 1_000
"""A shorter run is about one room, and needs no table."""


def print_room_times(reporter: pytest.TerminalReporter) -> None:
    """Print each room's cases and seconds; several processes spend these side by side."""
    cases: Counter[str] = Counter()
    seconds: defaultdict[str, float] = defaultdict(float)
    for reports in reporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                room = "/".join(report.nodeid.partition("::")[0].split("/")[1:-1]) or "."
                seconds[room] += report.duration
                cases[room] += report.when == "call"
    if cases.total() < _FEWEST_CASES:
        return
    reporter.section("seconds by room")
    for room in sorted(seconds, key=seconds.__getitem__, reverse=True):
        reporter.write_line(f"{seconds[room]:8.1f} s {cases[room]:6} cases  {room}")
    reporter.write_line(f"{sum(seconds.values()):8.1f} s {cases.total():6} cases in all")
