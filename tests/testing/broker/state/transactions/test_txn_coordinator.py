"""Who may begin, extend and end which transaction; what time and moving coordinators do to it."""

import pytest

from aiokafka_lite.errors import (
    ConcurrentTransactions,
    InvalidProducerIdMapping,
    InvalidRequestError,
    InvalidTransactionTimeout,
    InvalidTxnState,
    ProducerFenced,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import (
    TxnProducerId,
    TxnState,
)
from tests.testing.broker.bench import Bench

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
TIMEOUT_S = 10


def bench_of(version: int = 2, nodes: int = 1) -> Bench:
    bench = Bench(nodes, transaction_version=version)
    bench.topic(partitions=2)
    return bench


def init(bench: Bench, *claim: int) -> TxnProducerId:
    claimed = TxnProducerId(*claim) if claim else None
    return bench.transactions.init_producer_id("tx", TIMEOUT_S * 1000, claimed)


def begun(bench: Bench) -> TxnProducerId:
    producer = init(bench)
    bench.transactions.add("tx", producer, partitions=[T0], groups=["g"])
    return producer


def end(
    bench: Bench, producer: tuple[int, int], *, is_commit: bool = True, v2: bool = True
) -> tuple[int, int]:
    return bench.transactions.end(
        "tx", TxnProducerId(*producer), is_commit=is_commit, bumps_epoch=v2
    )


def state(bench: Bench) -> TxnState:
    return bench.transactions.view("tx").state


def markers(bench: Bench, partition: TopicPartition = T0) -> list[tuple[int, int]]:
    """Last stable offset and end of the log."""
    log = bench.cluster.partition(partition).log
    return [(log.last_stable_offset, log.log_end_offset)]


# InitProducerId…


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_a_timeout_out_of_range_is_refused(timeout_ms: int) -> None:
    with pytest.raises(InvalidTransactionTimeout, match=r"1 to 900000 ms"):
        bench_of().transactions.init_producer_id("tx", timeout_ms, None)


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_initialising_aborts_what_is_open_first(version: int) -> None:
    """InitProducerId first aborts the transaction that is open (2d'-4, KAFKA-19367)."""
    bench = bench_of(version)
    assert begun(bench) == (0, 0)
    with pytest.raises(ConcurrentTransactions, match="aborted first"):
        init(bench)
    assert state(bench) is TxnState.COMPLETE_ABORT
    assert markers(bench) == [(1, 1)]
    if version == 2:
        assert init(bench, 0, 0) == (0, 1)
    else:
        with pytest.raises(ProducerFenced):
            init(bench, 0, 0)
    assert init(bench) == (0, 2)
    assert bench.clock.pending_timers == 0


async def test_initialising_waits_until_the_markers_are_written() -> None:
    bench = bench_of()
    producer = begun(bench)
    bench.transactions.markers.hold()
    end(bench, producer)
    with pytest.raises(ConcurrentTransactions, match="is being ended"):
        init(bench)
    with pytest.raises(ProducerFenced):
        init(bench, 5, 5)
    bench.transactions.markers.release()
    assert init(bench) == (0, 2)


# AddPartitionsToTxn…


async def test_only_the_present_producer_extends_its_transaction() -> None:
    bench = bench_of()
    init(bench)
    producer = init(bench)
    add = bench.transactions.add
    for epoch in (0, 2):
        with pytest.raises(ProducerFenced, match="is not in use"):
            add("tx", TxnProducerId(0, epoch), partitions=[T0])
    with pytest.raises(InvalidProducerIdMapping, match="has the producer id 0, not 1"):
        add("tx", TxnProducerId(1, 1), partitions=[T0])
    with pytest.raises(InvalidProducerIdMapping, match="no producer has the id 'other'"):
        add("other", producer, partitions=[T0])
    with pytest.raises(InvalidRequestError, match="needs a transactional id"):
        add("", producer, partitions=[T0])
    assert state(bench) is TxnState.EMPTY
    add("tx", producer, partitions=[T0])
    add("tx", producer, partitions=[T1])
    assert bench.transactions.view("tx").partitions == {T0, T1}


async def test_who_takes_part() -> None:
    bench = bench_of()
    producer = begun(bench)
    takes_part = bench.transactions.takes_part
    assert [takes_part("tx", producer, member) for member in (T0, T1, "g", "h")] == [
        True,
        False,
        True,
        False,
    ]


async def test_nothing_is_added_while_the_last_transaction_is_being_ended() -> None:
    bench = bench_of()
    producer = begun(bench)
    bench.transactions.markers.hold()
    going_on = end(bench, producer)
    with pytest.raises(ConcurrentTransactions):
        bench.transactions.add("tx", TxnProducerId(*going_on), partitions=[T0])
    with pytest.raises(ConcurrentTransactions):
        bench.transactions.takes_part("tx", TxnProducerId(*going_on), T0)


# EndTxn…


@pytest.mark.parametrize("is_commit", [True, False])
async def test_ending_in_v1(*, is_commit: bool) -> None:
    """Source: endTransactionWithTV1."""
    bench = bench_of(1)
    producer = init(bench)
    with pytest.raises(InvalidTxnState):
        end(bench, producer, is_commit=is_commit, v2=False)
    bench.transactions.add("tx", producer, partitions=[T0])
    for _ in range(2):
        assert end(bench, producer, is_commit=is_commit, v2=False) == (0, 0)
    with pytest.raises(InvalidTxnState, match="cannot"):
        end(bench, producer, is_commit=not is_commit, v2=False)
    with pytest.raises(ProducerFenced):
        end(bench, (0, 1), v2=False)
    assert markers(bench) == [(1, 1)]


@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize("v2", [True, False])
async def test_ending_once_more_while_the_markers_are_held(*, is_commit: bool, v2: bool) -> None:
    bench = bench_of()
    producer = begun(bench)
    bench.transactions.markers.hold()
    end(bench, producer, is_commit=is_commit, v2=v2)
    with pytest.raises(ConcurrentTransactions):
        end(bench, producer, is_commit=is_commit, v2=v2)
    with pytest.raises(InvalidTxnState):
        end(bench, producer, is_commit=not is_commit, v2=v2)
    if v2:
        with pytest.raises(ProducerFenced):
            end(bench, (0, 1), is_commit=is_commit)


async def test_ending_in_v2_what_has_not_begun() -> None:
    """The table in TransactionCoordinator.endTransaction; the real ones are asked elsewhere."""
    bench = bench_of()
    producer = init(bench)
    with pytest.raises(InvalidTxnState, match="cannot commit"):
        end(bench, producer)
    assert end(bench, producer, is_commit=False) == (0, 1)
    assert end(bench, producer, is_commit=False) == (0, 1)
    with pytest.raises(InvalidTxnState):
        end(bench, producer)
    assert end(bench, (0, 1), is_commit=False) == (0, 2)
    with pytest.raises(ProducerFenced):
        end(bench, producer, is_commit=False)
    with pytest.raises(InvalidProducerIdMapping):
        end(bench, (5, 2), is_commit=False)
    assert markers(bench) == [(0, 0)]


async def test_the_id_changes_with_the_last_epoch() -> None:
    """The producer id changes with the last epoch, as on Apache Kafka 4.3.1 (KIP-890)."""
    bench = bench_of()
    init(bench)
    for epoch in range(32_766):
        assert end(bench, (0, epoch), is_commit=False) == (0, epoch + 1)
    bench.transactions.add("tx", TxnProducerId(0, 32_766), partitions=[T0])
    for _ in range(2):
        assert end(bench, (0, 32_766)) == (1, 0)
    with pytest.raises(InvalidTxnState):
        end(bench, (0, 32_766), is_commit=False)
    bench.transactions.add("tx", TxnProducerId(1, 0), partitions=[T0])
    with pytest.raises(InvalidProducerIdMapping):
        end(bench, (0, 32_766))
    assert end(bench, (1, 0)) == (1, 1)


# Time…


@pytest.mark.parametrize("version", [1, 2])
async def test_what_takes_too_long_is_aborted_and_fenced(version: int) -> None:
    """A transaction that outlives its timeout is aborted, and its producer is fenced (KIP-98)."""
    bench = bench_of(version)
    producer = begun(bench)
    await bench.clock.advance(TIMEOUT_S - 1)
    bench.transactions.add("tx", producer, partitions=[T1])
    assert state(bench) is TxnState.ONGOING
    await bench.clock.advance(1.1)
    view = bench.transactions.view("tx")
    assert (view.state, view.producer_epoch) == (TxnState.COMPLETE_ABORT, 1)
    assert markers(bench, T0) + markers(bench, T1) == [(1, 1), (1, 1)]
    with pytest.raises(ProducerFenced):
        bench.transactions.add("tx", producer, partitions=[T0])


async def test_each_transaction_has_the_whole_time() -> None:
    bench = bench_of()
    producer = begun(bench)
    for _ in range(3):
        await bench.clock.advance(TIMEOUT_S - 1)
        producer = TxnProducerId(*end(bench, producer))
        assert bench.clock.pending_timers == 0
        bench.transactions.add("tx", producer, partitions=[T0])
    assert state(bench) is TxnState.ONGOING
    bench.transactions.close()
    assert bench.clock.pending_timers == 0


async def test_without_a_coordinator_nothing_is_aborted_before_there_is_one() -> None:
    bench = bench_of()
    begun(bench)
    bench.transactions.nodes.move("tx", None)
    await bench.clock.advance(TIMEOUT_S + 1)
    assert state(bench) is TxnState.ONGOING
    bench.transactions.nodes.move("tx", 1)
    assert state(bench) is TxnState.COMPLETE_ABORT


async def test_a_transaction_outlives_its_coordinator() -> None:
    bench = bench_of(nodes=3)
    producer = begun(bench)
    former = bench.transactions.view("tx").coordinator
    assert former is not None
    bench.cluster.set_alive(former, is_alive=False)
    view = bench.transactions.view("tx")
    assert view.coordinator not in (None, former)
    assert view.state is TxnState.ONGOING
    assert end(bench, producer) == (0, 1)


async def test_all_nodes_down_and_up_again() -> None:
    bench = bench_of()
    producer = begun(bench)
    bench.transactions.markers.hold()
    end(bench, producer)
    bench.cluster.set_alive(1, is_alive=False)
    bench.transactions.markers.release()
    assert state(bench) is TxnState.PREPARE_COMMIT, "no leader takes the marker"
    bench.cluster.set_alive(1, is_alive=True)
    assert state(bench) is TxnState.COMPLETE_COMMIT
