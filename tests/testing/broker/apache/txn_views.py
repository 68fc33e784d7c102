"""What brokers say of producers and transactions to a `TxnPeer` that asks as an administrator."""

from typing import Any, NamedTuple

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from aiokafka_lite.protocol.messages.describe_transactions import DescribeTransactionsRequest
from aiokafka_lite.protocol.messages.list_transactions import ListTransactionsRequest
from aiokafka_lite.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.testing.broker.apache.txn_peers import MINE, NOBODY, Ids, TxnPeer


class SeenProducer(NamedTuple):
    """A producer of a partition, with the number that its peer gives to its id."""

    ids: Ids
    last_sequence: int
    has_timestamp: bool
    coordinator_epoch: int
    start_offset: int


async def producers(peer: TxnPeer, partition: int = 0) -> list[SeenProducer]:
    """The producers of a partition of the peer's topic."""
    request = DescribeProducersRequest(
        topics=[TopicRequest(name=peer.topic, partition_indexes=[partition])]
    )
    (found,) = (await peer.ask(request)).topics[0].partitions
    assert found.error_code == 0
    return [
        SeenProducer(
            peer.told_ids(each.producer_id, each.producer_epoch),
            each.last_sequence,
            each.last_timestamp > 1_600_000_000_000,
            each.coordinator_epoch,
            each.current_txn_start_offset,
        )
        for each in found.active_producers
    ]


async def producer_codes(peer: TxnPeer, *partitions: TopicPartition) -> list[int]:
    """The error of each partition."""
    request = DescribeProducersRequest(
        topics=[
            TopicRequest(name=each.topic, partition_indexes=[each.partition]) for each in partitions
        ]
    )
    answer = await peer.ask(request)
    codes = {(t.name, p.partition_index): p.error_code for t in answer.topics for p in t.partitions}
    return [codes[each] for each in partitions]


class SeenTransaction(NamedTuple):
    """A transactional id as its coordinator describes it."""

    error: int
    state: str
    ids: Ids
    timeout_ms: int
    has_start: bool
    partitions: list[TopicPartition]


async def described(peer: TxnPeer, transactional_id: str = MINE) -> SeenTransaction:
    request = DescribeTransactionsRequest(transactional_ids=[peer.named(transactional_id)])
    (found,) = (await peer.ask(request)).transaction_states
    return SeenTransaction(
        found.error_code,
        found.transaction_state,
        NOBODY if found.error_code else peer.told_ids(found.producer_id, found.producer_epoch),
        found.transaction_timeout_ms,
        found.transaction_start_time_ms > 0,
        sorted(TopicPartition(each.topic, p) for each in found.topics for p in each.partitions),
    )


async def listed(
    peer: TxnPeer, version: int = 1, **filters: Any
) -> tuple[int, list[str], list[Any]]:
    """(error, unknown states, (ids' number, state) of what this peer began)"""
    answer = await peer.ask(ListTransactionsRequest(**filters), version)
    return (
        answer.error_code,
        answer.unknown_state_filters,
        [
            (peer.known_ids.index(each.producer_id), each.transaction_state)
            for each in answer.transaction_states
            if each.transactional_id == peer.transactional_id
        ],
    )


async def write_marker(
    peer: TxnPeer,
    ids: Ids,
    *,
    commit: bool = False,
    coordinator_epoch: int = 0,
    partition: int = 0,
    topic: str | None = None,
    version: int = 1,
    transaction_version: int = 0,
) -> int:
    """The error of the one partition."""
    marker = WritableTxnMarker(
        producer_id=peer.real_id(ids[0]),
        producer_epoch=ids[1],
        transaction_result=commit,
        topics=[WritableTxnMarkerTopic(name=topic or peer.topic, partition_indexes=[partition])],
        coordinator_epoch=coordinator_epoch,
        transaction_version=transaction_version,
    )
    answer = await peer.ask(WriteTxnMarkersRequest(markers=[marker]), version)
    ((result,),) = [each.partitions for each in answer.markers[0].topics]
    return result.error_code
