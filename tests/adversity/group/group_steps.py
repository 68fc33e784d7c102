"""What may happen to a group of consumers, as data: what their applications call, what the members
suffer, and what becomes of the cluster.

`member` counts the places of the group; each is taken by one consumer after the other.
"""

from enum import Enum
from typing import Any, NamedTuple

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.schema.message import Request

TOPICS = ("a", "b")
MEMBERS = 3
NODES = 3
METADATA_MAX_AGE_MS = 150_000
"""Longer than a group may need to read everything: who waits for that, fails."""


class Listening(Enum):
    """What a rebalance listener does besides keeping the model's books."""

    RETURNS = "returns at once"
    WAITS = "waits in each of its methods"
    FAILS = "raises"
    COMMITS = "commits when partitions are taken away"


class MemberOptions(NamedTuple):
    """How a consumer is set up."""

    is_static: bool = False
    auto_commit_interval_ms: int | None = 200
    """None: the application commits after each second poll."""
    max_poll_records: int | None = None
    prefetch_max_bytes: int = 0
    max_poll_interval_ms: int = 300_000
    fetch_max_bytes: int = 52_428_800
    metadata_max_age_ms: int = METADATA_MAX_AGE_MS
    listening: Listening = Listening.RETURNS


class Cancel(NamedTuple):
    """When a call is cancelled: after so much time, and then so many turns of the loop."""

    ms: int
    turns: int = 0


class Way(Enum):
    """How the application asks for records."""

    GETMANY = "getmany"
    GETONE = "getone"
    ITERATION = "async for"
    COLUMNS = "getmany_columns"
    COLUMNS_UNTIL = "getmany_columns(until=)"


# What an application does…


class Join(NamedTuple):
    """A consumer takes the place, if it is free."""

    member: int
    options: MemberOptions = MemberOptions()


class Leave(NamedTuple):
    """The block of `async with` ends in order."""

    member: int


class Fail(NamedTuple):
    """An exception leaves the block: what was returned last is not processed."""

    member: int


class Poll(NamedTuple):
    """Ask for so many records; of one of the member's partitions only, if `only` says which."""

    member: int
    way: Way
    records: int = 100
    timeout_ms: int = 200
    cancel: Cancel | None = None
    only: int | None = None


class Work(NamedTuple):
    """The application is busy with what it got, and does not poll."""

    member: int
    ms: int


class Seek(NamedTuple):
    """Go back, or ahead, by so many records."""

    member: int
    partition: int
    by: int


class SeekTo(NamedTuple):
    """seek_to_beginning or seek_to_end of one partition."""

    member: int
    partition: int
    is_end: bool
    cancel: Cancel | None = None


class Pause(NamedTuple):
    """Pause one of the partitions."""

    member: int
    partition: int


class Resume(NamedTuple):
    """Resume all of them."""

    member: int


class Commit(NamedTuple):
    """All records that were returned are processed, and committed."""

    member: int
    how: str = "all"
    """"all", "async" or "given"."""
    cancel: Cancel | None = None


class Look(NamedTuple):
    """position() and committed() of all partitions."""

    member: int
    cancel: Cancel | None = None


class Rebalance(NamedTuple):
    """enforce_rebalance()."""

    member: int


# What a member suffers…


class Crash(NamedTuple):
    """Its process dies: nobody hears of it again."""

    member: int


class Isolate(NamedTuple):
    """The network lets nothing through from it, until `Reconnect`."""

    member: int


class Reconnect(NamedTuple):
    """The network is whole again for everybody."""


# What becomes of the cluster…


class Write(NamedTuple):
    """Batches of so many records."""

    topic: str
    partition: int
    sizes: tuple[int, ...]


class Trim(NamedTuple):
    """The oldest records are deleted."""

    topic: str
    partition: int
    records: int


class Truncate(NamedTuple):
    """An unclean election loses the newest records; the new leader gets others at once."""

    topic: str
    partition: int
    records: int
    written: int
    node: int
    is_alone: bool = True
    """Otherwise what the former leader led besides moves with it, and nothing of that is lost."""


class MoveLeader(NamedTuple):
    """A clean election."""

    topic: str
    partition: int
    node: int


class Delete(NamedTuple):
    """A topic goes."""

    topic: str


class Create(NamedTuple):
    """It comes, and is another one than before."""

    topic: str
    partitions: int


class Recreate(NamedTuple):
    """It goes and comes in one moment."""

    topic: str
    partitions: int


class Grow(NamedTuple):
    """It gets one more partition."""

    topic: str


class MoveCoordinator(NamedTuple):
    """Another node coordinates the group; None: nobody does, for now."""

    node: int | None


class StopNode(NamedTuple):
    """A node dies; others lead."""

    node: int


class StartNode(NamedTuple):
    """It comes back."""

    node: int


class Disconnect(NamedTuple):
    """Every connection to a node breaks."""

    node: int


class Latency(NamedTuple):
    """Bytes take this long one way, from now on."""

    ms: int


class Wait(NamedTuple):
    """Time goes on."""

    ms: int


class FailApi(NamedTuple):
    """The next requests are refused; of one partition only, if `topic` is given."""

    api: type[Request[Any]]
    error: type[BrokerResponseError]
    times: int = 1
    topic: str | None = None
    partition: int = 0


class Trouble(NamedTuple):
    """Trouble with the answers to the next requests."""

    kind: str
    """"cut", "drop", "delay", "throttle" or "stall"."""
    api: type[Request[Any]]
    amount: int = 0
    """Bytes of a cut, ms of a delay or throttle."""


class Release(NamedTuple):
    """Stalled requests go on."""


OfMember = Leave | Fail | Poll | Work | Seek | SeekTo | Pause | Resume | Commit | Look | Rebalance
"""Steps that the application of a member takes, one after the other."""

Step = (
    OfMember
    | Join
    | Crash
    | Isolate
    | Reconnect
    | Write
    | Trim
    | Truncate
    | MoveLeader
    | Delete
    | Create
    | Recreate
    | Grow
    | MoveCoordinator
    | StopNode
    | StartNode
    | Disconnect
    | Latency
    | Wait
    | FailApi
    | Trouble
    | Release
)
