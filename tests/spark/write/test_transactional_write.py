"""A task's rows and its marker are one transaction, which the executor leaves open."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyarrow", reason=NO_SPARK)

import pyarrow as pa

from aiokafka_lite.errors import KafkaConfigurationError, SerializationError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.write import transactional_write
from aiokafka_lite.spark.write.transactional_commit import abort_transactions, commit_transactions
from aiokafka_lite.spark.write.transactional_marker import (
    ReplayMismatchError,
    TaskPlace,
    TaskTransaction,
)
from aiokafka_lite.spark.write.transactional_write import write_in_transaction
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnState
from tests.spark.support.writing import SCOPE, Write, options, seen
from tests.support.patience import PATIENCE_S, eventually

T0 = TopicPartition("t", 0)


@pytest.fixture
def broker(transaction_broker: EmbeddedBroker) -> EmbeddedBroker:
    return transaction_broker


@pytest.fixture
def write(here: Worker, broker: EmbeddedBroker) -> Write:
    return Write(here, options(broker.bootstrap_servers))


def test_rows_count_when_the_driver_says_so(write: Write, broker: EmbeddedBroker) -> None:
    servers = broker.bootstrap_servers
    tasks = write.tasks(0, "ab", "c", "")
    assert seen(write.here, servers) == []
    assert [task.rows for task in tasks if task] == [2, 1, 0]
    assert [bool(task.transaction) for task in tasks if task] == [True, True, False]
    commit_transactions(tasks, write.options, write.here)
    assert seen(write.here, servers) == ["a", "b", "c"]
    commit_transactions(write.tasks(1, "", "d"), write.options, write.here)
    assert seen(write.here, servers) == ["a", "b", "c", "d"]


def test_what_a_task_leaves_open_is_not_ended_by_its_process(
    write: Write, broker: EmbeddedBroker
) -> None:
    """Neither by the next task, which has the same producer, nor at its end."""
    tasks = write.tasks(0, "a", "b")
    assert len(write.here.clients) == 1
    write.here.run(write.here.clients.close)
    assert broker.requests_of(EndTxnRequest) == []
    commit_transactions(tasks, write.options, write.here)
    assert seen(write.here, broker.bootstrap_servers) == ["a", "b"]


def test_a_later_attempt_throws_out_the_earlier(write: Write, broker: EmbeddedBroker) -> None:
    write.task(0, 0, "a", "b")
    again = write.task(0, 0, "a", "b")
    commit_transactions([again], write.options, write.here)
    assert seen(write.here, broker.bootstrap_servers) == ["a", "b"]


def test_an_attempt_leaves_one_alone_that_the_driver_is_about_to_commit(
    write: Write, broker: EmbeddedBroker
) -> None:
    """Speculation: both attempts ran at once, and either may end first."""
    first = write.task(0, 0, "a", "b")
    broker.forget_requests()
    with ThreadPoolExecutor(1) as thread:
        later = thread.submit(write.task, 0, 0, "a", "b", has_rivals=True)
        asyncio.run(eventually(lambda: broker.requests_of(OffsetFetchRequest)))
        commit_transactions([first], write.options, write.here)
        assert later.result(PATIENCE_S).transaction is None
    assert not broker.requests_of(InitProducerIdRequest)
    assert seen(write.here, broker.bootstrap_servers) == ["a", "b"]


def test_a_later_attempt_takes_over_from_one_that_nobody_commits(
    write: Write, broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its executor is gone, and Spark never heard of its end."""
    monkeypatch.setattr(transactional_write, "_SETTLES_S", 0.1)
    write.task(0, 0, "a", "b")
    later = write.task(0, 0, "a", "b", has_rivals=True)
    commit_transactions([later], write.options, write.here)
    assert seen(write.here, broker.bootstrap_servers) == ["a", "b"]


def test_a_batch_that_comes_again_passes_over_what_is_committed(
    write: Write, broker: EmbeddedBroker
) -> None:
    """A crash of the driver between two EndTxn: the first is committed, the second is open."""
    first, _ = write.tasks(7, "ab", "cd")
    commit_transactions([first, None], write.options, write.here)
    again = write.tasks(7, "ba", "cd")  # a shuffle brings them in another order
    assert [(task.rows, bool(task.transaction)) for task in again if task] == [
        (0, False),
        (2, True),
    ]
    commit_transactions(again, write.options, write.here)
    assert seen(write.here, broker.bootstrap_servers) == ["a", "b", "c", "d"]
    third = write.tasks(7, "ab", "cd")
    assert not any(task.transaction for task in third if task)
    commit_transactions(third, write.options, write.here)
    commit_transactions(write.tasks(8, "e", ""), write.options, write.here)
    assert seen(write.here, broker.bootstrap_servers) == ["a", "b", "c", "d", "e"]


def test_a_first_marker_counts_that_its_coordinator_stores_late(
    write: Write, broker: EmbeddedBroker
) -> None:
    """Before Kafka 4.0 a group learns a moment later that a transaction is committed.

    Another producer stands for that moment here: it has the marker in an open transaction.
    """
    write.task(0, 0, "a", "b")
    (sent,) = broker.requests_of(TxnOffsetCommitRequest)
    marker = OffsetAndMetadata(0, sent.topics[0].partitions[0].committed_metadata or "")

    async def again() -> TaskTransaction:
        servers = broker.bootstrap_servers
        async with AIOKafkaProducer(bootstrap_servers=servers, transactional_id="late") as producer:
            async with producer.transaction():
                await producer.send_offsets_to_transaction({T0: marker}, f"{SCOPE}-0")
                broker.forget_requests()
                looks = asyncio.create_task(asyncio.to_thread(write.task, 0, 0, "a", "b"))
                fetches = broker.requests_of
                await eventually(lambda: looks.done() or len(fetches(OffsetFetchRequest)) > 1)
            return await looks

    assert asyncio.run(again()).transaction is None
    assert seen(write.here, broker.bootstrap_servers) == []


@pytest.mark.parametrize("came", ["ac", "a", "abc", ""])
def test_other_rows_under_the_same_number_are_an_error(write: Write, came: str) -> None:
    commit_transactions(write.tasks(3, "ab"), write.options, write.here)
    with pytest.raises(ReplayMismatchError, match=r"2 rows of batch 3 .* other rows"):
        write.tasks(3, came)


def test_an_older_batch_than_the_newest_is_an_error(write: Write) -> None:
    """A checkpoint that was restored, or copied: nobody knows which rows these are."""
    commit_transactions(write.tasks(3, "ab"), write.options, write.here)
    with pytest.raises(ReplayMismatchError, match="batch 2 comes to 'p-query-0', which has"):
        write.tasks(2, "ab")


def test_an_attempt_that_fails_leaves_nothing_open(write: Write, broker: EmbeddedBroker) -> None:
    bad = pa.RecordBatch.from_pydict({"topic": ["t", None], "value": ["a", "b"]})
    good = pa.RecordBatch.from_pydict({"topic": ["t"], "value": ["a"]})
    given = options(broker.bootstrap_servers, topic=None)
    place = TaskPlace(SCOPE, 0, 0)
    with pytest.raises(SerializationError, match="null topic"):
        write_in_transaction([good, bad], ("topic", "value"), given, place, write.here)
    assert broker.transaction(place.transactional_id).state is not TxnState.ONGOING
    assert len(write.here.clients) == 0
    task = write_in_transaction([good], ("topic", "value"), given, place, write.here)
    commit_transactions([task], given, write.here)
    assert seen(write.here, broker.bootstrap_servers) == ["a"]


def test_a_batch_query_has_no_markers_and_all_or_nothing(
    write: Write, broker: EmbeddedBroker
) -> None:
    tasks = write.tasks(None, "ab", "c")
    abort_transactions(tasks, write.options, write.here)
    assert seen(write.here, broker.bootstrap_servers) == []
    tasks = write.tasks(None, "ab", "c")
    commit_transactions(tasks, write.options, write.here)
    assert seen(write.here, broker.bootstrap_servers) == ["a", "b", "c"]
    assert broker.requests_of(TxnOffsetCommitRequest) == []


def test_a_task_of_a_batch_query_without_rows_asks_nobody(
    write: Write, broker: EmbeddedBroker
) -> None:
    broker.forget_requests()
    tasks = [write.task(number, None) for number in range(3)]
    assert not any(task.transaction or task.rows for task in tasks)
    assert broker.requests_of(InitProducerIdRequest) == []
    assert len(write.here.clients) == 0


def test_a_first_task_without_rows_has_a_marker_if_its_topic_exists(
    here: Worker,
    make_kafka_broker: Callable[..., EmbeddedBroker],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transactional_write, "_TOPIC_TIMEOUT_S", 0.1)
    broker = make_kafka_broker(auto_create_topics=False)
    write = Write(here, options(broker.bootstrap_servers))
    assert write.task(0, 0).transaction is None
    broker.create_topic("t")
    here.run(here.clients.close)  # which remember that there is none
    assert [bool(write.task(number, 0).transaction) for number in range(2)] == [True, False]


def test_a_timeout_the_brokers_do_not_allow_is_named(here: Worker, broker: EmbeddedBroker) -> None:
    given = options(broker.bootstrap_servers, transactionTimeoutMs="900001")
    with pytest.raises(KafkaConfigurationError, match=r"transactionTimeoutMs=900001.*max\.timeout"):
        Write(here, given).task(0, 0, "a")
