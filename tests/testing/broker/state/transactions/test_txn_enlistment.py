"""What a node asks the coordinator before it writes, and how it tells the answer."""

import pytest

from aiokafka_lite.errors import (
    BrokerResponseError,
    ConcurrentTransactions,
    GroupCoordinatorNotAvailableError,
    InvalidProducerEpoch,
    InvalidProducerIdMapping,
    InvalidTxnState,
    TransactionAbortableError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.transactions.txn_enlistment import (
    Enlistment,
    enlist,
    enlistment_of,
    is_retried_by_old_clients,
)
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId
from tests.testing.broker.bench import Bench

T0 = TopicPartition("t", 0)
MEMBERS: list[TopicPartition | str] = [T0, "g"]


def test_versions() -> None:
    """A request's version decides between verifying, refusing abortably, and adding (2d'-7)."""
    found = [
        enlistment_of(version, abortable_since=11, transactions_v2_since=12)
        for version in (3, 10, 11, 12, 13)
    ]
    verify, abortable, add = Enlistment
    assert found == [verify, verify, abortable, add, add]


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize(
    ("enlistment", "error"),
    [
        (Enlistment.VERIFY, InvalidTxnState),
        (Enlistment.VERIFY_ABORTABLE, TransactionAbortableError),
    ],
)
async def test_verifying(
    member: TopicPartition | str, enlistment: Enlistment, error: type[BrokerResponseError]
) -> None:
    """A producer takes part only after its partition or group was added (KIP-890, KIP-1050)."""
    bench = Bench()
    producer = bench.transactions.init_producer_id("tx", 1000, None)
    with pytest.raises(error, match="does not take part"):
        enlist(bench.transactions, "tx", producer, member, enlistment)
    bench.transactions.add("tx", producer, partitions=[T0], groups=["g"])
    enlist(bench.transactions, "tx", producer, member, enlistment)


async def test_adding() -> None:
    bench = Bench()
    producer = bench.transactions.init_producer_id("tx", 1000, None)
    for member in MEMBERS:
        enlist(bench.transactions, "tx", producer, member, Enlistment.ADD)
    view = bench.transactions.view("tx")
    assert (view.partitions, view.groups) == (frozenset({T0}), frozenset({"g"}))


@pytest.mark.parametrize("enlistment", Enlistment)
async def test_who_is_refused_by_the_coordinator(enlistment: Enlistment) -> None:
    bench = Bench()
    producer = bench.transactions.init_producer_id("tx", 1000, None)
    with pytest.raises(InvalidProducerEpoch, match="has been fenced"):
        enlist(bench.transactions, "tx", TxnProducerId(0, 5), T0, enlistment)
    with pytest.raises(InvalidProducerIdMapping):
        enlist(bench.transactions, "tx", TxnProducerId(5, 0), T0, enlistment)
    bench.transactions.nodes.move("tx", None)
    with pytest.raises(GroupCoordinatorNotAvailableError):
        enlist(bench.transactions, "tx", producer, T0, enlistment)


def test_what_old_producers_are_told_as_not_enough_replicas() -> None:
    """Source: ReplicaManager.handleProduceAppend."""
    for enlistment in Enlistment:
        unavailable = GroupCoordinatorNotAvailableError()
        assert is_retried_by_old_clients(unavailable, enlistment)
        assert not is_retried_by_old_clients(InvalidTxnState(), enlistment)
        concurrent = is_retried_by_old_clients(ConcurrentTransactions(), enlistment)
        assert concurrent is (enlistment is not Enlistment.ADD)
