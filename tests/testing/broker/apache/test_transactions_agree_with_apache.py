"""The same bare requests about transactions to the embedded broker and to real Apache Kafkas get
the same answers, V1 and V2. What a rule of the protocol is, Apache Kafka decides; each number below
was seen on all of them.
"""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import ConcurrentTransactions
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from aiokafka_lite.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)
from aiokafka_lite.record.batch_header import BatchHeader, parse_header
from aiokafka_lite.record.memory_records import iter_batches
from tests.testing.broker.apache.group_peers import Peer
from tests.testing.broker.apache.txn_peers import (
    MAX_TIMESTAMP,
    MINE,
    NOBODY,
    Ids,
    TransactionalKafka,
    TxnPeer,
)
from tests.testing.broker.bench import batch

# The answers are the subject; how they come over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

OLD, NEW = 4, 5
"""The versions of EndTxn of V1 and V2."""
BY_ID = 6
"""The version of TxnOffsetCommit that names topics by their ids."""


def of_v2(kafka: TransactionalKafka) -> None:
    if not kafka.serves_v2:
        pytest.skip("3.9 does not know the requests of transactions V2")


# ApiVersions…


async def test_the_level_of_the_feature(peer: TxnPeer) -> None:
    """A feature that starts at 0 is not listed up to version 3 (KIP-584, KIP-890)."""
    for version in (3, 4):
        request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
        answer = await peer.ask(request, version)
        finalized = {
            entry.name: (entry.min_version_level, entry.max_version_level)
            for entry in answer.finalized_features
        }
        assert finalized.get("transaction.version", (0, 0)) == (peer.level, peer.level)
        assert answer.finalized_features_epoch >= 0
        supported = {e.name: (e.min_version, e.max_version) for e in answer.supported_features}
        told = (0, 2) if version == 4 and peer.level else None
        assert supported.get("transaction.version") == told


# InitProducerId…


async def test_each_initialisation_begins_the_next_epoch(peer: TxnPeer) -> None:
    assert [await peer.init(version=version) for version in range(6)] == [
        (0, (0, epoch)) for epoch in range(6)
    ]


@pytest.mark.parametrize(
    ("timeout_ms", "code"), [(0, 50), (-1, 50), (900_001, 50), (900_000, 0), (1, 0)]
)
async def test_a_transaction_may_take_so_long(peer: TxnPeer, timeout_ms: int, code: int) -> None:
    assert (await peer.init(timeout_ms=timeout_ms))[0] == code


async def test_no_transactional_id(peer: TxnPeer) -> None:
    assert await peer.init(transactional_id="") == (42, NOBODY)
    assert await peer.init(transactional_id="", timeout_ms=0) == (42, NOBODY)
    assert await peer.init((-1, 3)) == (42, NOBODY)


async def test_a_producer_goes_on_from_its_epoch(peer: TxnPeer) -> None:
    """InitProducerId continues from the producer's epoch (KIP-360, KIP-588)."""
    assert await peer.init((7, 3)) == (0, (0, 0))
    assert await peer.init((7, 3)) == (90, NOBODY)
    assert await peer.init((0, 0)) == (0, (0, 1))
    assert await peer.init((0, 0)) == (0, (0, 1))
    assert await peer.init((0, 1)) == (0, (0, 2))
    assert await peer.init((0, 0)) == (90, NOBODY)
    assert await peer.init((0, 0), version=3) == (47, NOBODY)
    assert await peer.init((0, 3)) == (90, NOBODY)
    assert await peer.init() == (0, (0, 3))
    assert await peer.init((0, 2)) == (90, NOBODY)
    assert await peer.init((0, 3)) == (0, (0, 4))


async def test_an_initialisation_aborts_what_is_open(peer: TxnPeer) -> None:
    """CONCURRENT_TRANSACTIONS comes first, then an epoch that no producer had (2d'-4)."""
    assert await peer.init() == (0, (0, 0))
    assert await peer.add((0, 0)) == [0]
    assert await peer.produce((0, 0), 0) == (0, 0)
    assert await peer.init() == (ConcurrentTransactions.errno, NOBODY)
    epoch = 2
    assert await peer.settled_init() == (0, (0, epoch))
    assert await peer.settled_ends() == (2, 2)
    assert await peer.produce((0, 0), 1) == (47, -1)
    assert await peer.add((0, 0)) == [90]
    assert await peer.add((0, 0), version=1) == [47]
    assert await peer.end((0, 0)) == (90, NOBODY)
    assert await peer.end((0, 0), version=1) == (47, NOBODY)
    assert await peer.add_offsets((0, 0)) == 90
    assert await peer.add_offsets((0, 0), version=1) == 47
    assert await peer.commit_offset((0, 0)) == 47
    assert await peer.add((0, epoch)) == [0]
    assert await peer.produce((0, epoch), 1) == (45, -1)
    assert await peer.produce((0, epoch), 0) == (0, 2)


async def test_an_epoch_claimed_while_the_transaction_is_open(peer: TxnPeer) -> None:
    assert await peer.init() == (0, (0, 0))
    assert await peer.add((0, 0)) == [0]
    assert await peer.init((0, 0)) == (ConcurrentTransactions.errno, NOBODY)
    await check_claim_after_abort(peer)


async def check_claim_after_abort(peer: TxnPeer) -> None:
    """Only V2 remembers whose transaction the broker aborted (KAFKA-19367)."""
    claimed = (0, (0, 1)) if peer.level >= 2 else (90, NOBODY)
    assert await peer.settled_init((0, 0)) == claimed
    assert await peer.settled_init() == (0, (0, 2))


# AddPartitionsToTxn, AddOffsetsToTxn…


@pytest.mark.parametrize("version", range(4))
async def test_partitions_are_added(peer: TxnPeer, version: int) -> None:
    await peer.init()
    fenced = 90 if version >= 2 else 47
    assert await peer.add((0, 0), 0, 1, version=version) == [0, 0]
    assert await peer.add((0, 0), 1, version=version) == [0]
    assert await peer.add((0, 1), version=version) == [fenced]
    assert await peer.add((0, -1), version=version) == [fenced]
    assert await peer.add((1, 0), version=version) == [49]
    assert await peer.add((0, 0), version=version, transactional_id="nobody's") == [49]
    assert await peer.add((0, 0), version=version, transactional_id="") == [42]


async def test_one_unknown_partition_keeps_all_out(peer: TxnPeer) -> None:
    """One unknown partition keeps all out with OPERATION_NOT_ATTEMPTED (2d'-4)."""
    await peer.init()
    known, unknown = TopicPartition(peer.topic, 0), TopicPartition(peer.topic, 2)
    nowhere = TopicPartition("nowhere", 0)
    assert await peer.add_all((0, 0), [known, unknown, nowhere]) == [55, 3, 3]
    assert await peer.produce((0, 0), 0) == (120, -1)


@pytest.mark.parametrize("version", range(4))
async def test_offsets_are_added(peer: TxnPeer, version: int) -> None:
    await peer.init()
    fenced = 90 if version >= 2 else 47
    assert await peer.add_offsets((0, 0), version=version) == 0
    assert await peer.add_offsets((0, 0), version=version, group="other") == 0
    assert await peer.add_offsets((0, 1), version=version) == fenced
    assert await peer.add_offsets((1, 0), version=version) == 49
    assert await peer.add_offsets((0, 0), version=version, transactional_id="nobody's") == 49
    assert await peer.add_offsets((0, 0), version=version, transactional_id="") == 42
    assert await peer.add_offsets((0, 0), version=version, group="") == 0


# Produce…


@pytest.mark.parametrize("version", [3, 9, 10, 11])
async def test_produce_verifies(peer: TxnPeer, version: int) -> None:
    """Produce refuses a partition that was not added (KIP-890, KIP-1050)."""
    await peer.init()
    refused = (120 if version == 11 else 48, -1)
    assert await peer.produce((0, 0), 0, version=version) == refused
    assert await peer.add((0, 0), 1) == [0]
    assert await peer.produce((0, 0), 0, version=version) == refused
    assert await peer.add((0, 0), 0) == [0]
    assert await peer.produce((0, 0), 0, version=version, transactional_id=None) == (53, -1)
    assert await peer.produce((0, 0), 0, version=version, transactional_id="nobody's") == (49, -1)
    assert await peer.produce((1, 0), 0, version=version) == (49, -1)
    assert await peer.produce((0, 1), 0, version=version) == (47, -1)
    assert await peer.produce((0, 0), 1, version=version) == (45, -1)
    assert await peer.produce((0, 0), 0, version=version) == (0, 0)
    assert await peer.produce((0, 0), 0, version=version) == (0, 0)
    assert await peer.produce((0, 0), 2, version=version) == (45, -1)
    assert await peer.produce((0, 0), 1, version=version, transactional_id="nobody's") == (0, 1)
    assert await peer.produce((0, 0), 2, version=version, is_transactional=False) == (48, -1)
    assert await peer.ends() == (0, 2)
    assert await peer.end((0, 0)) == (0, NOBODY)
    assert await peer.settled_ends() == (3, 3)
    assert await peer.produce((0, 0), 1, version=version) == refused
    # What was refused comes first, in a transaction or not.
    assert await peer.produce((0, 0), 2, version=version, is_transactional=False) == (45, -1)
    assert await peer.add((0, 0), 0) == [0]
    assert await peer.produce((0, 0), 2, version=version) == (45, -1)
    assert await peer.produce((0, 0), 1, version=version) == (0, 1)


@pytest.mark.parametrize("version", [12, 13])
async def test_produce_adds(kafka: TransactionalKafka, peer: TxnPeer, version: int) -> None:
    """Produce 12 adds its partition, also while the level is that of V1 (2d'-7, KIP-890)."""
    of_v2(kafka)
    await peer.init()
    assert await peer.produce((0, 0), 0, version=version, transactional_id=None) == (53, -1)
    assert await peer.produce((0, 0), 0, version=version, transactional_id="nobody's") == (49, -1)
    assert await peer.produce((1, 0), 0, version=version) == (49, -1)
    assert await peer.produce((0, 1), 0, version=version) == (47, -1)
    assert await peer.produce((0, 0), 0, version=version) == (0, 0)
    assert await peer.produce((0, 0), 1, version=version) == (0, 1)
    assert await peer.produce((0, 0), 0, version=version, partition=1) == (0, 0)
    assert await peer.ends() == (0, 2)
    assert await peer.end((0, 0), version=NEW) == (0, (0, 1))
    assert await peer.settled_ends() == (3, 3)
    assert await peer.produce((0, 0), 2, version=version) == (47, -1)
    assert await peer.produce((0, 0), 1, version=version) == (47, -1)
    assert await peer.produce((0, 1), 2, version=version) == (45, -1)
    assert await peer.produce((0, 1), 0, version=version) == (0, 3)
    assert await peer.end((0, 1), version=NEW, commit=False) == (0, (0, 2))
    assert await peer.settled_ends() == (5, 5)


async def test_the_first_sequence_of_v1_is_free_and_that_of_v2_is_0(
    kafka: TransactionalKafka, peer: TxnPeer
) -> None:
    """ProducerAppendInfo.checkSequence."""
    await peer.init()
    assert await peer.add((0, 0), 0) == [0]
    assert await peer.produce((0, 0), 3) == (0, 0)
    if kafka.serves_v2:
        assert await peer.produce((0, 0), 3, version=12, partition=1) == (45, -1)
        assert await peer.produce((0, 0), 0, version=12, partition=1) == (0, 0)


async def test_a_late_batch_of_an_old_epoch_changes_nothing(
    kafka: TransactionalKafka, peer: TxnPeer
) -> None:
    """The partition knows the newer epoch; but for 3.9 the coordinator is not asked."""
    await peer.init()
    assert await peer.produce((0, 1), 0, is_transactional=False) == (0, 0)
    assert await peer.produce((0, 0), 0) == (47 if kafka.serves_v2 else 120, -1)
    if kafka.serves_v2:
        assert await peer.produce((0, 0), 0, version=12) == (47, -1)
    assert await peer.end((0, 0)) == (48, NOBODY)


async def test_what_was_refused_comes_first_also_after_batches_outside(peer: TxnPeer) -> None:
    await peer.init()
    assert await peer.produce((0, 0), 0) == (120, -1)
    assert await peer.produce((0, 0), 0, is_transactional=False) == (0, 0)
    assert await peer.add((0, 0)) == [0]
    assert await peer.produce((0, 0), 1) == (45, -1)


async def test_a_marker_without_data_counts_for_sequences(
    kafka: TransactionalKafka, peer: TxnPeer
) -> None:
    """ProducerAppendInfo.appendEndTxnMarker."""
    await peer.init()
    await peer.add((0, 0))
    assert await peer.end((0, 0)) == (0, NOBODY)
    assert await peer.settled_ends(1) == (1, 1)
    assert await peer.add((0, 0)) == [0]
    assert await peer.produce((0, 0), 3) == (45, -1)
    assert await peer.produce((0, 0), 0) == (0, 1)


async def test_what_a_request_is_refused_for_as_a_whole(peer: TxnPeer) -> None:
    """KafkaApis.handleProduceRequest, ReplicaManager.handleProduceAppend."""
    await peer.init()
    assert await peer.add((0, 0), 0, 1) == [0, 0]

    async def send(*producers: int | None, transactional_id: str | None) -> set[int]:
        batches = [
            batch(b"v")
            if producer is None
            else batch(b"v", producer=(peer.real_id(producer), 0, 0), is_transactional=True)
            for producer in producers
        ]
        return await peer.produce_all(*batches, transactional_id=transactional_id)

    assert await send(None, 0, transactional_id=None) == {53}
    assert await send(0, 1, transactional_id=MINE) == {49}
    assert await send(None, 0, transactional_id=MINE) == {0}


# EndTxn…


@pytest.mark.parametrize("version", range(5))
async def test_ending_as_in_v1(peer: TxnPeer, version: int) -> None:
    """TransactionCoordinator.endTransactionWithTV1."""
    fenced = 90 if version >= 2 else 47

    async def end(ids: Ids, *, commit: bool) -> int:
        code, told = await peer.end(ids, commit=commit, version=version)
        assert told == NOBODY
        return code

    await peer.init()
    assert await end((0, 0), commit=True) == 48
    assert await end((0, 0), commit=False) == 48
    await peer.add((0, 0))
    assert await end((1, 0), commit=True) == 49
    assert await end((0, 1), commit=True) == fenced
    assert await end((0, 0), commit=True) == 0
    assert await end((0, 0), commit=True) == 0
    assert await end((0, 0), commit=False) == 48
    await peer.add((0, 0))
    assert await end((0, 0), commit=False) == 0
    assert await end((0, 0), commit=False) == 0
    assert await end((0, 0), commit=True) == 48
    await peer.settled_ends()
    assert await peer.settled_init() == (0, (0, 1))


async def test_ending_for_nobody(kafka: TransactionalKafka, peer: TxnPeer) -> None:
    for version in (OLD, NEW) if kafka.serves_v2 else (OLD,):
        nobody = await peer.end((0, 0), version=version, transactional_id="nobody's")
        assert nobody == (49, NOBODY)
        assert await peer.end((0, 0), version=version, transactional_id="") == (42, NOBODY)


async def test_ending_as_in_v2(kafka: TransactionalKafka, peer: TxnPeer) -> None:
    """The table in TransactionCoordinator.endTransaction: each state, now and once more."""
    of_v2(kafka)

    async def end(epoch: int, *, commit: bool) -> tuple[int, Ids]:
        return await peer.end((0, epoch), commit=commit, version=NEW)

    await peer.init()
    await peer.init()
    # Empty
    assert await end(0, commit=False) == (90, NOBODY)
    assert await end(0, commit=True) == (90, NOBODY)
    assert await end(1, commit=True) == (48, NOBODY)
    assert await end(1, commit=False) == (0, (0, 2))
    # CompleteAbort
    assert await end(1, commit=False) == (0, (0, 2))
    assert await end(1, commit=True) == (48, NOBODY)
    assert await end(2, commit=True) == (48, NOBODY)
    assert await end(2, commit=False) == (0, (0, 3))
    assert await end(1, commit=False) == (90, NOBODY)
    assert await end(4, commit=False) == (90, NOBODY)
    # Ongoing
    assert await peer.produce((0, 3), 0, version=12) == (0, 0)
    assert await end(2, commit=False) == (90, NOBODY)
    assert await end(4, commit=True) == (90, NOBODY)
    assert await end(3, commit=True) == (0, (0, 4))
    # CompleteCommit
    assert await end(3, commit=True) == (0, (0, 4))
    assert await end(3, commit=False) == (48, NOBODY)
    assert await end(4, commit=True) == (48, NOBODY)
    assert await end(4, commit=False) == (0, (0, 5))
    assert await peer.settled_ends() == (2, 2)
    assert await peer.end((1, 5), version=NEW) == (49, NOBODY)


async def test_both_ways_of_ending_one_after_the_other(
    kafka: TransactionalKafka, peer: TxnPeer
) -> None:
    of_v2(kafka)
    await peer.init()
    assert await peer.produce((0, 0), 0, version=12) == (0, 0)
    assert await peer.end((0, 0), version=OLD) == (0, NOBODY)
    # Else the next batch falls into the transaction that was ended: what KIP-890 was made for.
    assert await peer.settled_ends() == (2, 2)
    assert await peer.produce((0, 0), 1, version=12) == (0, 2)
    assert await peer.end((0, 0), version=NEW) == (0, (0, 1))
    assert await peer.add((0, 1)) == [0]
    assert await peer.produce((0, 1), 0) == (0, 4)
    assert await peer.end((0, 1), version=OLD, commit=False) == (0, NOBODY)
    assert await peer.settled_ends() == (6, 6)
    assert await peer.settled_init((0, 1)) == (0, (0, 2))


async def test_going_on_after_a_commit(kafka: TransactionalKafka, peer: TxnPeer) -> None:
    """The epoch from before the marker may be claimed after a commit (KIP-360, KIP-890)."""
    of_v2(kafka)
    await peer.init()
    assert await peer.produce((0, 0), 0, version=12) == (0, 0)
    assert await peer.end((0, 0), version=NEW) == (0, (0, 1))
    assert await peer.settled_init((0, 0)) == (0, (0, 1))
    assert await peer.settled_init((0, 1)) == (0, (0, 2))


# What readers see…


async def test_what_a_committed_read_is_told(peer: TxnPeer) -> None:
    """A committed read gets the aborted transactions, the markers and both epochs (KIP-98)."""
    await peer.init()
    for sequence, commit in enumerate((True, False, False)):
        await peer.add((0, 0))
        assert (await peer.produce((0, 0), sequence))[0] == 0
        assert await peer.end((0, 0), commit=commit) == (0, NOBODY)
    await peer.settled_ends()
    await peer.add((0, 0))
    assert await peer.produce((0, 0), 3) == (0, 6)
    wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=1 << 20,
        isolation_level=1,
        topics=[FetchTopic(topic=peer.topic, partitions=[wanted])],
    )
    (data,) = (await peer.ask(request, 12)).responses[0].partitions
    aborted = [
        (peer.told_ids(entry.producer_id, 0)[0], entry.first_offset)
        for entry in data.aborted_transactions or ()
    ]
    assert aborted == [(0, 2), (0, 4)]
    assert (data.last_stable_offset, data.high_watermark) == (6, 7)
    told = [
        (header.base_offset, header.is_transactional, header.is_control, header.producer_epoch)
        for header in headers_of(data)
    ]
    assert told == [(offset, True, offset % 2 == 1, 0) for offset in range(6)]


def headers_of(data: PartitionData) -> list[BatchHeader]:
    assert data.records is not None
    return [parse_header(found.view) for found in iter_batches(memoryview(data.records))]


async def test_a_marker_of_v2_has_the_next_epoch(kafka: TransactionalKafka, peer: TxnPeer) -> None:
    of_v2(kafka)
    await peer.init()
    assert await peer.produce((0, 0), 0, version=12) == (0, 0)
    assert await peer.end((0, 0), version=NEW, commit=False) == (0, (0, 1))
    await peer.settled_ends()
    assert await epochs_in(peer) == [0, 1]


async def epochs_in(peer: TxnPeer) -> list[int]:
    """The producer epoch of each batch."""
    wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=1 << 20,
        topics=[FetchTopic(topic=peer.topic, partitions=[wanted])],
    )
    (data,) = (await peer.ask(request, 12)).responses[0].partitions
    return [header.producer_epoch for header in headers_of(data)]


async def test_offsets_by_time(peer: TxnPeer) -> None:
    """Markers have a timestamp, too; what is open has none for a committed read."""
    await peer.init()
    before_ms = int(SYSTEM_CLOCK.time() * 1000)
    await peer.add((0, 0))
    await peer.produce((0, 0), 0)
    produced_ms = int(SYSTEM_CLOCK.time() * 1000)
    while (after_ms := int(SYSTEM_CLOCK.time() * 1000)) <= produced_ms:
        await asyncio.sleep(0.001)
    await peer.end((0, 0))
    await peer.settled_ends(2)
    for committed in (False, True):
        assert await peer.offset_at(before_ms, committed=committed) == 0
        assert await peer.offset_at(after_ms, committed=committed) == 1
        assert await peer.offset_at(MAX_TIMESTAMP, committed=committed) == 1
        assert await peer.offset_at(after_ms + 60_000, committed=committed) == -1
    while int(SYSTEM_CLOCK.time() * 1000) <= after_ms + 20:
        await asyncio.sleep(0.001)
    await peer.add((0, 0))
    await peer.produce((0, 0), 1)
    assert await peer.offset_at(MAX_TIMESTAMP, committed=False) == 2
    assert await peer.offset_at(MAX_TIMESTAMP, committed=True) == -1


# Time…


async def test_what_takes_too_long_is_aborted(peer: TxnPeer) -> None:
    """A transaction that takes too long is aborted, and its producer fenced (KIP-98)."""
    await peer.init(timeout_ms=1500)
    await peer.add((0, 0))
    assert await peer.produce((0, 0), 0) == (0, 0)
    assert await peer.settled_ends() == (2, 2)
    assert await epochs_in(peer) == [0, 1]
    assert await peer.produce((0, 0), 1) == (47, -1)
    assert await peer.end((0, 0)) == (90, NOBODY)
    await check_claim_after_abort(peer)


# TxnOffsetCommit…


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("commit", [True, False])
async def test_offsets_count_once_committed(peer: TxnPeer, version: int, *, commit: bool) -> None:
    """Offsets of a transaction count once it is committed (KIP-98, KIP-447)."""
    await peer.init()
    assert await peer.add_offsets((0, 0)) == 0
    assert await peer.commit_offset((0, 0), 5, version=version) == 0
    assert await peer.committed() == (88, -1)
    assert await peer.committed(stable=False) == (0, -1)
    assert await peer.commit_offset((0, 0), 6, version=version) == 0
    assert await peer.end((0, 0), commit=commit) == (0, NOBODY)
    assert await peer.settled_committed() == (0, 6 if commit else -1)


@pytest.mark.parametrize("version", [NEW, BY_ID])
async def test_offsets_add_their_group(
    kafka: TransactionalKafka, peer: TxnPeer, version: int
) -> None:
    """TxnOffsetCommit version 5 adds its group to the transaction itself (KIP-890, KIP-1319)."""
    of_v2(kafka)
    await peer.init()
    assert await peer.commit_offset((0, 0), 5, version=version) == 0
    assert await peer.committed() == (88, -1)
    assert await peer.end((0, 0), version=NEW) == (0, (0, 1))
    assert await peer.settled_committed() == (0, 5)
    assert await peer.commit_offset((0, 0), 6, version=version) == 47
    assert await peer.commit_offset((0, 1), 7, version=version) == 0
    assert await peer.end((0, 1), commit=False, version=NEW) == (0, (0, 2))
    assert await peer.settled_committed() == (0, 5)


@pytest.mark.parametrize("version", range(7))
async def test_who_may_not_commit_offsets(
    kafka: TransactionalKafka, peer: TxnPeer, version: int
) -> None:
    if version >= NEW:
        of_v2(kafka)
    await peer.init()

    async def commit(ids: Ids = (0, 0), **options: object) -> int:
        return await peer.commit_offset(ids, version=version, **options)  # type: ignore[arg-type]  # mixed values

    assert await commit(topic="nowhere") == (100 if version == BY_ID else 3)
    assert await commit(partition=2) == 3
    assert await commit(group="") == 24
    assert await commit(transactional_id="nobody's") == 49
    assert await commit((1, 0)) == 49
    assert await commit((0, 1)) == 47
    if version < NEW:
        assert await commit() == (120 if version == 4 else 48)
    assert await peer.add_offsets((0, 0)) == 0
    if version >= 3:
        # Without such a group 3.9 looks for the member first.
        no_group = 69 if version == BY_ID else 22 if peer.level else 25
        assert await commit(generation_id_or_member_epoch=1) == no_group
        assert await commit(member_id="stranger") == 0
    assert await commit() == 0


@pytest.mark.parametrize("version", [3, 5, 6])
async def test_members_commit_offsets_of_their_generation(
    kafka: TransactionalKafka, peer: TxnPeer, version: int
) -> None:
    """In a transaction, members may commit before the group is stable (KIP-447)."""
    if version >= NEW:
        of_v2(kafka)
    await peer.init()
    assert await peer.add_offsets((0, 0)) == 0
    async with await Peer.connect(kafka.bootstrap_servers) as member:
        member.group_id = peer.group
        assert (await member.join()).error_code == 0
        cases: tuple[tuple[dict[str, Any], int], ...] = (
            ({"generation_id_or_member_epoch": 1, "member_id": member.member_id}, 0),
            ({"generation_id_or_member_epoch": 2, "member_id": member.member_id}, 22),
            ({"generation_id_or_member_epoch": -1, "member_id": member.member_id}, 22),
            ({"generation_id_or_member_epoch": 1, "member_id": "stranger"}, 25),
            ({"generation_id_or_member_epoch": 1, "member_id": ""}, 25),
            ({"generation_id_or_member_epoch": -1, "member_id": ""}, 0),
            ({"generation_id_or_member_epoch": -1, "member_id": "", "group_instance_id": "i"}, 25),
        )
        for fields, code in cases:
            assert await peer.commit_offset((0, 0), version=version, **fields) == code, fields


async def test_a_later_commit_outside_the_transaction_stays(
    kafka: TransactionalKafka, peer: TxnPeer
) -> None:
    """OffsetMetadataManager: the later commit counts, whenever the transaction ends."""
    await peer.init()
    assert await peer.add_offsets((0, 0)) == 0
    assert await peer.commit_offset((0, 0), 5) == 0
    async with await Peer.connect(kafka.bootstrap_servers) as consumer:
        consumer.group_id = peer.group
        assert await consumer.commit(peer.topic, {0: 9}) == [0]
    assert await peer.committed() == (88, -1)
    assert await peer.committed(stable=False) == (0, 9)
    assert await peer.end((0, 0)) == (0, NOBODY)
    assert await peer.settled_committed() == (0, 9)


async def test_all_offsets_of_a_group_while_a_transaction_is_open(
    kafka: TransactionalKafka, peer: TxnPeer
) -> None:
    """What was never committed is not among them, what was is unstable."""
    await peer.init()
    assert await peer.add_offsets((0, 0)) == 0
    assert await peer.commit_offset((0, 0), 5) == 0
    assert await peer.all_committed() == []
    async with await Peer.connect(kafka.bootstrap_servers) as consumer:
        consumer.group_id = peer.group
        assert await consumer.commit(peer.topic, {0: 3, 1: 4}) == [0, 0]
    assert await peer.all_committed() == [(0, 88, -1), (1, 0, 4)]
    assert await peer.commit_offset((0, 0), 6, partition=1) == 0
    assert await peer.all_committed() == [(0, 88, -1), (1, 88, -1)]
    assert await peer.end((0, 0)) == (0, NOBODY)
    assert await peer.settled_committed() == (0, 3)
    assert await peer.all_committed() == [(0, 0, 3), (1, 0, 6)]


async def test_offsets_with_long_metadata(peer: TxnPeer) -> None:
    await peer.init()
    assert await peer.add_offsets((0, 0)) == 0
    assert await peer.commit_offset((0, 0), metadata="x" * 4097) == 12
    assert await peer.committed() == (0, -1)
    assert await peer.commit_offset((0, 0), metadata="x" * 4096) == 0


async def test_a_topic_that_is_deleted_meanwhile(peer: TxnPeer) -> None:
    """Its partitions need no markers any more."""
    await peer.init()
    assert await peer.add((0, 0), 0, 1) == [0, 0]
    assert await peer.produce((0, 0), 0) == (0, 0)
    deleted = DeleteTopicsRequest(topics=[DeleteTopicState(name=peer.topic)], timeout_ms=5000)
    assert (await peer.ask(deleted, 6)).responses[0].error_code == 0
    assert await peer.end((0, 0)) == (0, NOBODY)
    assert await peer.settled_init() == (0, (0, 1))


async def test_two_producers_in_one_partition(kafka: TransactionalKafka, peer: TxnPeer) -> None:
    """The oldest open transaction bounds what committed reads see."""
    async with await TxnPeer.on(kafka, peer.topic) as other:
        for each in (peer, other):
            await each.init()
            await each.add((0, 0))
        assert await peer.produce((0, 0), 0) == (0, 0)
        assert await other.produce((0, 0), 0) == (0, 1)
        await other.end((0, 0))
        await other.settled_init()
        assert await peer.ends() == (0, 3)
        await peer.end((0, 0), commit=False)
        assert await peer.settled_ends(4) == (4, 4)
