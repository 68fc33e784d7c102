"""What administrators are told of producers and transactions, and the markers that they write: the
embedded broker and real Apache Kafkas answer the same, V1 and V2.
"""

from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.handlers.describe_transactions import GROUP_OFFSETS
from tests.testing.broker.apache.txn_peers import NOBODY, TransactionalKafka, TxnPeer
from tests.testing.broker.apache.txn_views import (
    SeenProducer,
    described,
    listed,
    producer_codes,
    producers,
    write_marker,
)

# The answers are the subject; how they come over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

HOUR_MS = 3_600_000
SINCE_1970_MS = 1 << 50
"""Longer than any transaction that has begun."""


def end_version(peer: TxnPeer) -> int:
    return 5 if peer.level >= 2 else 4


# DescribeProducers…


async def test_a_producer_before_and_after_the_marker(peer: TxnPeer) -> None:
    await peer.init()
    assert await producers(peer) == []
    await peer.add((0, 0))
    assert await producers(peer) == []
    for sequence in (0, 1):
        await peer.produce((0, 0), sequence)
    assert await producers(peer) == [SeenProducer((0, 0), 1, True, -1, 0)]
    assert await producers(peer, 1) == []
    await peer.end((0, 0), version=end_version(peer))
    await peer.settled_ends(3)
    # The marker of V2 has the next epoch, in which no record has been sent.
    after = SeenProducer((0, 1), -1, True, 0, -1) if peer.level >= 2 else None
    assert await producers(peer) == [after or SeenProducer((0, 0), 1, True, 0, -1)]


async def test_a_producer_without_transactions(peer: TxnPeer) -> None:
    await peer.init()
    await peer.produce((0, 0), 5, is_transactional=False, transactional_id=None)
    assert await producers(peer) == [SeenProducer((0, 0), 5, True, -1, -1)]


async def test_partitions_that_are_not_there(peer: TxnPeer) -> None:
    asked = [TopicPartition(peer.topic, 0), TopicPartition(peer.topic, 7)]
    asked += [TopicPartition("nowhere", 0), TopicPartition("no/topic", 0)]
    assert await producer_codes(peer, *asked) == [0, 3, 3, 17]


# DescribeTransactions…


async def test_a_transactional_id_from_its_beginning_to_its_end(peer: TxnPeer) -> None:
    unknown = await described(peer)
    assert (unknown.error, unknown.state, unknown.timeout_ms) == (105, "", 0)
    await peer.init(timeout_ms=HOUR_MS // 4)
    assert await described(peer) == (0, "Empty", (0, 0), HOUR_MS // 4, False, [])
    await peer.add((0, 0), 0, 1)
    both = [TopicPartition(peer.topic, 0), TopicPartition(peer.topic, 1)]
    assert await described(peer) == (0, "Ongoing", (0, 0), HOUR_MS // 4, True, both)
    await peer.add_offsets((0, 0))
    (offsets, *rest) = (await described(peer)).partitions
    assert (offsets.topic, rest) == (GROUP_OFFSETS, both)
    await peer.end((0, 0), commit=False, version=end_version(peer))
    await peer.settled_ends(1)
    await peer.settled_init()
    epoch = 2 if peer.level >= 2 else 1
    found = await described(peer)
    assert found[:4] == (0, "Empty", (0, epoch), 60_000)
    assert found.partitions == []


async def test_a_transaction_that_has_ended(peer: TxnPeer) -> None:
    await peer.init()
    await peer.add((0, 0))
    await peer.end((0, 0), version=end_version(peer))
    await peer.settled_ends(1)
    await peer.settled_init()
    await peer.add((0, ids := 2 if peer.level >= 2 else 1))
    assert (await peer.end((0, ids), commit=False, version=end_version(peer)))[0] == 0
    await peer.settled_ends(2)
    while (found := await described(peer)).state == "PrepareAbort":
        pass
    assert (found.state, found.has_start, found.partitions) == ("CompleteAbort", True, [])


async def test_an_empty_transactional_id(peer: TxnPeer) -> None:
    assert await described(peer, "") == (42, "", NOBODY, 0, False, [])


# ListTransactions…


async def test_filters_by_state_and_by_producer(peer: TxnPeer) -> None:
    await peer.init()
    await peer.add((0, 0))
    mine = [(0, "Ongoing")]
    assert await listed(peer) == (0, [], mine)
    assert await listed(peer, state_filters=["Ongoing", "Empty"]) == (0, [], mine)
    assert await listed(peer, state_filters=["Empty"]) == (0, [], [])
    assert await listed(peer, state_filters=["Ongoing", "ongoing"]) == (0, ["ongoing"], mine)
    every = ["Dead", "PrepareEpochFence", "PrepareCommit", "CompleteCommit", "CompleteAbort"]
    assert await listed(peer, state_filters=every) == (0, [], [])
    assert await listed(peer, producer_id_filters=[peer.real_id(0), 1 << 40]) == (0, [], mine)
    assert await listed(peer, producer_id_filters=[1 << 40]) == (0, [], [])


async def test_filters_by_duration(peer: TxnPeer) -> None:
    """An id that has begun no transaction passes each duration (KIP-994)."""
    await peer.init()
    empty = [(0, "Empty")]
    assert await listed(peer, duration_filter=HOUR_MS) == (0, [], empty)
    assert await listed(peer, duration_filter=SINCE_1970_MS) == (0, [], [])
    await peer.add((0, 0))
    assert await listed(peer, duration_filter=HOUR_MS) == (0, [], [])
    assert await listed(peer, duration_filter=-1) == (0, [], [(0, "Ongoing")])
    assert await listed(peer, version=0) == (0, [], [(0, "Ongoing")])


@pytest.mark.parametrize(
    ("pattern", "code", "is_listed"),
    [
        ("tx-.*", 0, True),
        ("tx-", 0, False),
        ("", 0, True),
        (None, 0, True),
        ("(", 128, False),
        ("tx-(?=.).*", 128, False),
    ],
)
async def test_filters_by_an_expression(
    kafka: TransactionalKafka, peer: TxnPeer, pattern: str | None, code: int, *, is_listed: bool
) -> None:
    """The expression must fit the whole id (KIP-1152)."""
    if not kafka.serves_v2:
        pytest.skip("3.9 does not know version 2 of ListTransactions")
    await peer.init()
    found = await listed(peer, version=2, transactional_id_pattern=pattern)
    assert found == (code, [], [(0, "Empty")] if is_listed else [])


# WriteTxnMarkers…


async def test_markers_of_an_administrator(peer: TxnPeer) -> None:
    """The log takes a marker of the present epoch or a later one, and the coordinator learns
    nothing."""
    await peer.init()
    await peer.settled_init()
    await peer.add((0, 1))
    await peer.produce((0, 1), 0)
    assert await write_marker(peer, (0, 0)) == 47
    assert await write_marker(peer, (0, 1), partition=7) == 3
    assert await write_marker(peer, (0, 1), topic="nowhere") == 3
    assert await peer.ends() == (0, 1)
    assert await write_marker(peer, (0, 1)) == 0
    assert await peer.ends() == (2, 2)
    assert await producers(peer) == [SeenProducer((0, 1), 0, True, 0, -1)]
    assert await write_marker(peer, (0, 1), coordinator_epoch=5) == 0
    assert await write_marker(peer, (0, 1), coordinator_epoch=4) == 52
    assert await write_marker(peer, (0, 2), coordinator_epoch=5, commit=True) == 0
    assert await producers(peer) == [SeenProducer((0, 2), -1, True, 5, -1)]
    assert await peer.ends() == (4, 4)
    found = await described(peer)
    assert (found.state, found.partitions) == ("Ongoing", [TopicPartition(peer.topic, 0)])


async def test_a_marker_for_a_producer_that_the_partition_does_not_know(peer: TxnPeer) -> None:
    await peer.init()
    assert await write_marker(peer, (0, 3)) == 0
    assert await producers(peer) == [SeenProducer((0, 3), -1, True, 0, -1)]
    assert await peer.ends() == (1, 1)


async def test_the_marker_of_an_open_transaction_of_v2_has_the_next_epoch(
    kafka: TransactionalKafka, peer: TxnPeer
) -> None:
    """Each transaction of version 2 has an epoch of its own, and its marker the next. [KIP-1228]"""
    if not kafka.serves_v2:
        pytest.skip("3.9 does not know version 2 of WriteTxnMarkers")
    await peer.init()
    await peer.add((0, 0))
    await peer.produce((0, 0), 0)
    of_v2: dict[str, Any] = {"version": 2, "transaction_version": 2}
    assert await write_marker(peer, (0, 0), **of_v2) == 47
    assert await write_marker(peer, (0, 1), **of_v2) == 0
    assert await write_marker(peer, (0, 1), **of_v2) == 0, "again"
    assert await write_marker(peer, (0, 0), **of_v2) == 47
    assert await producers(peer) == [SeenProducer((0, 1), -1, True, 0, -1)]
