"""The options of consumers as a type, for editors and type checkers.

Made by `make options` from the fields of ConsumerConfig: change them there. Does not wait.
"""

from collections.abc import Sequence
from typing import Any, Generic, Literal

from aiokafka_lite.cluster.client_options import ClientOptions
from aiokafka_lite.consumer.consumer_config import OffsetAdjuster
from aiokafka_lite.model import KT, VT
from aiokafka_lite.serialization import AnyDeserializer


class ConsumerOptions(ClientOptions, Generic[KT, VT], total=False):
    """What the constructor of a consumer takes by name, as in
    `def make(**options: Unpack[ConsumerOptions])`.
    """

    key_deserializer: AnyDeserializer[KT] | None
    """Turns the bytes of a key into the record's key; None: keys are bytes. A function of the
    bytes, or an object with `deserialize(topic, headers, data)`; either may be an `async def`.

    Default: None. Java: key.deserializer.
    """

    value_deserializer: AnyDeserializer[VT] | None
    """Turns the bytes of a value into the record's value; None: values are bytes. A function of the
    bytes, or an object with `deserialize(topic, headers, data)`; either may be an `async def`.

    Default: None. Java: value.deserializer.
    """

    fetch_max_wait_ms: int
    """How long a broker may hold back the response to a fetch that has less than `fetch_min_bytes`.
    The default is half of a shorter `request_timeout_ms`.

    Default: 500 milliseconds. Java: fetch.max.wait.ms.
    """

    fetch_min_bytes: int
    """A broker answers a fetch as soon as it has this many bytes of data.

    Default: 1 byte. Java: fetch.min.bytes.
    """

    fetch_max_bytes: int
    """Data in one response to a fetch. The limit is soft: the first batch is always sent, however
    large (KIP-74).

    Default: 52_428_800 bytes. Java: fetch.max.bytes.
    """

    max_partition_fetch_bytes: int
    """Data of one partition in one response. The limit is soft in the same way.

    Default: 1_048_576 bytes. Java: max.partition.fetch.bytes.
    """

    fetch_buffer_bytes: int
    """Stop fetching from a node while this many of its raw bytes are buffered unread.

    Default: 52_428_800 bytes. Only here.
    """

    prefetch_max_bytes: int
    """Keep fetching a partition while fewer raw bytes of its node than this are buffered unread. 0
    fetches a partition only after its buffered records are consumed.

    Default: 0 bytes. Only here.
    """

    max_fetches_in_flight: int | None
    """Most nodes that a fetch is on its way to at a time; the nodes take turns. A node without data
    holds up others for `fetch_max_wait_ms`. None: all nodes at once.

    Default: None. Only here.
    """

    max_poll_records: int | None
    """Most records that one poll returns; the rest stays buffered. None: no limit.

    Default: 500 records. Java: max.poll.records.
    """

    stop_timeout_ms: int
    """How long `stop()` and the end of `async with` may take; at least a second is used. If no
    broker of the group answers, they take five seconds at most. Offsets that were not committed are
    logged.

    Default: 30_000 milliseconds. Only here.
    """

    check_crcs: bool
    """Check the CRC of each batch, so that damaged data is noticed.

    Default: True. Java: check.crcs.
    """

    isolation_level: Literal["read_uncommitted", "read_committed"]
    """Which records are returned: all, or with "read_committed" only those of committed
    transactions.

    Default: "read_uncommitted". Java: isolation.level.
    """

    auto_offset_reset: Literal["earliest", "latest", "none"] | str
    """Where to start without a committed offset: at an end of the log, or "none" for an error.
    "by_duration:PT1H" starts one hour before now (KIP-1106).

    Default: "latest". Java: auto.offset.reset.
    """

    exclude_internal_topics: bool
    """Leave Kafka's internal topics out of a subscription by pattern.

    Default: True. Java: exclude.internal.topics.
    """

    allow_auto_create_topics: bool
    """Let the brokers create a topic that is subscribed to and does not exist, if they are
    configured to.

    Default: True. Java: allow.auto.create.topics. Not in aiokafka.
    """

    group_id: str | None
    """Name of the consumer group that shares the partitions and keeps the offsets; None: no group.

    Default: None. Java: group.id.
    """

    group_instance_id: str | None
    """Name of a static member, unique in its group. The member may restart within
    `session_timeout_ms` without a rebalance (KIP-345).

    Default: None. Java: group.instance.id.
    """

    group_protocol: Literal["classic", "consumer", "auto"]
    """How members and coordinator agree on an assignment. With "consumer" the coordinator assigns,
    and only partitions that move are revoked (KIP-848). "auto" is "consumer" where the brokers have
    it.

    Default: "classic". Java: group.protocol. Not in aiokafka.
    """

    group_remote_assignor: str | None
    """The coordinator's assignor, such as "uniform" or "range"; None: the coordinator chooses. Not
    with `group_protocol="classic"`.

    Default: None. Java: group.remote.assignor. Not in aiokafka.
    """

    enable_auto_commit: bool | None
    """Commit the offsets of records that earlier polls returned; None: if there is a group. That is
    done every `auto_commit_interval_ms`, before partitions are revoked, and at the end.

    Default: None. Java: enable.auto.commit.
    """

    adjust_committed_offsets: OffsetAdjuster | None
    """Called with the committed offsets of partitions that were just assigned, before they are
    used. It returns other offsets for some of them; None: as without a committed offset.

    Default: None. Only here.
    """

    enable_auto_offset_store: bool
    """Let records count as done when a later poll begins. False: commits store only what
    `store_offsets()` named, as with librdkafka's option of this name.

    Default: True. Only here.
    """

    auto_commit_interval_ms: int
    """Time after which a poll commits automatically.

    Default: 5000 milliseconds. Java: auto.commit.interval.ms.
    """

    partition_assignment_strategy: Sequence[Any] | None
    """Assignors as classes or instances, the preferred one first; None: range, cooperative-sticky
    and aiokafka's round-robin.

    Default: None. Java: partition.assignment.strategy.
    """

    max_poll_interval_ms: int
    """How long a member with partitions may take from the end of a poll to the next one. After that
    the group gives its partitions to others (KIP-62).

    Default: 300_000 milliseconds. Java: max.poll.interval.ms.
    """

    rebalance_timeout_ms: int | None
    """How long the other members wait for this one in a rebalance; None: `max_poll_interval_ms`.

    Default: None. Not in Java.
    """

    session_timeout_ms: int
    """How long the coordinator waits for a heartbeat before it removes the member.

    Default: 45_000 milliseconds. Java: session.timeout.ms.
    """

    heartbeat_interval_ms: int
    """Time between two heartbeats to the coordinator. The default is a third of a shorter
    `session_timeout_ms`.

    Default: 3000 milliseconds. Java: heartbeat.interval.ms.
    """

    client_rack: str | None
    """Rack of this client: it reads from replicas there where the brokers offer that (KIP-392).

    Default: None. Java: client.rack.
    """

    assignment_rack: str | None
    """Rack by which the assignors choose partitions for this member (KIP-881); None: `client_rack`,
    "": none. With it alone, assignments follow racks and records come from leaders.

    Default: None. Only here.
    """


__all__ = ["ConsumerOptions"]
