"""TxnOffsetCommit: whose offsets are kept aside, and who is refused (KIP-98, KIP-447, KIP-890)."""

from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.errors import BrokerResponseError, GroupAuthorizationFailedError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from aiokafka_lite.testing.broker.handlers import txn_offset_commit
from aiokafka_lite.testing.broker.state.groups.group_offsets import StoredOffset
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId
from tests.testing.broker.bench import Bench
from tests.testing.broker.state.groups.served_groups import join_request

T0 = TopicPartition("t", 0)


def bench_of(nodes: int = 1, *, adds: bool = True) -> Bench:
    bench = Bench(nodes)
    bench.topic(partitions=2)
    producer = bench.transactions.init_producer_id("tx", 1000, None)
    if adds:
        bench.transactions.add("tx", producer, groups=["g"])
    return bench


def id_of(bench: Bench, topic: str) -> UUID:
    try:
        return bench.cluster.topic_by_name(topic).topic_id
    except BrokerResponseError:
        return UUID(int=7)


def commit(
    bench: Bench,
    *partitions: int,
    version: int = 3,
    epoch: int = 0,
    node: int = 1,
    metadata: str | None = "m",
    topic: str = "t",
    **fields: Any,
) -> list[int]:
    """Offset 5 in each partition; the errors."""
    asked = [
        TxnOffsetCommitRequestPartition(
            partition_index=index,
            committed_offset=5,
            committed_leader_epoch=3,
            committed_metadata=metadata,
        )
        for index in partitions or (0,)
    ]
    request = TxnOffsetCommitRequest(
        **{"transactional_id": "tx", "group_id": "g", "producer_id": 0, **fields},
        producer_epoch=epoch,
        topics=[
            TxnOffsetCommitRequestTopic(name=topic, topic_id=id_of(bench, topic), partitions=asked)
        ],
    )
    answer = bench.ask(txn_offset_commit.HANDLER, request, version, node)
    return [partition.error_code for partition in answer.topics[0].partitions]


def end(bench: Bench, *, is_commit: bool) -> None:
    producer = TxnProducerId(0, 0)
    bench.transactions.end("tx", producer, is_commit=is_commit, bumps_epoch=True)


@pytest.mark.parametrize("is_commit", [True, False])
@pytest.mark.parametrize("version", range(7))
async def test_every_version_keeps_offsets_until_the_end(version: int, *, is_commit: bool) -> None:
    bench = bench_of(adds=version < 5)
    await bench.clock.advance(0.5)
    assert commit(bench, version=version) == [0]
    view = bench.groups.view("g")
    kept = StoredOffset(5, 3 if version >= 2 else -1, "m", int(bench.clock.time() * 1000))
    assert (view.offsets, view.pending_offsets) == ({}, {T0: kept})
    assert bench.transactions.view("tx").groups == {"g"}
    end(bench, is_commit=is_commit)
    view = bench.groups.view("g")
    assert (view.offsets, view.pending_offsets) == ({T0: kept} if is_commit else {}, {})


@pytest.mark.parametrize(("version", "code"), [(0, 48), (3, 48), (4, 120)])
async def test_a_group_that_was_not_added_is_refused(version: int, code: int) -> None:
    """TxnOffsetCommit refuses a group that was not added to the transaction (KIP-1050)."""
    bench = bench_of(adds=False)
    assert commit(bench, version=version) == [code]
    assert bench.groups.find("g") is None


@pytest.mark.parametrize("version", [3, 5, 6])
async def test_who_is_refused_by_the_coordinator_of_transactions(version: int) -> None:
    bench = bench_of()
    assert commit(bench, version=version, epoch=1) == [47]
    assert commit(bench, version=version, producer_id=9) == [49]
    assert commit(bench, version=version, transactional_id="other") == [49]
    end(bench, is_commit=True)
    assert commit(bench, version=version) == [47]


async def test_what_was_confirmed_once_is_not_asked_again_before_the_end() -> None:
    bench = bench_of()
    assert commit(bench) == [0]
    bench.transactions.nodes.move("tx", None)
    assert commit(bench) == [0]
    end(bench, is_commit=True)
    assert commit(bench) == [15]


async def test_unknown_partitions_fail_alone() -> None:
    bench = bench_of()
    assert commit(bench, 0, 7) == [0, 3]
    assert commit(bench, topic="nowhere", transactional_id="other") == [3]
    bench = bench_of(adds=False)
    assert commit(bench, 0, 7, version=6) == [0, 3]
    assert commit(bench, topic="nowhere", transactional_id="other", version=6) == [100]


async def test_a_group_has_an_id() -> None:
    assert commit(bench_of(), group_id="") == [24]


async def test_metadata_that_is_too_long_is_refused() -> None:
    assert commit(bench_of(), 0, 1, metadata="m" * 5000) == [12, 12]


async def test_no_metadata_is_kept_as_none() -> None:
    bench = bench_of()
    assert commit(bench, metadata=None) == [0]
    assert bench.groups.view("g").pending_offsets[T0].metadata == ""


async def test_a_generation_of_no_group_is_illegal() -> None:
    assert commit(bench_of(), generation_id_or_member_epoch=1) == [22]
    assert commit(bench_of(adds=False), generation_id_or_member_epoch=1, version=6) == [69]


async def test_members_are_checked() -> None:
    """TxnOffsetCommit refuses a member or generation that the group does not have (KIP-447)."""
    bench = bench_of()
    group = bench.groups.find_or_create("g")
    group.membership.join(join_request(), lambda _: None)
    (member_id,) = group.membership.group.members
    assert commit(bench, generation_id_or_member_epoch=1, member_id=member_id) == [0]
    assert commit(bench, generation_id_or_member_epoch=2, member_id=member_id) == [22]
    assert commit(bench, generation_id_or_member_epoch=1, member_id="stranger") == [25]
    assert commit(bench) == [0], "a producer that names no member"
    bench.groups.close()


async def test_other_nodes_do_not_coordinate_the_group() -> None:
    bench = bench_of(2)
    bench.groups.nodes.move("g", 2)
    assert commit(bench, node=1) == [16]
    assert commit(bench, node=2) == [0]
    bench.groups.nodes.move("g", None)
    assert commit(bench, node=2) == [15]


async def test_injected_errors() -> None:
    bench = bench_of()
    error = GroupAuthorizationFailedError
    bench.faults.fail(TxnOffsetCommitRequest, error, topic_partition=T0)
    assert commit(bench, 0, 1) == [error.errno, 0]
    bench.faults.fail(TxnOffsetCommitRequest, error)
    assert commit(bench, 0, 1) == [error.errno] * 2
    assert commit(bench, 0, 1) == [0, 0]
