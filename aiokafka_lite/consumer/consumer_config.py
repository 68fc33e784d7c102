"""Owns the consumer's options, their defaults and their limits, in one frozen value.

What is common to every client is in `ClientConfig`. Does not wait.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.sendable_text import sendable
from aiokafka_lite.cluster.client_config import (
    ClientConfig,
    DefaultInt,
    at_least,
    not_above,
    one_of,
    text_or_none,
)
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.consumer.offset_reset import (
    BY_DURATION_PREFIX,
    OffsetResetStrategy,
)
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.light_dataclass import dataclass, fields_by_name
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.options.units import ByteCount, Milliseconds, RecordCount, RequestCount
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES
from aiokafka_lite.serialization import AnyDeserializer

IsolationLevel = Literal["read_uncommitted", "read_committed"]
AutoOffsetReset = Literal["earliest", "latest", "none"]
GroupProtocol = Literal["classic", "consumer", "auto"]
GroupMembershipOperation = Literal["default", "leave_group", "remain_in_group"]
"""What a consumer that stops does about its place in its group (KIP-1092)."""


_LARGEST_FRAME = 2**31 - 1
"""What fits the size in front of a frame."""


OffsetAdjuster = Callable[
    [Mapping[TopicPartition, OffsetAndMetadata | None]],
    Mapping[TopicPartition, int | OffsetAndMetadata | None],
]
"""`f(committed) -> adjusted`; the committed offset of a partition that is left out stays."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, eq=False)
class ConsumerConfig(ClientConfig):
    """The options of a consumer; names are aiokafka's, defaults are Java 4's.

    Raises: as `ClientConfig`.
    """

    key_deserializer: AnyDeserializer[Any] | None = None
    """Turns the bytes of a key into the record's key; None: keys are bytes. A function of the
    bytes, or an object with `deserialize(topic, headers, data)`; either may be an `async def`.
    Java: key.deserializer."""
    value_deserializer: AnyDeserializer[Any] | None = None
    """Turns the bytes of a value into the record's value; None: values are bytes. A function of the
    bytes, or an object with `deserialize(topic, headers, data)`; either may be an `async def`.
    Java: value.deserializer."""

    fetch_max_wait_ms: Milliseconds = DefaultInt(500)
    """How long a broker may hold back the response to a fetch that has less than `fetch_min_bytes`.
    The default is half of a shorter `request_timeout_ms`. Java: fetch.max.wait.ms."""
    fetch_min_bytes: ByteCount = 1
    """A broker answers a fetch as soon as it has this many bytes of data. Java: fetch.min.bytes."""
    fetch_max_bytes: ByteCount = 52_428_800
    """Data in one response to a fetch. The limit is soft: the first batch is always sent, however
    large (KIP-74). Java: fetch.max.bytes."""
    max_partition_fetch_bytes: ByteCount = 1_048_576
    """Data of one partition in one response. The limit is soft in the same way. Java:
    max.partition.fetch.bytes."""
    fetch_buffer_bytes: ByteCount = 52_428_800
    """Stop fetching from a node while this many of its raw bytes are buffered unread. Only here."""
    prefetch_max_bytes: ByteCount = 0
    """Keep fetching a partition while fewer raw bytes of its node than this are buffered unread. 0
    fetches a partition only after its buffered records are consumed. Only here."""
    max_fetches_in_flight: RequestCount | None = None
    """Most nodes that a fetch is on its way to at a time; the nodes take turns. A node without data
    holds up others for `fetch_max_wait_ms`. None: all nodes at once. Only here."""
    max_poll_records: RecordCount | None = 500
    """Most records that one poll returns; the rest stays buffered. None: no limit. Java:
    max.poll.records."""
    stop_timeout_ms: Milliseconds = 30_000
    """How long `stop()` and the end of `async with` may take; at least a second is used. If no
    broker of the group answers, they take five seconds at most. Offsets that were not committed are
    logged. Only here."""
    check_crcs: bool = True
    """Check the CRC of each batch, so that damaged data is noticed. Java: check.crcs."""
    isolation_level: IsolationLevel = "read_uncommitted"
    """Which records are returned: all, or with "read_committed" only those of committed
    transactions. Java: isolation.level."""
    auto_offset_reset: AutoOffsetReset | str = "latest"
    """Where to start without a committed offset: at an end of the log, or "none" for an error.
    "by_duration:PT1H" starts one hour before now (KIP-1106). Java: auto.offset.reset."""
    exclude_internal_topics: bool = True
    """Leave Kafka's internal topics out of a subscription by pattern. Java:
    exclude.internal.topics."""
    allow_auto_create_topics: bool = True
    """Let the brokers create a topic that is subscribed to and does not exist, if they are
    configured to. Java: allow.auto.create.topics. Not in aiokafka."""

    # The group…
    group_id: str | None = None
    """Name of the consumer group that shares the partitions and keeps the offsets; None: no group.
    Java: group.id."""
    group_instance_id: str | None = None
    """Name of a static member, unique in its group. The member may restart within
    `session_timeout_ms` without a rebalance (KIP-345). Java: group.instance.id."""
    group_protocol: GroupProtocol = "classic"
    """How members and coordinator agree on an assignment. With "consumer" the coordinator assigns,
    and only partitions that move are revoked (KIP-848). "auto" is "consumer" where the brokers have
    it. Java: group.protocol. Not in aiokafka."""
    group_remote_assignor: str | None = None
    """The coordinator's assignor, such as "uniform" or "range"; None: the coordinator chooses. Not
    with `group_protocol="classic"`. Java: group.remote.assignor. Not in aiokafka."""
    enable_auto_commit: bool | None = None
    """Commit the offsets of records that earlier polls returned; None: if there is a group. That is
    done every `auto_commit_interval_ms`, before partitions are revoked, and at the end. Java:
    enable.auto.commit."""
    adjust_committed_offsets: OffsetAdjuster | None = None
    """Called with the committed offsets of partitions that were just assigned, before they are
    used. It returns other offsets for some of them; None: as without a committed offset. Only
    here."""
    enable_auto_offset_store: bool = True
    """Let records count as done when a later poll begins. False: commits store only what
    `store_offsets()` named, as with librdkafka's option of this name. Not in Java. Not in
    aiokafka."""
    auto_commit_interval_ms: Milliseconds = DefaultInt(5000)
    """Time after which a poll commits automatically. Java: auto.commit.interval.ms."""
    partition_assignment_strategy: Sequence[Any] | None = None
    """Assignors as classes or instances, the preferred one first; None: range,
    cooperative-sticky and aiokafka's round-robin. Java: partition.assignment.strategy."""
    max_poll_interval_ms: Milliseconds = DefaultInt(300_000)
    """How long a member with partitions may take from the end of a poll to the next one. After that
    the group gives its partitions to others (KIP-62). Java: max.poll.interval.ms."""
    rebalance_timeout_ms: Milliseconds | None = None
    """How long the other members wait for this one in a rebalance; None: `max_poll_interval_ms`.
    Not in Java."""
    session_timeout_ms: Milliseconds = DefaultInt(45_000)
    """How long the coordinator waits for a heartbeat before it removes the member. Java:
    session.timeout.ms."""
    heartbeat_interval_ms: Milliseconds = DefaultInt(3000)
    """Time between two heartbeats to the coordinator. The default is a third of a shorter
    `session_timeout_ms`. Java: heartbeat.interval.ms."""
    client_rack: str | None = None
    """Rack of this client: it reads from replicas there where the brokers offer that (KIP-392).
    Java: client.rack."""
    assignment_rack: str | None = None
    """Rack by which the assignors choose partitions for this member (KIP-881); None: `client_rack`,
    "": none. With it alone, assignments follow racks and records come from leaders. Only here."""

    @property
    def member_rack(self) -> str | None:
        """The rack that the member tells its group; None: none."""
        rack = self.client_rack if self.assignment_rack is None else self.assignment_rack
        return rack or None

    @property
    def is_read_committed(self) -> bool:
        """True when only records of committed transactions are wanted (E1)."""
        return self.isolation_level == "read_committed"

    def max_answer_bytes(self, lane: Lane) -> int:
        """Return how large an answer may be: to a fetch `fetch_max_bytes` and a large batch, which
        comes whole however large it is (A4).
        """
        if lane is not Lane.FETCH:
            return MAX_FRAME_BYTES
        return largest_fetch_answer(self.fetch_max_bytes)

    def _faults(self) -> Iterator[str]:
        yield from ClientConfig._faults(self)
        for name in ("key_deserializer", "value_deserializer"):
            yield from deserializer_faults(name, getattr(self, name))
        for name in _FROM_ZERO:
            yield from at_least(name, getattr(self, name), 0)
        yield from wait_faults(self.fetch_max_wait_ms, self.request_timeout_ms)
        yield from at_least("fetch_buffer_bytes", self.fetch_buffer_bytes, 1)
        yield from not_above(
            "prefetch_max_bytes",
            self.prefetch_max_bytes,
            "fetch_buffer_bytes",
            self.fetch_buffer_bytes,
        )
        if self.max_fetches_in_flight is not None:
            yield from at_least("max_fetches_in_flight", self.max_fetches_in_flight, 1)
        if self.max_poll_records is not None:
            yield from at_least("max_poll_records", self.max_poll_records, 1)
        if self.isolation_level not in get_args(IsolationLevel):
            level = quoted(self.isolation_level).strip("'")  # aiokafka's text
            yield (
                f"Incorrect isolation level {level}; "
                f"set isolation_level to one of {', '.join(map(repr, get_args(IsolationLevel)))}"
            )
        yield from _reset_faults(self.auto_offset_reset)
        yield from _adjuster_faults(self.adjust_committed_offsets)
        for name in ("client_rack", "assignment_rack"):
            yield from text_or_none(name, getattr(self, name))
        for name in _FLAGS:
            yield from one_of(name, getattr(self, name), (True, False))
        yield from one_of("enable_auto_commit", self.enable_auto_commit, (True, False, None))
        yield from one_of("group_protocol", self.group_protocol, get_args(GroupProtocol))
        yield from _name_faults("group_remote_assignor", self.group_remote_assignor)
        yield from self._group_faults()
        if self.group_id is not None:
            yield from self._protocol_faults()

    def _settle_defaults(self) -> None:
        ClientConfig._settle_defaults(self)
        wait_ms = fitting(self.fetch_max_wait_ms, self.request_timeout_ms, 2)
        object.__setattr__(self, "fetch_max_wait_ms", wait_ms)
        heartbeat_ms = fitting(self.heartbeat_interval_ms, self.session_timeout_ms, 3)
        object.__setattr__(self, "heartbeat_interval_ms", heartbeat_ms)

    @property
    def commits_by_itself(self) -> bool:
        """Whether offsets are committed without being asked."""
        return self.group_id is not None and self.enable_auto_commit in (True, None)

    @property
    def rebalance_timeout_or_default_ms(self) -> int:
        """`rebalance_timeout_ms`, or what stands in for it."""
        given_ms = self.rebalance_timeout_ms
        return self.max_poll_interval_ms if given_ms is None else given_ms

    def _group_faults(self) -> Iterator[str]:
        yield from _name_faults("group_id", self.group_id)
        yield from _name_faults("group_instance_id", self.group_instance_id)
        for name in _GROUP_TIMES:
            yield from at_least(name, getattr(self, name), 0 if name == _MAY_BE_ZERO else 1)
        if self.rebalance_timeout_ms is not None:
            yield from at_least("rebalance_timeout_ms", self.rebalance_timeout_ms, 1)
        if self.partition_assignment_strategy is not None:
            yield from _strategy_faults(self.partition_assignment_strategy)

    def _protocol_faults(self) -> Iterator[str]:
        """Yield what members of a group cannot combine."""
        if not isinstance(self.heartbeat_interval_ms, DefaultInt):
            yield from not_above(
                "heartbeat_interval_ms",
                self.heartbeat_interval_ms,
                "session_timeout_ms",
                self.session_timeout_ms,
            )
        if self.group_protocol == "classic" and self.group_remote_assignor is not None:
            yield (
                f"group_remote_assignor={quoted(self.group_remote_assignor)} needs the protocol in "
                "which brokers assign; set group_protocol='consumer', or use "
                "partition_assignment_strategy"
            )
        if self.group_protocol != "consumer":
            return
        for name, remedy in _OPTIONS_OF_THE_BROKER.items():
            value = getattr(self, name)
            if not is_handed_on(name, value):
                yield (
                    f"{name}={quoted(value)} has no effect with group_protocol='consumer'; {remedy}"
                )


_FLAGS = (
    "check_crcs",
    "exclude_internal_topics",
    "allow_auto_create_topics",
    "enable_auto_offset_store",
)

_FROM_ZERO = (
    "fetch_max_wait_ms",
    "fetch_min_bytes",
    "fetch_max_bytes",
    "max_partition_fetch_bytes",
    "prefetch_max_bytes",
    "stop_timeout_ms",
)

_GROUP_TIMES = (
    "auto_commit_interval_ms",
    "max_poll_interval_ms",
    "session_timeout_ms",
    "heartbeat_interval_ms",
)


_OPTIONS_OF_THE_BROKER = {
    "session_timeout_ms": "leave it out: brokers decide by group.consumer.session.timeout.ms",
    "heartbeat_interval_ms": "leave it out: brokers decide by group.consumer.heartbeat.interval.ms",
    "partition_assignment_strategy": "brokers assign: choose their assignor with "
    "group_remote_assignor",
}
"""What only the classic protocol has, and what to do about it."""

_MAY_BE_ZERO = "auto_commit_interval_ms"


_AIOKAFKAS_DEFAULTS = {"session_timeout_ms": 10_000, "enable_auto_commit": True}
_DEFAULT_ASSIGNORS = (["roundrobin"], ["range", "cooperative-sticky", "roundrobin"])
"""Names of aiokafka's default assignors, and of those here."""


def is_handed_on(name: str, value: object) -> bool:
    """Say whether an option has the value that it has if nobody chooses: None, or the default here
    or in aiokafka. Frameworks hand on all options that they know.
    """
    if value is None:
        return True
    if name == "partition_assignment_strategy":
        listed = value if isinstance(value, Sequence) else ()
        return [getattr(each, "name", None) for each in listed] in _DEFAULT_ASSIGNORS
    default: object = fields_by_name(ConsumerConfig)[name].default
    return value in (default, _AIOKAFKAS_DEFAULTS.get(name, default))


def fitting(value_ms: int, limit_ms: int, divisor: int) -> int:
    """Return a time that is to stay below a limit. If nobody chose it, it follows the limit."""
    if isinstance(value_ms, DefaultInt) and value_ms > limit_ms:
        return DefaultInt(max(limit_ms // divisor, 1))
    return value_ms


def wait_faults(fetch_max_wait_ms: int, request_timeout_ms: int) -> Iterator[str]:
    """Yield the fault of a fetch that is to wait longer than a request may take."""
    if not isinstance(fetch_max_wait_ms, DefaultInt):
        yield from not_above(
            "fetch_max_wait_ms", fetch_max_wait_ms, "request_timeout_ms", request_timeout_ms
        )


def _name_faults(name: str, value: object) -> Iterator[str]:
    if value is not None and not (isinstance(value, str) and value):
        yield f"{name}={quoted(value)} is no name; set it to a str of at least one character"
    yield from sendable(name, value)


def _reset_faults(auto_offset_reset: object) -> Iterator[str]:
    if isinstance(auto_offset_reset, str) and auto_offset_reset.startswith(BY_DURATION_PREFIX):
        try:
            OffsetResetStrategy.from_option(auto_offset_reset)
        except ValueError as error:
            yield f"auto_offset_reset={quoted(auto_offset_reset)}: {error}"
    else:
        choices = (*get_args(AutoOffsetReset), f"{BY_DURATION_PREFIX}PT1H")
        yield from one_of("auto_offset_reset", auto_offset_reset, choices)


def _strategy_faults(strategy: object) -> Iterator[str]:
    from aiokafka_lite.consumer.assignors.assignment_strategy import (  # noqa: PLC0415 - for groups only
        make_assignors,
    )

    try:
        make_assignors(strategy)
    except KafkaConfigurationError as error:
        yield str(error.args[0])


def _adjuster_faults(value: object) -> Iterator[str]:
    if value is not None and (not callable(value) or inspect.iscoroutinefunction(value)):
        yield (
            f"adjust_committed_offsets={quoted(value)} is no plain function; give one from a "
            "mapping of partitions to committed offsets to such a mapping"
        )


def largest_fetch_answer(fetch_max_bytes: int) -> int:
    """Return the bytes of the largest answer to a fetch, with one large batch in it."""
    return min(fetch_max_bytes + MAX_FRAME_BYTES, _LARGEST_FRAME)


def deserializer_faults(name: str, value: object) -> Iterator[str]:
    """Yield the fault of a value that is no deserializer."""
    if value is not None and not callable(value) and not hasattr(value, "deserialize"):
        yield (
            f"{name}={quoted(value)} is of type {type(value).__name__}; set a callable that takes "
            "bytes, or an object with a deserialize(topic, headers, data) method"
        )


__all__ = [
    "AutoOffsetReset",
    "ConsumerConfig",
    "GroupMembershipOperation",
    "GroupProtocol",
    "IsolationLevel",
    "OffsetAdjuster",
    "deserializer_faults",
    "fitting",
    "is_handed_on",
    "largest_fetch_answer",
    "wait_faults",
]
