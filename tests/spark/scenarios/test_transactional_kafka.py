"""Transactions of Spark's, against real brokers: both protocols, and what coordinators say of ends
that come again, or too late.
"""

from collections.abc import Callable

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyarrow", reason=NO_SPARK)

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.write.transactional_commit import (
    TransactionLostError,
    abort_transactions,
    commit_transactions,
)
from aiokafka_lite.spark.write.transactional_marker import ReplayMismatchError
from tests.spark.support.writing import Write, options, seen


@pytest.fixture
def topic(any_kafka: str, new_topic: Callable[[str], str]) -> str:
    return new_topic(any_kafka)


@pytest.fixture
def write(here: Worker, any_kafka: str, topic: str) -> Write:
    return Write(here, options(any_kafka, topic), scope=topic)


def readable(write: Write, any_kafka: str, topic: str) -> str:
    return "".join(seen(write.here, any_kafka, topic, partitions=1))


def test_a_crash_between_two_commits_is_mended(write: Write, any_kafka: str, topic: str) -> None:
    commit_transactions(write.tasks(0, "a", "b"), write.options, write.here)
    first, second = write.tasks(1, "cd", "ef")
    commit_transactions([first, None], write.options, write.here)
    again = write.tasks(1, "dc", "fe")
    assert [bool(task and task.transaction) for task in again] == [False, True]
    commit_transactions(again, write.options, write.here)
    commit_transactions(again, write.options, write.here)  # the same end again is no other end
    with pytest.raises(TransactionLostError, match="0 of 1 transactions"):
        commit_transactions([None, second], write.options, write.here)
    abort_transactions([second, *again], write.options, write.here)
    assert readable(write, any_kafka, topic) == "abcdef"
    with pytest.raises(ReplayMismatchError, match="2 rows of batch 1"):
        write.tasks(1, "cx")
    with pytest.raises(ReplayMismatchError, match="batch 0 comes to"):
        write.tasks(0, "a")


def test_fewer_tasks_fence_those_that_are_no_more(write: Write, any_kafka: str, topic: str) -> None:
    commit_transactions(write.tasks(0, "a", "b", "c"), write.options, write.here)
    left = write.tasks(1, "d", "e", "f")
    commit_transactions(write.tasks(1, "def"), write.options, write.here)
    for task in left:
        with pytest.raises(TransactionLostError):
            commit_transactions([task], write.options, write.here)
    assert readable(write, any_kafka, topic) == "abcdef"


def test_a_timeout_the_broker_does_not_allow_is_named(
    here: Worker, any_kafka: str, topic: str
) -> None:
    given = options(any_kafka, topic, transactionTimeoutMs="900001")
    with pytest.raises(KafkaConfigurationError, match=r"transactionTimeoutMs=900001.*max\.timeout"):
        Write(here, given, scope=topic).task(0, 0, "a")
