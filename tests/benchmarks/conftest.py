"""A broker for child processes, and a progress bar that nobody sees."""

from collections.abc import Iterator

import pytest
from rich.progress import Progress

from aiokafka_lite.testing.broker import EmbeddedBroker
from benchmarks.report.progress import Steps


@pytest.fixture
def steps() -> Steps:
    return Steps(Progress(disable=True))


@pytest.fixture
def address() -> Iterator[str]:
    with EmbeddedBroker.threaded() as broker:
        yield broker.bootstrap_servers
