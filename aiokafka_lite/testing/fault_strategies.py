"""Finds fault schedules by hypothesis, for tests of users: `fault_schedules()`.

Imports hypothesis, which a program installs by itself: `pip install hypothesis`. Does not wait.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from hypothesis import strategies as st

from aiokafka_lite.testing.broker.fault_names import api_key_of, error_code_of
from aiokafka_lite.testing.fault_schedule import (
    Cut,
    Delay,
    Disconnect,
    Drop,
    Fail,
    FaultSchedule,
    ScheduledFault,
    StartNode,
    StopNode,
)

RETRIABLE_ERRORS: Mapping[str, Sequence[str]] = {
    "Produce": ("NOT_LEADER_OR_FOLLOWER", "NOT_ENOUGH_REPLICAS", "REQUEST_TIMED_OUT"),
    "Fetch": ("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION", "KAFKA_STORAGE_ERROR"),
    "Metadata": ("LEADER_NOT_AVAILABLE",),
    "ListOffsets": ("NOT_LEADER_OR_FOLLOWER",),
    "FindCoordinator": ("COORDINATOR_NOT_AVAILABLE",),
    "JoinGroup": ("COORDINATOR_LOAD_IN_PROGRESS", "NOT_COORDINATOR"),
    "SyncGroup": ("NOT_COORDINATOR", "REBALANCE_IN_PROGRESS"),
    "Heartbeat": ("NOT_COORDINATOR", "REBALANCE_IN_PROGRESS"),
    "OffsetCommit": ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"),
    "OffsetFetch": ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS"),
}
"""Errors by API that a client is expected to survive."""

_MOMENTS_S = (0.0, 0.01, 0.1, 0.5, 2.0, 10.0, 60.0)


def fault_schedules(
    *,
    nodes: int = 1,
    errors: Mapping[str, Sequence[str]] = RETRIABLE_ERRORS,
    max_faults: int = 8,
    moments_s: Sequence[float] = _MOMENTS_S,
) -> st.SearchStrategy[FaultSchedule]:
    """Return a strategy of schedules for a cluster of `nodes`.

        @given(schedule=fault_schedules(nodes=3))
        def test_nothing_is_lost(schedule: FaultSchedule) -> None: ...

    A schedule has up to `max_faults`, at `moments_s` after its beginning. `errors` has the APIs
    whose requests fail, are cut off, not answered or late, each with the errors that it fails with.
    With more than one node, nodes stop and start, too, and one of them always runs. The simplest
    schedule has no fault, and hypothesis shrinks towards it: to fewer faults, earlier, with the
    errors that come first.

    Raises: ValueError for an unknown name of an API or error, or without APIs.
    """
    for api, names in errors.items():
        api_key_of(api)
        for name in names:
            error_code_of(name)
    if not errors:
        raise ValueError("errors must have at least one API, such as {'Produce': []}")
    moment = st.sampled_from(sorted(moments_s))
    entry = st.tuples(moment, _faults(nodes, errors))
    return st.lists(entry, max_size=max_faults).map(partial(_in_order, nodes))


def _in_order(nodes: int, entries: list[tuple[float, ScheduledFault]]) -> FaultSchedule:
    """Return a schedule of the faults in the order of their times; a node always runs."""
    alive = set(range(1, nodes + 1))
    kept = []
    for at_s, fault in sorted(entries, key=lambda entry: entry[0]):
        if isinstance(fault, StartNode):
            alive.add(fault.node_id)
        elif isinstance(fault, StopNode):
            if alive <= {fault.node_id}:
                continue
            alive.discard(fault.node_id)
        kept.append((at_s, fault))
    return FaultSchedule(tuple(kept))


def _faults(nodes: int, errors: Mapping[str, Sequence[str]]) -> st.SearchStrategy[ScheduledFault]:
    api = st.sampled_from(list(errors))
    node = st.integers(1, nodes)
    failures = [(name, error) for name, names in errors.items() for error in names]
    kinds: list[st.SearchStrategy[ScheduledFault]] = []
    if failures:
        kinds.append(
            st.builds(
                lambda failure, times: Fail(failure[0], failure[1], times),
                st.sampled_from(failures),
                st.sampled_from([1, 2, 5]),
            )
        )
    kinds += [
        st.builds(Disconnect, node),
        st.builds(Cut, api, st.sampled_from([0, 1, 20])),
        st.builds(Drop, api),
        st.builds(Delay, api, st.sampled_from([0.1, 5.0, 40.0])),
    ]
    if nodes > 1:
        kinds += [st.builds(StopNode, node), st.builds(StartNode, node)]
    return st.one_of(kinds)


__all__ = ["RETRIABLE_ERRORS", "fault_schedules"]
