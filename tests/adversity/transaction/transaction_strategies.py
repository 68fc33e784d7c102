"""Strategies of all schedules with transactions. Each schedule gives them their weights."""

from typing import Any

from hypothesis import strategies as st

from aiokafka_lite.errors import (
    ConcurrentTransactions,
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    NotCoordinatorForGroupError,
)
from tests.adversity.producer.producer_schedules import (
    NODES,
    Disconnect,
    Latency,
    MoveLeader,
    StartNode,
    StopNode,
    Wait,
)
from tests.adversity.transaction.transaction_schedules import DelayOf, FailOf, MoveCoordinator

Apis = st.SearchStrategy[Any]

nodes = st.integers(1, NODES)
waits = st.builds(Wait, st.sampled_from([1, 30, 200, 1000, 5000, 12_000]))
latencies = st.builds(Latency, st.sampled_from([0, 2, 20, 700, 1500]))
new_leaders = st.builds(MoveLeader, st.integers(0, 1), nodes)
new_coordinators = st.builds(MoveCoordinator, nodes)
stops = st.builds(StopNode, nodes)
starts = st.builds(StartNode, nodes)
disconnects = st.builds(Disconnect, nodes)


def delays(apis: Apis) -> st.SearchStrategy[DelayOf]:
    """Answers that come late, but within the time of a request, and behind it."""
    return st.builds(DelayOf, apis, st.sampled_from([10, 300, 1500]))


def without_coordinator(apis: Apis, times: st.SearchStrategy[int]) -> st.SearchStrategy[FailOf]:
    """Refusals of a coordinator that is not there, or not yet."""
    errors = [
        GroupCoordinatorNotAvailableError,
        NotCoordinatorForGroupError,
        GroupLoadInProgressError,
    ]
    return st.builds(FailOf, apis, st.sampled_from(errors), times)


def concurrent(apis: Apis, times: st.SearchStrategy[int]) -> st.SearchStrategy[FailOf]:
    """Refusals while the transaction before has not ended."""
    return st.builds(FailOf, apis, st.just(ConcurrentTransactions), times)


__all__ = [
    "concurrent",
    "delays",
    "disconnects",
    "latencies",
    "new_coordinators",
    "new_leaders",
    "nodes",
    "starts",
    "stops",
    "waits",
    "without_coordinator",
]
