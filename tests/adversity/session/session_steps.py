"""What may happen to exactly-once sessions that copy one topic to another, as data.

`member` counts the places: each has a transactional id, and one session after the other takes it.
"""

from enum import Enum
from typing import NamedTuple

from tests.adversity.cluster_troubles import ClusterStep
from tests.adversity.group.group_steps import Cancel, Crash, Isolate, MoveLeader, Wait, Work, Write

INPUT, OUTPUT = "in", "out"
INPUT_PARTITIONS = 3
OUTPUT_PARTITIONS = 2
SESSIONS = 3


class SessionOptions(NamedTuple):
    """How a session is set up."""

    is_static: bool = False
    max_poll_interval_ms: int = 300_000
    buffer_memory: int = 33_554_432
    """Of the producer: with little of it, send() waits."""
    prefetch_max_bytes: int = 0
    listens_ms: int = 0
    """How long a rebalance listener takes in each of its methods; 0: there is none."""


class Sending(Enum):
    """How the block of a batch sends."""

    ONE_BY_ONE = "each send() is awaited"
    BESIDE = "each send() is a task, which nobody ends when the block does"
    ACKNOWLEDGED = "each send_and_wait() is awaited"


class Ending(Enum):
    """How the block of a batch ends, if nobody cancels it."""

    RETURNS = "in order"
    RAISES = "by an exception, after which there is another batch"
    LEAVES = "by an exception that ends the session"


class Limit(Enum):
    """Who ends a batch that takes too long."""

    ASYNCIO = "asyncio.timeout()"
    ANYIO = "anyio.move_on_after()"


class Copy(NamedTuple):
    """One batch: its records are copied."""

    member: int
    records: int = 100
    timeout_ms: int = 200
    sending: Sending = Sending.ONE_BY_ONE
    works_ms: int = 0
    """How long the block goes on when everything is sent."""
    ending: Ending = Ending.RETURNS
    after: int = 100
    """How many records are sent when the block raises, at most."""
    cancels: tuple[Cancel, ...] = ()
    limit: Limit | None = None
    limit_ms: int = 0


class Join(NamedTuple):
    """A session takes the place, if it is free."""

    member: int
    options: SessionOptions = SessionOptions()


class TakeOver(NamedTuple):
    """A session takes the place, and the one that has it goes on copying until it is refused."""

    member: int
    options: SessionOptions = SessionOptions()


class Leave(NamedTuple):
    """The block of `async with` ends in order."""

    member: int


class End(NamedTuple):
    """The task of a session is cancelled, whatever it does."""

    member: int
    times: int = 1


class Rebalance(NamedTuple):
    """enforce_rebalance()."""

    member: int


class Expel(NamedTuple):
    """The coordinator has a member no more, as after its session ran out."""

    member: int


class MoveTransactions(NamedTuple):
    """Another node coordinates the transactions of a place; None: nobody does, for now."""

    member: int
    node: int | None


class HoldMarkers(NamedTuple):
    """Transactions that end stay without markers."""


class ReleaseMarkers(NamedTuple):
    """They get them."""


OfSession = Copy | Work | Leave | Rebalance
"""Steps that the application of a session takes, one after the other."""

SessionStep = (
    OfSession
    | Join
    | TakeOver
    | End
    | Crash
    | Isolate
    | Expel
    | MoveTransactions
    | HoldMarkers
    | ReleaseMarkers
    | MoveLeader
    | Write
    | Wait
    | ClusterStep
)
