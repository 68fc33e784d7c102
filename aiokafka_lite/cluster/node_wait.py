"""Owns the answer to why a request to a node would have to wait. It reads and changes nothing. Does
not wait.
"""

from typing import NamedTuple

from aiokafka_lite.cluster.connection_pool import ConnectionPool
from aiokafka_lite.cluster.guest_connections import GuestConnections
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.errors import AuthenticationFailedError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.explanation import WaitReason


class NodeWait(NamedTuple):
    """Why a request to one lane of a node waits."""

    reason: WaitReason
    text: str
    """The end of a sentence that began with what waits."""
    delay_s: float | None
    """Seconds until the lane is tried again; None: not known."""
    error: str | None


def node_wait(
    pool: ConnectionPool | GuestConnections, node_id: int, lane: Lane, now_s: float
) -> NodeWait | None:
    """Return why a request to the lane would have to wait; None: it would go, or connect, now."""
    states = pool.states
    error = states.last_error(node_id)
    said = None if error is None else reason_of(error)
    muted_s = pool.mute_left(node_id, lane, now_s)
    if muted_s > 0:
        text = f"node {node_id} has told the client to wait for another {muted_s:.3f} s"
        return NodeWait(WaitReason.THROTTLED, f"{text}: it is over its quota", muted_s, None)
    if pool.connected(node_id, lane) is not None:
        return None
    if pool.is_connecting(node_id, lane):
        silence = pool.silence(node_id, lane)
        text = f"the connection to node {node_id} is being made"
        text += f": {silence}" if silence else ""
        return NodeWait(WaitReason.CONNECTING, text, None, None)
    backoff_s = states.backoff_left(node_id, now_s)
    if backoff_s <= 0 or said is None:
        return None
    is_refused = isinstance(error, AuthenticationFailedError)
    reason = WaitReason.AUTHENTICATION_FAILED if is_refused else WaitReason.NODE_BACKING_OFF
    text = "did not accept the client" if is_refused else "cannot be reached"
    text = f"node {node_id} {text}, and is tried again in {backoff_s:.3f} s: {said}"
    return NodeWait(reason, text, backoff_s, said)


__all__ = ["NodeWait", "node_wait"]
