"""Owns the values that `statistics()` returns. They tell what a client holds at that moment, and
what it has done since it was made.

The values are frozen. Making one changes nothing. Does not wait.
"""

from collections.abc import Mapping

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition


@dataclass(frozen=True, slots=True)
class NetworkStatistics:
    """The connections of one client, counted since the client was made."""

    connections: int
    """Connections that were opened, those closed since included."""
    responses: int
    """Responses that came. A Produce request with acks=0 has none."""
    response_bytes: int
    """Bytes of all responses, without the four bytes that tell the size of each."""
    response_time_s: float
    """Seconds between each request and its response, summed up."""
    throttle_time_s: float
    """Seconds for which responses told the client to be silent, summed up (KIP-219)."""
    open_connections: int
    """Connections that are open now."""
    requests_in_flight: int
    """Requests on these connections that have no response yet."""


@dataclass(frozen=True, slots=True)
class ProducerStatistics:
    """A producer at one moment. Counts begin with zero when the producer is made, and again after
    a start that failed.
    """

    network: NetworkStatistics
    buffer_bytes: int
    """The limit of the memory for batches: `buffer_memory`."""
    used_buffer_bytes: int
    """Bytes of it that batches without outcome have taken."""
    waiting_calls: int
    """Calls of `send` that wait for memory."""
    unacknowledged_batches: int
    """Batches that are open, queued or on their way: their records have no outcome yet."""
    acknowledged_batches: int
    """Batches that were written, as far as `acks` asks; with acks=0 those that were sent."""
    acknowledged_records: int
    """Records in those batches."""
    acknowledged_bytes: int
    """Bytes of those batches as they were sent: compressed, with their headers."""


@dataclass(frozen=True, slots=True)
class BufferedFetch:
    """Fetched data of one partition that no poll has returned yet."""

    topic_partition: TopicPartition
    next_offset: int
    """The offset of the next record to be returned."""
    size_in_bytes: int
    """Raw bytes as they were fetched, the part already returned included; 0 for an error."""


@dataclass(frozen=True, slots=True)
class ConsumerStatistics:
    """A consumer at one moment. Counts begin with zero when the consumer is made."""

    queue: tuple[TopicPartition, ...]
    """All assigned partitions, those to be fetched next first."""
    free: tuple[TopicPartition, ...]
    """The partitions the next fetch may ask for, in queue order."""
    buffered: tuple[BufferedFetch, ...]
    """In the order in which polls will return them."""
    unread_bytes: int
    """Sum over `buffered`; at most (fetch_buffer_bytes + fetch_max_bytes) per node, plus one
    oversize batch each."""
    lags: Mapping[TopicPartition, int]
    """For each assigned partition with a position: how many offsets the end of the log is ahead.

    The end is what the newest response told; with `isolation_level="read_committed"` the stable
    one. A position beyond the end has a negative lag."""
    leads: Mapping[TopicPartition, int]
    """For each of them: how many offsets the position is ahead of the start of the log."""
    since_poll_s: float | None
    """Seconds since the last poll ended, 0 while one runs; None without a group or without
    partitions, when no poll is due."""
    poll_idle_s: float
    """Seconds in which polls have waited for records, since the consumer was started."""
    fetching_nodes: frozenset[int]
    """The nodes with a fetch in flight."""
    network: NetworkStatistics
    fetches: int
    """Fetch responses that were taken in, those without records included."""
    fetched_bytes: int
    """Raw bytes of the record batches in them."""
    returned_records: int
    """Records that polls have returned."""
    rebalances: int
    """Assignments that the consumer has taken over from its group."""
    commits: int
    """Times that the coordinator has stored offsets, by auto-commit or by a call."""


@dataclass(frozen=True, slots=True)
class ShareConsumerStatistics:
    """A share consumer at one moment. Counts begin with zero when the consumer is made, and those
    of records again after a start that failed.
    """

    assigned: tuple[TopicPartition, ...]
    """The partitions that this member may fetch. Others may fetch them, too."""
    buffered: tuple[BufferedFetch, ...]
    """What is locked for this member and no poll has returned yet, in the order in which polls
    will return it."""
    unread_bytes: int
    """Sum over `buffered`."""
    held_records: int
    """Returned records about which nothing was said: no `acknowledge()` names them, and in implicit
    mode no later poll or `commit()` has accepted them."""
    since_poll_s: float | None
    """Seconds since the last poll ended, 0 while one runs; None without partitions, when no poll is
    due."""
    fetching_nodes: frozenset[int]
    """The nodes with a fetch in flight."""
    network: NetworkStatistics
    fetches: int
    """Fetch responses that were taken in, those without records included."""
    fetched_bytes: int
    """Raw bytes of the record batches in them."""
    returned_records: int
    """Records that polls have returned. One that is delivered again counts again."""
    acknowledged_records: int
    """Records for which brokers have taken an acknowledgement of any type. One whose lock was
    renewed counts each time."""
    refused_acknowledgements: int
    """Records for which brokers have taken none, or have not answered. Most of them come again."""


__all__ = [
    "BufferedFetch",
    "ConsumerStatistics",
    "NetworkStatistics",
    "ProducerStatistics",
    "ShareConsumerStatistics",
]
