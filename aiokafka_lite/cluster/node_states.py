"""What a client remembers of each node between connections, and which node it asks if any will do.

A node has failed attempts to connect, the backoff they cause, and throttles (KIP-219). The caller
passes `now_s`, in seconds of the client's monotonic clock. Does not wait.
"""

import random
from collections.abc import Collection

from aiokafka_lite.cluster.lane import AnyLane
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.errors import AuthenticationFailedError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.light_named_tuple import NamedTuple

NEVER = float("-inf")
SLOW_CONNECT_S = 1.0
"""A node that has been connected to for so long without success is asked after all others. Java
asks it again and again, for as long as the attempt may take."""


@dataclass(slots=True, eq=False)
class NodeState:
    """The attempts to connect to one node."""

    last_attempt_s: float = NEVER
    """When the newest attempt to connect began."""

    failures: int = 0
    """How many attempts failed, or lost their connection, since the last connection was ready."""

    failed_at_s: float = NEVER
    """When the newest failure happened."""

    backoff_s: float = 0.0
    """Seconds from `last_attempt_s` until the next attempt may begin; drawn once per failure."""

    last_error: BaseException | None = None
    """Why the newest attempt failed; None after a success."""


class NodeStates:
    """The states of all nodes that a client has tried to reach. An unknown node may be tried.

    From the number of failures, `reconnect_backoff` gives the seconds to wait before the next
    attempt, and `setup_timeout` the seconds that it may take.
    Source: KIP-144, KIP-601, ClusterConnectionStates.
    """

    def __init__(
        self, *, reconnect_backoff: ExponentialBackoff, setup_timeout: ExponentialBackoff
    ) -> None:
        self._reconnect_backoff = reconnect_backoff
        self._setup_timeout = setup_timeout
        self._nodes: dict[int, NodeState] = {}
        self._muted_until_s: dict[tuple[int, AnyLane], float] = {}

    def connecting(self, node_id: int, now_s: float) -> float:
        """Note that an attempt begins now; return the seconds that it may take."""
        state = self._nodes.setdefault(node_id, NodeState())
        state.last_attempt_s = now_s
        return self._setup_timeout.delay(state.failures)

    def ready(self, node_id: int) -> None:
        """Note that a connection is ready for requests. Only this ends the backoff (2f-3)."""
        state = self._nodes.setdefault(node_id, NodeState())
        state.failures = 0
        state.backoff_s = 0.0
        state.last_error = None

    def failed(self, node_id: int, began_s: float, now_s: float, error: BaseException) -> None:
        """Note that the attempt which began at `began_s` failed, or that its connection was lost.

        An attempt that began before the newest failure does not count again. So attempts of several
        lanes that fail together count once. A failed authentication is followed by the longest
        backoff, because servers lock out users after a few attempts in a short time.
        """
        state = self._nodes.setdefault(node_id, NodeState())
        state.last_error = error
        if began_s < state.failed_at_s:
            return
        state.failed_at_s = now_s
        state.backoff_s = self._reconnect_backoff.delay(state.failures)
        if isinstance(error, AuthenticationFailedError):
            state.backoff_s = self._reconnect_backoff.max_s
        state.failures += 1

    def failures(self, node_id: int) -> int:
        """Return how many attempts failed or connections were lost since the node was ready."""
        state = self._nodes.get(node_id)
        return 0 if state is None else state.failures

    def backoff_left(self, node_id: int, now_s: float) -> float:
        """Return the seconds until a new connection to the node may be tried; 0: now."""
        state = self._nodes.get(node_id)
        if state is None or not state.backoff_s:
            return 0.0
        return max(0.0, state.last_attempt_s + state.backoff_s - now_s)

    def mute(self, node_id: int, lane: AnyLane, until_s: float) -> None:
        """Note that the broker throttles this lane: no request before `until_s` (KIP-219)."""
        key = (node_id, lane)
        self._muted_until_s[key] = max(until_s, self._muted_until_s.get(key, NEVER))

    def mute_left(self, node_id: int, lane: AnyLane, now_s: float) -> float:
        """Return the seconds until the lane may carry requests again; 0: now."""
        if not self._muted_until_s:  # the usual case; every request comes here
            return 0.0
        key = (node_id, lane)
        until_s = self._muted_until_s.get(key)
        if until_s is None:
            return 0.0
        if until_s <= now_s:
            del self._muted_until_s[key]
            return 0.0
        return until_s - now_s

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
        """Forget the node, which has left the cluster or has another address now."""
        self._nodes.pop(node_id, None)
        for key in [key for key in list(self._muted_until_s) if key[0] == node_id]:
            del self._muted_until_s[key]


class Candidate(NamedTuple):
    """A node that may be asked, with the state of the lane that the request would take."""

    node_id: int
    is_connected: bool
    connecting_for_s: float | None
    """How long a connection has been in the making; None: none is being made."""

    in_flight: int
    """Unanswered requests on the open connection."""

    delay_s: float
    """Backoff or throttle left. A node with a delay is not asked."""

    last_attempt_s: float


def least_loaded(candidates: Collection[Candidate], rng: random.Random) -> int | None:
    """Return the node to ask if any will do; None if no node may be asked now.

    The connected node with the fewest requests in flight comes first. Then comes a node that is
    being connected, and then the node whose last attempt is longest ago. A node that takes
    `SLOW_CONNECT_S` to connect to comes last. Chance decides between equals, so that many clients
    do not all choose one node (2f-8).
    Source: NetworkClient.leastLoadedNode.
    """
    usable = [candidate for candidate in candidates if candidate.delay_s <= 0.0]
    if not usable:
        return None
    rng.shuffle(usable)
    return min(usable, key=_burden).node_id


def _burden(candidate: Candidate) -> tuple[int, float]:
    if candidate.is_connected:
        return 0, candidate.in_flight
    if candidate.connecting_for_s is None:
        return 2, candidate.last_attempt_s
    return (1, 0) if candidate.connecting_for_s < SLOW_CONNECT_S else (3, 0)


__all__ = ["SLOW_CONNECT_S", "Candidate", "NodeState", "NodeStates", "least_loaded"]
