"""The command line against an embedded broker in its own thread, as a person would use it."""

from collections.abc import Callable, Iterator

import pytest
from typer.testing import CliRunner, Result

from aiokafka_lite.cli.app import app
from aiokafka_lite.testing.broker import EmbeddedBroker

Invoke = Callable[..., Result]


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker.threaded() as broker:
        yield broker


@pytest.fixture
def invoke(broker: EmbeddedBroker) -> Invoke:
    """Run one command against the broker: `invoke("topics", "list")`."""
    return invoke_on(broker)


def invoke_on(broker: EmbeddedBroker) -> Invoke:
    """Return what runs one command against a broker."""
    runner = CliRunner()

    def run(*arguments: str, stdin: str | None = None) -> Result:
        environment = {"KAFKA_BOOTSTRAP_SERVERS": broker.bootstrap_servers, "COLUMNS": "120"}
        return runner.invoke(app, list(arguments), input=stdin, env=environment)

    return run
