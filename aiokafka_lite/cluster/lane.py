"""The lanes: one client has up to three connections to a node, one for each kind of request.

So a request that the broker may hold back never delays an urgent one. Does not wait.
"""

from enum import Enum

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.metrics.observer import Observer


class Lane(Enum):
    """The kind of a connection. Requests of one lane to one node share a connection, in order."""

    GENERAL = "general"
    """Metadata, Produce and offsets, also commits: requests that the broker answers at once.

    A broker reads the next request of a connection after it has answered the last. Behind a
    JoinGroup, a commit would wait for the whole rebalance.
    """

    FETCH = "fetch"
    """Fetch, which the broker may hold back for `fetch_max_wait_ms`."""

    COORDINATOR = "coordinator"
    """Group and transaction requests. A heartbeat must not queue behind a Fetch (F1)."""

    __hash__ = object.__hash__  # that of Enum is a function in Python


@dataclass(slots=True, eq=False)
class OwnLane:
    """A lane for one client alone, among the connections that it shares with others."""

    value: str
    """Names it in texts."""

    client_id: str
    max_answer_bytes: int
    """How many bytes a response may have."""

    observer: Observer


AnyLane = Lane | OwnLane

__all__ = ["AnyLane", "Lane", "OwnLane"]
