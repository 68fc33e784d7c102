"""Owns the values that `explain()` returns: why a partition is not being fetched, or a batch not
sent. The values are frozen. Does not wait.
"""

from collections.abc import Iterable, Iterator
from enum import Enum

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition


class WaitReason(Enum):
    """Why a client does not fetch a partition, or does not send a batch, at one moment.

    A value says what stands in the way. `Explanation.text` says it with names and numbers, and what
    helps.
    """

    # Of the whole client…
    NOT_STARTED = "start() was not called, or has failed"
    STOPPED = "stop() was called"
    CLIENT_FAILED = "a background task has failed"
    WAITING_LONG = "something is asked for again and again, for ten seconds and more"
    TOPIC_UNKNOWN = "the partitions of a topic are not known"

    # Of a consumer…
    NOTHING_SUBSCRIBED = "neither subscribe() nor assign() was called"
    NOTHING_ASSIGNED = "the group has assigned no partition to this member"
    COORDINATOR_UNKNOWN = "no broker has named the coordinator of the group"
    JOINING = "the group has not assigned partitions yet"
    JOIN_REFUSED = "the coordinator has refused the member"
    POLL_OVERDUE = "the member has left the group until the application polls"
    FENCED = "another consumer has the group_instance_id of this one"
    UNACKNOWLEDGED = "records of the last poll are not acknowledged, and the next poll refuses"

    # Of a producer…
    NOTHING_QUEUED = "every record has its outcome"
    TRANSACTION_FAILED = "the transaction, or the whole producer, has an error"
    NO_PRODUCER_ID = "no broker has given a producer id"
    NO_MEMORY = "calls wait for memory"

    # Of a node, for both…
    NO_LEADER = "no leader of the partition is known"
    AUTHENTICATION_FAILED = "the node has not accepted the client, and the next attempt waits"
    NODE_BACKING_OFF = "a connection to the node has failed, and the next attempt waits"
    THROTTLED = "the node has told the client to wait (KIP-219)"
    CONNECTING = "a connection to the node is being made"

    # Of a partition to fetch…
    PAUSED = "pause() was called"
    BEING_REVOKED = "the group takes the partition away"
    BEING_ASSIGNED = "on_partitions_assigned() has not returned"
    NO_COMMITTED_OFFSET = "the committed offset has not come yet"
    NO_POSITION = "the leader has not told the offset of the reset yet"
    NEEDS_SEEK = "only a seek can give it a position"
    VALIDATING = "the leader has not compared the position with its log yet"
    BAD_RECORD = "the next record cannot be read"
    FETCH_FAILED = "the newest fetch has failed"
    DESERIALIZING = "a deserializer waits for something"
    BUFFERED = "records are buffered, and no poll has taken them"
    SET_ASIDE = "its records made room for partitions that polls have named"
    BUFFER_FULL = "too much data of the node is unread"
    FETCHING = "a fetch is on its way"
    NODE_BUSY = "the node has to answer a fetch of other partitions first"
    NOT_POLLED = "nothing stands in the way: the next poll fetches it"

    # Of a batch to send…
    LINGERING = "linger_ms is not over"
    BACKING_OFF = "the batch was sent in vain, and the next attempt waits"
    MUTED = "the batch before it has no outcome, and order needs one at a time"
    OUT_OF_TURN = "an earlier batch of the partition has to have its outcome first"
    NOT_IN_TRANSACTION = "the coordinator does not know yet that the transaction has the partition"
    IN_FLIGHT_FULL = "as many requests as allowed are on their way to the node"
    SENT = "the batch is on its way, and the node has not answered"
    DUE = "nothing stands in the way: the sender takes it in its next turn"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one partition waits, or the whole client. `str()` gives the sentence."""

    reason: WaitReason
    text: str
    """One sentence for people. Programs read the other fields."""
    topic_partition: TopicPartition | None = None
    """None: it concerns a topic, or the whole client."""
    topic: str | None = None
    """The topic of the partition, or the one whose partitions are not known."""
    node_id: int | None = None
    """The node that would be asked, where one is known."""
    delay_s: float | None = None
    """Seconds until the client goes on by itself, where that is known."""
    size_in_bytes: int | None = None
    """Bytes that wait: fetched and not returned, or queued and not acknowledged."""
    error: str | None = None
    """The text of the error behind it, if there is one."""

    def __str__(self) -> str:
        return self.text


def explain_partition(
    tp: TopicPartition,
    reason: WaitReason,
    text: str,
    size_in_bytes: int | None = None,
    *,
    node_id: int | None = None,
    delay_s: float | None = None,
    error: str | None = None,
) -> Explanation:
    """Return why a partition waits. The sentence begins with its name."""
    return Explanation(
        reason,
        f"{tp.topic}-{tp.partition}: {text}",
        tp,
        tp.topic,
        node_id,
        delay_s,
        size_in_bytes,
        error,
    )


def explain_waits(texts: Iterable[str]) -> Iterator[Explanation]:
    """Yield a value for each text, which says what the whole client asks for in vain, as the log
    does.
    """
    for text in texts:
        yield Explanation(WaitReason.WAITING_LONG, f"the client {text}")


__all__ = ["Explanation", "WaitReason", "explain_partition", "explain_waits"]
