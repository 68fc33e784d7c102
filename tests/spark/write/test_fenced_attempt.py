"""Two attempts of a task at once, as speculation starts them."""

from collections.abc import Callable, Iterator

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyarrow", reason=NO_SPARK)

import pyarrow as pa

from aiokafka_lite.errors import ProducerFenced, SerializationError
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.write.fenced_attempt import waits_when_fenced
from aiokafka_lite.spark.write.transactional_commit import commit_transactions
from aiokafka_lite.spark.write.transactional_marker import TaskPlace, TaskTransaction
from aiokafka_lite.spark.write.transactional_write import write_in_transaction
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.writing import COLUMNS, SCOPE, Write, options, rows, seen


class Sleeper:
    """A clock on which nobody waits for long."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, delay_s: float) -> None:
        self.slept.append(delay_s)


@pytest.fixture
def write(here: Worker, transaction_broker: EmbeddedBroker) -> Write:
    return Write(here, options(transaction_broker.bootstrap_servers))


def attempt(write: Write, clock: Sleeper, between: Callable[[], object]) -> TaskTransaction:
    """An attempt that writes a row, lets something happen, and writes another."""

    def taken() -> Iterator[pa.RecordBatch]:
        yield from rows("a")
        between()
        yield from rows("b")

    with waits_when_fenced(write.here, clock):  # type: ignore[arg-type]
        return write_in_transaction(
            taken(), COLUMNS, write.options, TaskPlace(SCOPE, 0, 0), write.here
        )


def test_a_fenced_attempt_waits_for_the_later_one(
    write: Write, transaction_broker: EmbeddedBroker
) -> None:
    later: list[TaskTransaction] = []
    clock = Sleeper()
    with pytest.raises(ProducerFenced):
        attempt(write, clock, lambda: later.append(write.task(0, 0, "a", "b")))
    assert clock.slept == [30.0]
    commit_transactions(later, write.options, write.here)
    assert seen(write.here, transaction_broker.bootstrap_servers) == ["a", "b"]


def test_any_other_failure_is_told_at_once(write: Write) -> None:
    def fail() -> None:
        raise SerializationError("no such row")

    clock = Sleeper()
    with pytest.raises(SerializationError):
        attempt(write, clock, fail)
    assert clock.slept == []


def test_an_attempt_that_gets_no_row_any_more_fences_nobody(
    write: Write, transaction_broker: EmbeddedBroker
) -> None:
    """The earlier attempt has succeeded, and Spark has ended the later one meanwhile."""

    def killed() -> Iterator[pa.RecordBatch]:
        raise EOFError
        yield

    first = write.task(0, 0, "a")
    transaction_broker.forget_requests()
    with pytest.raises(EOFError):
        write_in_transaction(killed(), COLUMNS, write.options, TaskPlace(SCOPE, 0, 0), write.here)
    assert not transaction_broker.requests_of(InitProducerIdRequest)
    commit_transactions([first], write.options, write.here)
    assert seen(write.here, transaction_broker.bootstrap_servers) == ["a"]
