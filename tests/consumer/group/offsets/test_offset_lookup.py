"""Asking the coordinator for committed offsets (2e-15), against the embedded broker."""

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.consumer.group.offsets.offset_lookup import OffsetLookup
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    KafkaError,
    StaleMemberEpochError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
    UnstableOffsetCommitError,
)
from aiokafka_lite.model import ConsumerGroupMetadata
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from tests.consumer.batches import tps
from tests.consumer.group.offsets.test_offset_committer import Bench, bench_of

P0, P1 = tps(0, 1)


def lookup(bench: Bench) -> OffsetLookup:
    return OffsetLookup(bench.client, bench.scene.cache, "g")


@pytest.mark.parametrize("version", range(1, 11))
async def test_2e_15_every_version_says_what_is_committed_and_what_is_not(version: int) -> None:
    older = {OffsetFetchRequest.api_key: version}
    async with bench_of(max_versions=older) as bench:
        await bench.committer.commit({P0: CommittedOffset(0, 4, "note")}, 5.0)
        for _ in range(2):
            found = await lookup(bench).fetch_committed([P0, P1])
            epoch = 4 if version >= 5 else -1
            assert found == {P0: CommittedOffset(0, epoch, "note"), P1: None}
        asked = [r for r in bench.broker.requests if isinstance(r.request, OffsetFetchRequest)]
        assert asked[-1].api_version == version
        assert all(r.request.require_stable is (r.api_version >= 7) for r in asked)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("error", "finds"),
    [
        (GroupCoordinatorNotAvailableError, 2),
        (GroupLoadInProgressError, 1),
        (UnstableOffsetCommitError, 1),
    ],
)
async def test_2e_15_what_may_pass_is_retriable(
    error: type[BrokerResponseError], finds: int
) -> None:
    async with bench_of() as bench:
        bench.broker.faults.fail(OffsetFetchRequest, error)
        with pytest.raises(error, match="t-0") as caught:
            await lookup(bench).fetch_committed([P0])
        assert caught.value.retriable or error is UnstableOffsetCommitError
        assert await lookup(bench).fetch_committed([P0]) == {P0: None}
        assert len(bench.broker.requests_of(FindCoordinatorRequest)) == finds


async def test_2e_15_an_unknown_topic_is_an_answer_not_a_reason_to_ask_again() -> None:
    async with bench_of() as bench:
        bench.broker.faults.fail(OffsetFetchRequest, UnknownTopicOrPartitionError)
        with pytest.raises(KafkaError, match=r"UNKNOWN_TOPIC_OR_PARTITION.*t-0") as caught:
            await lookup(bench).fetch_committed([P0])
        assert not caught.value.retriable


async def test_2e_15_a_lost_connection_lets_the_coordinator_be_found_again() -> None:
    async with bench_of() as bench:
        bench.broker.faults.cut(OffsetFetchRequest)
        with pytest.raises(KafkaError) as caught:
            await lookup(bench).fetch_committed([P0])
        assert caught.value.retriable
        assert bench.scene.coordinator.node_id is None


@pytest.mark.parametrize("error", [StaleMemberEpochError, UnknownMemberIdError])
async def test_a_member_with_another_epoch_is_asked_about_again(
    error: type[BrokerResponseError],
) -> None:
    """The second question is that of a member which has joined anew (KIP-848)."""
    async with bench_of(clock=SYSTEM_CLOCK, retry_backoff_ms=1) as bench:
        await bench.committer.commit({P0: CommittedOffset(3)}, 5.0)
        bench.broker.faults.fail(OffsetFetchRequest, error)
        members = [ConsumerGroupMetadata("g", 5, "m-1"), None]
        asking = OffsetLookup(bench.client, bench.scene.cache, "g", lambda: members.pop(0))
        assert await asking.fetch_committed([P0]) == {P0: CommittedOffset(3)}
        first, second = (
            request.groups[0] for request in bench.broker.requests_of(OffsetFetchRequest)
        )
        assert (first.member_id, first.member_epoch) == ("m-1", 5)
        assert (second.member_id, second.member_epoch) == (None, -1)
