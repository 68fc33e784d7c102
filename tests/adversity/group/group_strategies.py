"""Schedules for a group as hypothesis makes them up: each has some kinds of trouble, and those
densely, since what is rare for one kind beside all others never happens twice in a row.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedLeaderEpochError,
    FencedMemberEpochError,
    FetchSessionIdNotFound,
    FetchSessionTopicIdError,
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    IllegalGenerationError,
    InconsistentTopicIdError,
    InvalidFetchSessionEpoch,
    KafkaStorageError,
    LeaderNotAvailableError,
    NotCoordinatorForGroupError,
    NotLeaderForPartitionError,
    OffsetNotAvailableError,
    RebalanceInProgressError,
    ReplicaNotAvailableError,
    RequestTimedOutError,
    StaleMemberEpochError,
    UnknownError,
    UnknownLeaderEpochError,
    UnknownMemberIdError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    UnstableOffsetCommitError,
)
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.schema.message import Request
from tests.adversity.group.group_steps import (
    MEMBERS,
    METADATA_MAX_AGE_MS,
    NODES,
    TOPICS,
    Cancel,
    Commit,
    Crash,
    Create,
    Delete,
    Disconnect,
    Fail,
    FailApi,
    Grow,
    Isolate,
    Join,
    Latency,
    Leave,
    Listening,
    Look,
    MemberOptions,
    MoveCoordinator,
    MoveLeader,
    Pause,
    Poll,
    Rebalance,
    Reconnect,
    Recreate,
    Release,
    Resume,
    Seek,
    SeekTo,
    StartNode,
    Step,
    StopNode,
    Trim,
    Trouble,
    Truncate,
    Wait,
    Way,
    Work,
    Write,
)

_GROUP_TROUBLE = (
    GroupLoadInProgressError,
    GroupCoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
_LEADER_TROUBLE = (
    NotLeaderForPartitionError,
    FencedLeaderEpochError,
    UnknownLeaderEpochError,
    UnknownTopicOrPartitionError,
    KafkaStorageError,
    OffsetNotAvailableError,
    ReplicaNotAvailableError,
)
ERRORS: dict[type[Request[Any]], tuple[type[BrokerResponseError], ...]] = {
    FetchRequest: (
        *_LEADER_TROUBLE,
        UnknownTopicIdError,
        InconsistentTopicIdError,
        FetchSessionIdNotFound,
        InvalidFetchSessionEpoch,
        FetchSessionTopicIdError,
        UnknownError,
    ),
    ListOffsetsRequest: (*_LEADER_TROUBLE, RequestTimedOutError),
    OffsetForLeaderEpochRequest: _LEADER_TROUBLE,
    MetadataRequest: (LeaderNotAvailableError, UnknownTopicOrPartitionError, KafkaStorageError),
    FindCoordinatorRequest: (GroupCoordinatorNotAvailableError,),
    JoinGroupRequest: (
        *_GROUP_TROUBLE,
        UnknownMemberIdError,
        IllegalGenerationError,
        RebalanceInProgressError,
    ),
    SyncGroupRequest: (
        *_GROUP_TROUBLE,
        UnknownMemberIdError,
        IllegalGenerationError,
        RebalanceInProgressError,
    ),
    HeartbeatRequest: (
        *_GROUP_TROUBLE,
        UnknownMemberIdError,
        IllegalGenerationError,
        RebalanceInProgressError,
    ),
    LeaveGroupRequest: (*_GROUP_TROUBLE, UnknownMemberIdError),
    ConsumerGroupHeartbeatRequest: (
        *_GROUP_TROUBLE,
        FencedMemberEpochError,
        UnknownMemberIdError,
    ),
    OffsetCommitRequest: (
        StaleMemberEpochError,
        *_GROUP_TROUBLE,
        UnknownMemberIdError,
        IllegalGenerationError,
        RebalanceInProgressError,
        RequestTimedOutError,
        UnknownTopicOrPartitionError,
        UnknownTopicIdError,
    ),
    OffsetFetchRequest: (
        *_GROUP_TROUBLE,
        UnstableOffsetCommitError,
        UnknownTopicIdError,
        UnknownMemberIdError,
    ),
}
"""What brokers may say for a while. Left out is what is for good (an authorization), and
OFFSET_OUT_OF_RANGE, on which any client begins anew."""

Steps = tuple[st.SearchStrategy[Step], ...]

_members = st.integers(0, MEMBERS - 1)
_topics = st.sampled_from(TOPICS)
_partitions = st.integers(0, 1)
_any_partitions = st.integers(0, 5)
_nodes = st.integers(1, NODES)
_cancels = st.builds(Cancel, st.sampled_from([0, 1, 20, 200, 2000]), st.integers(0, 8))
_maybe_cancels = st.one_of(st.none(), st.none(), st.none(), _cancels)
_waits = st.builds(Wait, st.sampled_from([0, 1, 20, 200, 1000, 4000, 8000]))
_first_waits = st.builds(Wait, st.sampled_from([7000, 7000, 1000, 0]))
_pauses: st.SearchStrategy[list[Step]] = st.sampled_from([[Wait(20)], [Wait(1100)], []])
"""Or else nothing has come of the calls before the next thing happens."""
_options = st.builds(
    MemberOptions,
    is_static=st.sampled_from([False, False, True]),
    auto_commit_interval_ms=st.sampled_from([200, 1000, 5000, None]),
    max_poll_records=st.sampled_from([None, 2]),
    prefetch_max_bytes=st.sampled_from([0, 0, 500]),
    max_poll_interval_ms=st.sampled_from([300_000, 300_000, 10_000]),
    fetch_max_bytes=st.sampled_from([52_428_800, 1]),
    metadata_max_age_ms=st.sampled_from([METADATA_MAX_AGE_MS, 1000]),
    listening=st.sampled_from([Listening.RETURNS, *Listening]),
)
_waiting = _options.map(lambda options: options._replace(listening=Listening.WAITS))
_joins = st.builds(Join, _members, _options)
_writes = st.builds(
    Write,
    st.sampled_from([*TOPICS, TOPICS[0]]),
    _partitions,
    st.sampled_from([(1,) * 6, (1,), (2,) * 5, (4, 1, 4)]),
)
_creates = (_topics, st.integers(1, 3))


def _polls(member: int) -> st.SearchStrategy[Poll]:
    return st.builds(
        Poll,
        st.just(member),
        st.sampled_from(Way),
        st.sampled_from([1, 2, 3, 5, 2, 3, 100]),
        st.sampled_from([200, 20, 0, 1000]),
        _maybe_cancels,
        st.one_of(st.none(), st.none(), _any_partitions),
    )


def _fails_of(api: type[Request[Any]]) -> st.SearchStrategy[FailApi]:
    times = st.sampled_from([1, 1, 2, 5])
    topics = st.one_of(st.none(), st.none(), _topics)
    return st.builds(
        FailApi, st.just(api), st.sampled_from(ERRORS[api]), times, topics, _partitions
    )


_fails = st.sampled_from(list(ERRORS)).flatmap(_fails_of)
_truncations = st.builds(
    Truncate,
    st.sampled_from([*TOPICS, TOPICS[0]]),
    _partitions,
    st.sampled_from([1, 3, 6, 20]),
    st.sampled_from([9, 25, 3, 0]),
    _nodes,
    st.booleans(),
)
_troubles = st.builds(
    Trouble,
    st.sampled_from(["cut", "drop", "delay", "throttle", "stall"]),
    st.sampled_from([*ERRORS, ApiVersionsRequest]),
    st.sampled_from([0, 5, 40, 300, 4000]),
)


def _comes_and_goes(member: int) -> Steps:
    return (st.just(Fail(member)), st.just(Leave(member)), st.just(Rebalance(member)))


def _positions(member: int) -> Steps:
    return (
        st.builds(Seek, st.just(member), _any_partitions, st.integers(-5, 5)),
        st.builds(SeekTo, st.just(member), _any_partitions, st.booleans(), _maybe_cancels),
        st.builds(Pause, st.just(member), _any_partitions),
        st.just(Resume(member)),
    )


def _commits(member: int) -> Steps:
    hows = st.sampled_from(["all", "async", "given"])
    return (
        st.builds(Commit, st.just(member), hows, _maybe_cancels),
        st.builds(Look, st.just(member), _maybe_cancels),
    )


def _works(member: int) -> Steps:
    return (st.builds(Work, st.just(member), st.sampled_from([20, 1000, 8000, 15_000])),)


CALLS: dict[str, Callable[[int], Steps]] = {
    "positions": _positions,
    "commits": _commits,
    "work": _works,
}
"""What an application does, by kind, beside asking for records."""

EVENTS: dict[str, Steps] = {
    "crashes": (st.builds(Crash, _members),),
    "topics": (
        st.builds(Delete, _topics),
        st.builds(Create, *_creates),
        st.builds(Recreate, *_creates),
        st.builds(Grow, _topics),
    ),
    "truncation": (
        _truncations,
        _truncations,
        st.builds(MoveLeader, _topics, _partitions, _nodes),
    ),
    "trimming": (st.builds(Trim, _topics, _partitions, st.integers(1, 6)),),
    "leaders": (st.builds(MoveLeader, _topics, _partitions, _nodes),),
    "nodes": (
        st.builds(StopNode, _nodes),
        st.builds(StartNode, _nodes),
        st.builds(Disconnect, _nodes),
    ),
    "network": (
        st.builds(Isolate, _members),
        st.just(Reconnect()),
        st.builds(Latency, st.sampled_from([0, 2, 20, 700])),
    ),
    "coordinator": (
        st.builds(MoveCoordinator, st.one_of(_nodes, _nodes, _nodes, st.none())),
        st.builds(Rebalance, _members),
    ),
    "errors": (_fails,),
    "trouble": (_troubles, _troubles, st.just(Release())),
    "expulsion": (
        st.builds(
            FailApi,
            st.sampled_from([HeartbeatRequest, ConsumerGroupHeartbeatRequest, OffsetCommitRequest]),
            st.sampled_from([UnknownMemberIdError, IllegalGenerationError, FencedMemberEpochError]),
            st.just(1),
            st.none(),
            st.just(0),
        ),
        st.builds(Join, _members, _waiting),
    ),
}
"""What happens to members and cluster, by kind, beside records that are written."""
KINDS = sorted(CALLS.keys() | EVENTS.keys())


def _only_polls(member: int) -> Steps:
    return (_polls(member), _polls(member))


@st.composite
def group_schedules(draw: st.DrawFn) -> list[Step]:
    """Some members; then again and again calls of one of them, and what happens meanwhile."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True))
    events = [each for kind in kinds for each in EVENTS.get(kind, ())]
    event = st.one_of(_writes, _waits, _joins, *events)
    members = draw(st.sampled_from([2, 1, 3]))
    schedule: list[Step] = [Join(number, draw(_options)) for number in range(members)]
    schedule.append(draw(_first_waits))
    for _ in range(draw(st.integers(1, 14))):
        member = draw(st.integers(0, members - 1))
        calls = [_polls(member), *_comes_and_goes(member)]
        for kind in kinds:
            calls += CALLS.get(kind, _only_polls)(member)
        schedule += draw(st.lists(_polls(member), max_size=4))
        schedule += draw(st.lists(st.one_of(*calls), max_size=1))
        schedule += draw(_pauses)
        schedule += draw(st.lists(event, max_size=4))
    return schedule


__all__ = ["ERRORS", "KINDS", "group_schedules"]
