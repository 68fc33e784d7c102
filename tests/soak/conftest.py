"""Prints the figures of all rounds in one table at the end of the run."""

import pytest

from tests.faults.producer_fault_rounds import Round, table

_ROUNDS = pytest.StashKey[list[Round]]()


def pytest_configure(config: pytest.Config) -> None:
    """Begin the list of rounds of this run."""
    config.stash[_ROUNDS] = []


@pytest.fixture
def rounds(pytestconfig: pytest.Config) -> list[Round]:
    """The rounds that have passed so far. Each test adds its own."""
    return pytestconfig.stash.setdefault(_ROUNDS, [])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table, if any round has passed."""
    played = terminalreporter.config.stash.get(_ROUNDS, [])
    if played:
        terminalreporter.section("faults of a producer: rounds passed, longest times, all records")
        for line in table(played):
            terminalreporter.write_line(line)
