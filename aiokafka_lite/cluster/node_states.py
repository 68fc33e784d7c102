"""Owns what a client remembers of each node between connections: failed attempts and the backoff
they cause, and until when the node asked not to be bothered (KIP-219). Also the rule which node
to ask when any will do. It holds no connection, reads no clock and does not wait: `now` comes in,
in seconds of the client's monotonic clock.
"""

import random
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.concurrency.backoff import ExponentialBackoff

NEVER = float("-inf")


@dataclass(slots=True)
class NodeState:
    """What is remembered of one node."""

    last_attempt_s: float = NEVER
    """When the newest attempt to connect began."""

    failures: int = 0
    """Attempts that did not end in a ready connection, or whose connection dropped, since the last
    ready one."""

    failed_at_s: float = NEVER
    """When the newest of them failed."""

    backoff_s: float = 0.0
    """How long after `last_attempt_s` the next attempt may begin; drawn once per failure."""

    last_error: BaseException | None = None
    """Why the newest attempt failed; None after a success."""


class NodeStates:
    """The states of all nodes a client has tried to reach. Unknown nodes are ready to be tried.

    `reconnect_backoff` gives the seconds to wait by number of failures, `setup_timeout` the seconds
    an attempt may take by number of failures. Source: KIP-144, KIP-601, ClusterConnectionStates.
    """

    def __init__(
        self, *, reconnect_backoff: ExponentialBackoff, setup_timeout: ExponentialBackoff
    ) -> None:
        self._reconnect_backoff = reconnect_backoff
        self._setup_timeout = setup_timeout
        self._nodes: dict[int, NodeState] = {}
        self._muted_until_s: dict[tuple[int, Lane], float] = {}

    def connecting(self, node_id: int, now: float) -> float:
        """Note that an attempt begins now; return the seconds its connection setup may take."""
        state = self._nodes.setdefault(node_id, NodeState())
        state.last_attempt_s = now
        return self._setup_timeout.delay(state.failures)

    def ready(self, node_id: int) -> None:
        """Note that a connection is ready for requests; only this ends the backoff (2f-3)."""
        state = self._nodes.setdefault(node_id, NodeState())
        state.failures = 0
        state.backoff_s = 0.0
        state.last_error = None

    def failed(self, node_id: int, began_s: float, now: float, error: BaseException) -> None:
        """Note that the attempt which began at `began_s` failed, or that its connection dropped.

        Attempts of several lanes that fail together count once: one that began before the newest
        failure knows nothing new about the node.
        """
        state = self._nodes.setdefault(node_id, NodeState())
        state.last_error = error
        if began_s < state.failed_at_s:
            return
        state.failed_at_s = now
        state.backoff_s = self._reconnect_backoff.delay(state.failures)
        state.failures += 1

    def backoff_left(self, node_id: int, now: float) -> float:
        """Return the seconds until a new connection to the node may be tried; 0: now."""
        state = self._nodes.get(node_id)
        if state is None or not state.backoff_s:
            return 0.0
        return max(0.0, state.last_attempt_s + state.backoff_s - now)

    def mute(self, node_id: int, lane: Lane, until_s: float) -> None:
        """Note that the broker throttles this lane: no request before `until_s` (KIP-219)."""
        key = (node_id, lane)
        self._muted_until_s[key] = max(until_s, self._muted_until_s.get(key, NEVER))

    def mute_left(self, node_id: int, lane: Lane, now: float) -> float:
        """Return the seconds until the lane may carry requests again; 0: now."""
        if not self._muted_until_s:  # the usual case, on the way of every request
            return 0.0
        key = (node_id, lane)
        until_s = self._muted_until_s.get(key)
        if until_s is None:
            return 0.0
        if until_s <= now:
            del self._muted_until_s[key]
            return 0.0
        return until_s - now

    def last_attempt(self, node_id: int) -> float:
        """Return when the newest attempt to connect began; -inf if there was none."""
        state = self._nodes.get(node_id)
        return NEVER if state is None else state.last_attempt_s

    def last_failure(self, node_id: int) -> float:
        """Return when an attempt failed last, or its connection dropped; -inf if none did."""
        state = self._nodes.get(node_id)
        return NEVER if state is None else state.failed_at_s

    def last_error(self, node_id: int) -> BaseException | None:
        """Return why the newest attempt failed; None if it did not."""
        state = self._nodes.get(node_id)
        return None if state is None else state.last_error

    def forget(self, node_id: int) -> None:
        """Drop everything about the node: it is gone, or lives at another address now."""
        self._nodes.pop(node_id, None)
        for lane in Lane:
            self._muted_until_s.pop((node_id, lane), None)


class Candidate(NamedTuple):
    """A node that might be asked, seen through the lane the question would take."""

    node_id: int
    is_connected: bool
    is_connecting: bool
    in_flight: int
    """Unanswered requests on the open connection."""

    delay_s: float
    """Backoff or throttle left. A node with a delay is not asked."""

    last_attempt_s: float


def least_loaded(candidates: Collection[Candidate], rng: random.Random) -> int | None:
    """Return the node to ask when any will do, None if none may be asked now.

    A connected one with nothing in flight wins; then the connected one with the fewest in flight;
    then one that is being connected; then the one not tried for longest. Ties are broken by chance,
    so that many clients do not lean on one node (2f-8). Source: NetworkClient.leastLoadedNode.
    """
    usable = [candidate for candidate in candidates if candidate.delay_s <= 0.0]
    if not usable:
        return None
    rng.shuffle(usable)
    return min(usable, key=_burden).node_id


def _burden(candidate: Candidate) -> tuple[int, float]:
    if candidate.is_connected:
        return 0, candidate.in_flight
    if candidate.is_connecting:
        return 1, 0
    return 2, candidate.last_attempt_s


__all__ = ["Candidate", "NodeState", "NodeStates", "least_loaded"]
