"""Schedules for exactly-once sessions as hypothesis makes them up: each has some kinds of trouble,
and those densely.
"""

from functools import partial
from typing import Any

from hypothesis import strategies as st

from aiokafka_lite.errors import (
    BrokerResponseError,
    ConcurrentTransactions,
    FencedInstanceIdError,
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    IllegalGenerationError,
    InvalidProducerIdMapping,
    InvalidRecordError,
    InvalidTxnState,
    NotCoordinatorForGroupError,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
    ProducerFenced,
    RequestTimedOutError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.schema.message import Request
from tests.adversity.group.group_steps import (
    NODES,
    Cancel,
    Crash,
    Disconnect,
    FailApi,
    Isolate,
    Latency,
    MoveCoordinator,
    MoveLeader,
    Reconnect,
    Release,
    StartNode,
    StopNode,
    Trouble,
    Wait,
    Work,
    Write,
)
from tests.adversity.group.group_strategies import ERRORS as GROUP_ERRORS
from tests.adversity.session.session_steps import (
    INPUT,
    OUTPUT,
    SESSIONS,
    Copy,
    End,
    Ending,
    Expel,
    HoldMarkers,
    Join,
    Leave,
    Limit,
    MoveTransactions,
    Rebalance,
    ReleaseMarkers,
    Sending,
    SessionOptions,
    SessionStep,
    TakeOver,
)

_COORDINATOR_TROUBLE = (
    GroupLoadInProgressError,
    GroupCoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
ERRORS: dict[type[Request[Any]], tuple[type[BrokerResponseError], ...]] = {
    AddPartitionsToTxnRequest: (*_COORDINATOR_TROUBLE, ConcurrentTransactions),
    AddOffsetsToTxnRequest: (*_COORDINATOR_TROUBLE, ConcurrentTransactions),
    TxnOffsetCommitRequest: (
        *_COORDINATOR_TROUBLE,
        RequestTimedOutError,
        UnknownTopicOrPartitionError,
        UnknownMemberIdError,
        IllegalGenerationError,
    ),
    EndTxnRequest: (*_COORDINATOR_TROUBLE, ConcurrentTransactions),
    InitProducerIdRequest: (*_COORDINATOR_TROUBLE, ConcurrentTransactions),
    ProduceRequest: (NotLeaderForPartitionError, NotEnoughReplicasError, InvalidRecordError),
}
"""What the APIs of transactions may answer for a while."""
FATAL: dict[type[Request[Any]], tuple[type[BrokerResponseError], ...]] = {
    AddPartitionsToTxnRequest: (ProducerFenced, InvalidTxnState, InvalidProducerIdMapping),
    AddOffsetsToTxnRequest: (ProducerFenced, InvalidTxnState, InvalidProducerIdMapping),
    TxnOffsetCommitRequest: (ProducerFenced, FencedInstanceIdError),
    EndTxnRequest: (ProducerFenced, InvalidTxnState, InvalidProducerIdMapping),
    ProduceRequest: (ProducerFenced, InvalidProducerIdMapping),
    HeartbeatRequest: (FencedInstanceIdError,),
}
"""What ends a session, or all that it can do without a new producer id."""
_EXPELLING: dict[type[Request[Any]], tuple[type[BrokerResponseError], ...]] = {
    HeartbeatRequest: (UnknownMemberIdError, IllegalGenerationError),
    TxnOffsetCommitRequest: (UnknownMemberIdError, IllegalGenerationError),
}
_COMMITTING = (TxnOffsetCommitRequest, EndTxnRequest, AddOffsetsToTxnRequest)

Steps = tuple[st.SearchStrategy[SessionStep], ...]

_members = st.integers(0, SESSIONS - 1)
_nodes = st.integers(1, NODES)
_maybe_nodes = st.one_of(_nodes, _nodes, st.none())
_cancels = st.lists(
    st.builds(Cancel, st.sampled_from([0, 0, 1, 20, 200, 2000]), st.integers(0, 8)),
    min_size=1,
    max_size=2,
).map(tuple)
_ms = st.sampled_from([0, 1, 20, 200, 1000, 4000, 8000])
_waits = st.builds(Wait, _ms)
_options = st.builds(
    SessionOptions,
    is_static=st.sampled_from([False, False, True]),
    max_poll_interval_ms=st.sampled_from([300_000, 300_000, 8_000]),
    buffer_memory=st.sampled_from([33_554_432, 33_554_432, 200]),
    prefetch_max_bytes=st.sampled_from([0, 0, 500]),
    listens_ms=st.sampled_from([0, 0, 1, 3000]),
)
_slow_options = _options.map(lambda options: options._replace(listens_ms=3000))
_writes = st.builds(
    Write,
    st.just(INPUT),
    st.integers(0, 2),
    st.lists(st.integers(1, 4), min_size=1, max_size=2).map(tuple),
)


_CALM: dict[str, st.SearchStrategy[Any]] = {
    "records": st.sampled_from([1, 2, 3, 7, 100]),
    "timeout_ms": st.sampled_from([200, 20, 1000, 5000]),
    "sending": st.sampled_from(Sending),
    "works_ms": st.sampled_from([0, 0, 0, 20, 1000, 8000]),
    "ending": st.just(Ending.RETURNS),
    "after": st.just(100),
    "cancels": st.just(()),
    "limit": st.none(),
    "limit_ms": st.just(0),
}
"""Nothing happens to the batch."""


def _copies(member: int, **others: st.SearchStrategy[Any]) -> st.SearchStrategy[Copy]:
    return st.builds(partial(Copy, member), **{**_CALM, **others})


_CALLS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "raising": {
        "ending": st.sampled_from([Ending.RAISES, Ending.RAISES, Ending.LEAVES]),
        "after": st.sampled_from([0, 1, 2, 5, 100]),
    },
    "cancelled": {"cancels": _cancels},
    "loose": {
        "sending": st.just(Sending.BESIDE),
        "works_ms": st.sampled_from([1000, 4000]),
        "ending": st.sampled_from([Ending.RAISES, Ending.RAISES, Ending.RETURNS]),
        "after": st.sampled_from([1, 2, 5]),
    },
    "limited": {"limit": st.sampled_from(Limit), "limit_ms": _ms},
}
"""What an application does with batches, by kind."""


def _fails(
    errors: dict[type[Request[Any]], tuple[type[BrokerResponseError], ...]],
    times: st.SearchStrategy[int],
) -> st.SearchStrategy[FailApi]:
    return st.sampled_from(list(errors)).flatmap(
        lambda api: st.builds(
            partial(FailApi, topic=None, partition=0),
            api=st.just(api),
            error=st.sampled_from(errors[api]),
            times=times,
        )
    )


def _troubles(apis: list[type[Request[Any]]]) -> st.SearchStrategy[Trouble]:
    return st.builds(
        Trouble,
        st.sampled_from(["drop", "cut", "delay", "stall", "throttle"]),
        st.sampled_from(apis),
        st.sampled_from([0, 5, 40, 300, 1500, 4000]),
    )


_times = st.sampled_from([1, 1, 2, 5, 40])
EVENTS: dict[str, Steps] = {
    "crashes": (st.builds(Crash, _members), st.builds(TakeOver, _members, _options)),
    "ends": (st.builds(End, _members, st.sampled_from([1, 2])), st.builds(Leave, _members)),
    "doubt": (
        _troubles([EndTxnRequest]),
        _troubles(list(_COMMITTING)),
        st.just(Trouble("drop", EndTxnRequest)),
        st.just(Release()),
    ),
    "sends": (
        _troubles([ProduceRequest, MetadataRequest, AddPartitionsToTxnRequest]),
        st.just(Release()),
    ),
    "loose": (
        st.builds(
            Trouble,
            st.sampled_from(["delay", "stall"]),
            st.just(MetadataRequest),
            st.sampled_from([300, 1500]),
        ),
        st.just(Release()),
        st.builds(Leave, _members),
    ),
    "answers": (_troubles([*ERRORS, *GROUP_ERRORS]), st.just(Release())),
    "errors": (_fails(ERRORS, _times),),
    "group errors": (_fails(GROUP_ERRORS, st.sampled_from([1, 1, 2, 5])),),
    "fatal errors": (_fails(FATAL, st.just(1)),),
    "membership": (
        st.builds(Expel, _members),
        st.builds(Rebalance, _members),
        _fails(_EXPELLING, st.just(1)),
        _troubles([OffsetFetchRequest, HeartbeatRequest]),
    ),
    "handover": (
        st.builds(Expel, _members),
        _fails(_EXPELLING, st.just(1)),
        st.builds(Join, _members, _slow_options),
        st.builds(Wait, st.sampled_from([500, 2000, 4000])),
    ),
    "silence": (st.builds(Work, _members, st.sampled_from([4000, 9000, 15_000])),),
    "coordinators": (
        st.builds(MoveCoordinator, _maybe_nodes),
        st.builds(MoveTransactions, _members, _maybe_nodes),
    ),
    "markers": (st.just(HoldMarkers()), st.just(ReleaseMarkers())),
    "leaders": (
        st.builds(MoveLeader, st.sampled_from([INPUT, OUTPUT]), st.integers(0, 2), _nodes),
    ),
    "nodes": (
        st.builds(StopNode, _nodes),
        st.builds(StartNode, _nodes),
        st.builds(Disconnect, _nodes),
    ),
    "network": (
        st.builds(Isolate, _members),
        st.just(Reconnect()),
        st.builds(Latency, st.sampled_from([0, 2, 20, 700, 1500])),
    ),
}
"""What happens to sessions and cluster, by kind."""


def _sends_left_alone(member: int) -> st.SearchStrategy[list[SessionStep]]:
    """A new producer asks where the output is, and two batches end and begin meanwhile."""
    return st.builds(
        lambda options, trouble, copies: [
            TakeOver(member, options),
            Wait(7000),
            trouble,
            *copies,
            Wait(1000),
            Release(),
        ],
        _options,
        st.builds(
            Trouble,
            st.sampled_from(["delay", "stall"]),
            st.just(MetadataRequest),
            st.sampled_from([300, 1500]),
        ),
        st.lists(_copies(member, **_CALLS["loose"]), min_size=2, max_size=3),
    )


def _membership_lost_in_handover(member: int) -> st.SearchStrategy[list[SessionStep]]:
    """Partitions are taken away by slow listeners, and the member is expelled meanwhile."""
    return st.builds(
        lambda joins, ms, expels, copies: [*joins, Wait(ms), *expels, *copies],
        st.lists(st.builds(TakeOver, _members, _slow_options), min_size=1, max_size=2),
        st.sampled_from([1100, 1500, 2000, 2500]),
        st.lists(st.builds(Expel, _members), min_size=1, max_size=2),
        st.lists(st.integers(0, 2).flatmap(_copies), min_size=2, max_size=6),
    )


_SCENES = {"loose": _sends_left_alone, "handover": _membership_lost_in_handover}
"""What comes together only by intention."""
KINDS = sorted(_CALLS.keys() | EVENTS.keys())


@st.composite
def session_schedules(draw: st.DrawFn) -> list[SessionStep]:
    """Some sessions; then again and again batches of one of them, and what happens meanwhile."""
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True))
    events = [each for kind in kinds for each in EVENTS.get(kind, ())]
    event = st.one_of(
        *(events or [_waits]), _waits, _writes, st.builds(Join, _members, _options), *events
    )
    others = [_CALLS[kind] for kind in kinds if kind in _CALLS]
    sessions = draw(st.sampled_from([2, 1, 3]))
    options = _slow_options if "handover" in kinds else _options
    schedule: list[SessionStep] = [Join(number, draw(options)) for number in range(sessions)]
    schedule.append(Wait(draw(st.sampled_from([7000, 1000, 0]))))
    for _ in range(draw(st.integers(1, 12))):
        member = draw(st.integers(0, sessions - 1))
        copy = st.one_of(_copies(member), *(_copies(member, **other) for other in others))
        schedule += draw(st.lists(event, max_size=3))
        for kind in filter(_SCENES.__contains__, kinds):
            schedule += draw(_SCENES[kind](member))
        schedule += draw(st.lists(copy, max_size=3))
        schedule += draw(st.lists(_waits, max_size=1))
    return schedule


__all__ = ["KINDS", "session_schedules"]
