"""The driver ends what tasks have prepared: all of it, whatever happens meanwhile."""

from concurrent.futures import ThreadPoolExecutor, wait

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyarrow", reason=NO_SPARK)

from aiokafka_lite.errors import KafkaTimeoutError
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.write.transactional_commit import (
    TransactionLostError,
    abort_transactions,
    commit_transactions,
)
from aiokafka_lite.spark.write.transactional_marker import ReplayMismatchError, TaskTransaction
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnState
from tests.spark.support.writing import SCOPE, Write, options, seen


@pytest.fixture
def broker(transaction_broker: EmbeddedBroker) -> EmbeddedBroker:
    return transaction_broker


@pytest.fixture
def write(here: Worker, broker: EmbeddedBroker) -> Write:
    return Write(here, options(broker.bootstrap_servers))


def commit(write: Write, tasks: list[TaskTransaction | None]) -> None:
    commit_transactions(tasks, write.options, write.here)


def seen_by_readers(write: Write, broker: EmbeddedBroker) -> str:
    return "".join(seen(write.here, broker.bootstrap_servers))


def state(broker: EmbeddedBroker, task: int) -> TxnState:
    return broker.transaction(f"{SCOPE}-{task}").state


def test_a_commit_whose_answer_was_lost_is_recognised(write: Write, broker: EmbeddedBroker) -> None:
    """By the epoch behind it in the second protocol (KIP-890), by the state in the first."""
    tasks = write.tasks(0, "a", "b", "c")
    broker.faults.cut(EndTxnRequest, times=2)
    commit(write, tasks)
    assert len(broker.requests_of(EndTxnRequest)) == 5
    assert seen_by_readers(write, broker) == "abc"
    assert state(broker, 0) is TxnState.COMPLETE_COMMIT


def test_a_coordinator_that_moves_or_is_busy_is_asked_again(
    write: Write, broker: EmbeddedBroker
) -> None:
    tasks = write.tasks(0, "a", "b")
    here = broker.transaction(f"{SCOPE}-0").coordinator
    broker.move_transaction_coordinator(f"{SCOPE}-0", 3 - (here or 1))
    broker.hold_transaction_markers()
    broker.faults.cut(EndTxnRequest, times=1)  # it is being committed, and nobody has said so
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(commit, write, tasks)
        while len(broker.requests_of(EndTxnRequest)) < 4 and not done.done():
            wait([done], timeout=0.01)
        broker.release_transaction_markers()
        done.result(30)
    assert seen_by_readers(write, broker) == "ab"


def test_who_was_overtaken_commits_nothing(write: Write, broker: EmbeddedBroker) -> None:
    """A driver that was paused while another one took over, with other rows in each task."""
    overtaken = write.tasks(4, "", "ab", "cd", "ef")
    write.tasks(4, "abcdef", "")
    with pytest.raises(TransactionLostError, match=r"another attempt .* 0 of 4 transactions"):
        commit(write, overtaken)
    assert seen_by_readers(write, broker) == ""
    assert [state(broker, task) for task in (2, 3)] == [TxnState.ONGOING] * 2
    abort_transactions(overtaken, write.options, write.here)
    assert [state(broker, task) for task in (2, 3)] == [TxnState.COMPLETE_ABORT] * 2
    assert state(broker, 0) is TxnState.ONGOING


def test_a_driver_that_divides_a_batch_otherwise_comes_too_late(
    write: Write, broker: EmbeddedBroker
) -> None:
    """A job that was started again with other options, while its last driver still runs. The first
    task of one of them has no rows."""
    write.task(1, 4, "b", "c")
    commit(write, write.tasks(4, "", "abc"))
    with pytest.raises(ReplayMismatchError, match=r"'p-query-0' has written 0 rows of batch 4"):
        write.task(0, 4, "a")
    assert seen_by_readers(write, broker) == "abc"


def test_of_two_drivers_that_divide_a_batch_otherwise_one_commits(
    write: Write, broker: EmbeddedBroker
) -> None:
    """Each has one task that the other one has not overtaken."""
    slow = write.task(1, 4, "b", "c")
    overtaken = write.tasks(4, "", "abc")
    first = write.task(0, 4, "a")
    with pytest.raises(TransactionLostError, match="1 of 2 transactions"):
        commit(write, [first, slow])
    with pytest.raises(TransactionLostError, match="0 of 2 transactions"):
        commit(write, overtaken)
    abort_transactions(overtaken, write.options, write.here)
    assert seen_by_readers(write, broker) == "a"
    commit(write, write.tasks(4, "a", "bc"))
    assert seen_by_readers(write, broker) == "abc"


def test_a_failure_between_two_says_how_many_count_and_the_replay_mends_it(
    write: Write, broker: EmbeddedBroker
) -> None:
    tasks = write.tasks(4, "ab", "cd", "ef")
    write.task(1, 4, "c", "d")
    with pytest.raises(TransactionLostError, match=r"2 of 3 transactions of this write are known"):
        commit(write, tasks)
    abort_transactions(tasks, write.options, write.here)
    assert seen_by_readers(write, broker) == "abef"
    commit(write, write.tasks(4, "ab", "cd", "ef"))
    assert seen_by_readers(write, broker) == "abcdef"


def test_no_answer_is_an_error_in_time(here: Worker, broker: EmbeddedBroker) -> None:
    write = Write(here, options(broker.bootstrap_servers, transactionTimeoutMs="400"))
    tasks = write.tasks(None, "a")
    broker.faults.stall(EndTxnRequest, times=None)
    with pytest.raises(KafkaTimeoutError, match=r"nobody knows whether it took place") as raised:
        commit(write, tasks)
    assert raised.value.__notes__ == ["0 of 1 transactions of this write are known to be committed"]
    abort_transactions(tasks, write.options, here)  # which fails as well, and only says so
    broker.faults.release()


def test_nothing_is_asked_for_nothing(write: Write, broker: EmbeddedBroker) -> None:
    broker.forget_requests()
    tasks = write.tasks(None, "", "")
    commit(write, [*tasks, None])
    abort_transactions([*tasks, None], write.options, write.here)
    assert broker.requests_of(EndTxnRequest) == []


def test_to_abort_what_is_committed_changes_nothing(write: Write, broker: EmbeddedBroker) -> None:
    """Spark aborts all of a batch whose commit has failed."""
    tasks = write.tasks(0, "a")
    commit(write, tasks)
    abort_transactions(tasks, write.options, write.here)
    assert seen_by_readers(write, broker) == "a"
    commit(write, write.tasks(1, "b"))
    assert seen_by_readers(write, broker) == "ab"


def test_of_a_batch_query_what_a_killed_task_has_left_open_is_aborted_too(
    write: Write, broker: EmbeddedBroker
) -> None:
    """Spark kills the tasks beside one that failed, and such a task leaves no message."""
    first, _ = write.tasks(None, "a", "b")
    abort_transactions([first, None], write.options, write.here, scope=SCOPE)
    assert state(broker, 0) is TxnState.COMPLETE_ABORT
    assert state(broker, 1) is TxnState.EMPTY


def test_of_a_stream_what_a_killed_task_has_left_open_is_aborted_by_the_word_of_another(
    write: Write, broker: EmbeddedBroker
) -> None:
    """A batch query in foreachBatch has a scope of its own, and its tasks that of the stream."""
    first, _ = write.tasks(7, "a", "b")
    abort_transactions([first, None], write.options, write.here, scope="p-another")
    assert state(broker, 0) is TxnState.COMPLETE_ABORT
    assert state(broker, 1) is TxnState.EMPTY


def test_of_a_stream_that_is_stopped_nothing_stays_open(
    here: Worker, broker: EmbeddedBroker
) -> None:
    """All tasks are killed, and none tells which query it was: the note at its checkpoint does."""
    given = options(broker.bootstrap_servers, checkpointLocation="/c")
    write = Write(here, given, scope="p-1b4e28ba")
    write.tasks(7, "a", "b", "")
    abort_transactions([None, None, None], given, here)
    states = [broker.transaction(f"p-1b4e28ba-{task}").state for task in range(3)]
    assert states == [TxnState.EMPTY] * 3
    commit_transactions(write.tasks(7, "a", "b", ""), given, here)
    assert seen_by_readers(write, broker) == "ab"


def test_without_a_note_the_log_says_how_long_readers_wait(
    write: Write, broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    write.tasks(7, "a", "b")
    abort_transactions([None, None], write.options, write.here)
    assert state(broker, 0) is TxnState.ONGOING
    (said,) = caplog.messages
    assert "transactions of 2 tasks may stay open" in said
    assert "for transactionTimeoutMs=120000" in said


# The number of tasks…


def test_the_number_of_tasks_is_stored_when_it_changes(
    write: Write, broker: EmbeddedBroker
) -> None:
    commit(write, write.tasks(0, "a", "b", "c"))
    commit(write, write.tasks(1, "d", "e", "f"))
    commit(write, write.tasks(2, "g"))
    commit(write, write.tasks(3, "h"))
    stored = broker.requests_of(OffsetCommitRequest)
    assert [each.topics[0].partitions[0].committed_metadata for each in stored] == [
        '{"tasks": 3}',
        '{"tasks": 1}',
    ]
    assert seen_by_readers(write, broker) == "abcdefgh"


def test_fewer_tasks_do_not_write_again_what_another_has_committed(
    write: Write, broker: EmbeddedBroker
) -> None:
    tasks = write.tasks(5, "ab", "cd", "ef")
    write.tasks(5, "ab", "cd")  # in the way of the first two only
    with pytest.raises(TransactionLostError):
        commit(write, tasks)
    commit_transactions([None, None, tasks[2]], write.options, write.here)  # as if it came through
    fewer = write.tasks(5, "abc", "def")
    with pytest.raises(ReplayMismatchError, match=r"'p-query-2' has written 2 rows of batch 5"):
        commit(write, fewer)
    assert seen_by_readers(write, broker) == "ef"


def test_fewer_tasks_see_to_it_that_no_other_can_commit(
    write: Write, broker: EmbeddedBroker
) -> None:
    commit(write, write.tasks(4, "1", "2", "3"))
    write.tasks(5, "ab", "cd", "ef")
    assert state(broker, 2) is TxnState.ONGOING
    commit(write, write.tasks(5, "abc", "def"))
    assert state(broker, 2) is TxnState.EMPTY
    assert seen_by_readers(write, broker) == "123abcdef"
