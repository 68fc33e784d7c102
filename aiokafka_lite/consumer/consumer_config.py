"""Owns the consumer's options, their defaults and their limits, in one frozen value.

What is common to every client is in `ClientConfig`. It does not wait.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aiokafka_lite.cluster.client_config import (
    ClientConfig,
    DefaultInt,
    at_least,
    later,
    not_above,
    one_of,
)
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.consumer.assignors.assignment_strategy import make_assignors
from aiokafka_lite.consumer.offset_reset import (
    BY_DURATION_PREFIX,
    OffsetResetStrategy,
)
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES
from aiokafka_lite.sendable_text import sendable
from aiokafka_lite.serialization import AnyDeserializer

ISOLATION_LEVELS = ("read_uncommitted", "read_committed")
AUTO_OFFSET_RESETS = ("earliest", "latest", "none")


_LARGEST_FRAME = 2**31 - 1
"""What fits the size in front of a frame."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsumerConfig(ClientConfig):
    """The options of a consumer; names are aiokafka's, defaults are Java 4's.

    Raises: as `ClientConfig`.
    """

    key_deserializer: AnyDeserializer[Any] | None = None
    value_deserializer: AnyDeserializer[Any] | None = None

    fetch_max_wait_ms: int = 500
    """How long the broker may hold an answer while it has less than `fetch_min_bytes`."""
    fetch_min_bytes: int = 1
    fetch_max_bytes: int = 52_428_800
    """One answer's data. Soft: the first batch always comes, however large (KIP-74)."""
    max_partition_fetch_bytes: int = 1_048_576
    """One partition's data in one answer. Soft, in the same way."""
    fetch_buffer_bytes: int = 52_428_800
    """A node for which that many raw bytes lie unread gets no new fetch (A11)."""
    prefetch_max_bytes: int = 0
    """While less raw bytes of a node lie unread, the partitions they are of are fetched on, too;
    0: a partition is fetched when what is buffered of it is used up."""
    max_poll_records: int | None = 500
    """What one poll returns at most; None: no limit. The rest stays buffered (A5)."""
    stop_timeout_ms: int = 30_000
    """How long `stop()` and the end of `async with` may take, a second at least: the last commit,
    a listener, leaving the group, closing connections. When no broker of the group can be reached
    they take five seconds at most, and what was not committed is logged."""
    check_crcs: bool = True
    isolation_level: str = "read_uncommitted"
    auto_offset_reset: str = "latest"
    """Where to start without a committed offset: an end of the log, none for an error, or so long
    before now as in by_duration:PT1H (KIP-1106)."""
    exclude_internal_topics: bool = True
    allow_auto_create_topics: bool = True
    """Let the brokers create topics that are asked for and do not exist, if they are set to."""

    # The group…
    group_id: str | None = None
    group_instance_id: str | None = None
    """The name of a static member, unique in its group: it may restart within `session_timeout_ms`
    without a rebalance (KIP-345)."""
    group_protocol: str = "classic"
    enable_auto_commit: bool | None = None
    """None: with a group. What earlier polls returned is committed at the first poll after each
    `auto_commit_interval_ms`, before partitions are revoked, and at the end (B7)."""
    auto_commit_interval_ms: int = DefaultInt(5000)
    partition_assignment_strategy: Any = None
    """Assignors, classes or instances, the preferred one first; None: range, cooperative-sticky."""
    max_poll_interval_ms: int = DefaultInt(300_000)
    """How long a member that owns partitions may go without a poll, from the end of the last one,
    before the group gives its partitions to others (KIP-62). A poll that waits stops the time."""
    rebalance_timeout_ms: int | None = None
    """How long the others wait for this member in a rebalance; None: max_poll_interval_ms."""
    session_timeout_ms: int = DefaultInt(45_000)
    """Without a heartbeat for that long the group takes the member for dead."""
    heartbeat_interval_ms: int = DefaultInt(3000)
    client_rack: str | None = None
    """Read from a replica in this rack where the brokers offer one (KIP-392)."""

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
        return min(self.fetch_max_bytes + MAX_FRAME_BYTES, _LARGEST_FRAME)

    def _faults(self) -> Iterator[str]:
        yield from ClientConfig._faults(self)
        for name in ("key_deserializer", "value_deserializer"):
            yield from _deserializer_faults(name, getattr(self, name))
        for name in _FROM_ZERO:
            yield from at_least(name, getattr(self, name), 0)
        yield from not_above(
            "fetch_max_wait_ms",
            self.fetch_max_wait_ms,
            "request_timeout_ms",
            self.request_timeout_ms,
        )
        yield from at_least("fetch_buffer_bytes", self.fetch_buffer_bytes, 1)
        yield from not_above(
            "prefetch_max_bytes",
            self.prefetch_max_bytes,
            "fetch_buffer_bytes",
            self.fetch_buffer_bytes,
        )
        if self.max_poll_records is not None:
            yield from at_least("max_poll_records", self.max_poll_records, 1)
        if self.isolation_level not in ISOLATION_LEVELS:
            yield (
                f"Incorrect isolation level {self.isolation_level}; "
                f"set isolation_level to one of {', '.join(map(repr, ISOLATION_LEVELS))}"
            )
        yield from _reset_faults(self.auto_offset_reset)
        yield from sendable("client_rack", self.client_rack)
        yield from one_of("group_protocol", self.group_protocol, ("classic", "consumer"))
        yield from self._group_faults()

    @property
    def commits_by_itself(self) -> bool:
        """Whether offsets are committed without being asked."""
        return self.group_id is not None and self.enable_auto_commit is not False

    @property
    def rebalance_timeout_or_default_ms(self) -> int:
        """`rebalance_timeout_ms`, or what stands in for it."""
        if self.rebalance_timeout_ms is None:
            return self.max_poll_interval_ms
        return self.rebalance_timeout_ms

    def _group_faults(self) -> Iterator[str]:
        yield from _name_faults("group_id", self.group_id)
        yield from _name_faults("group_instance_id", self.group_instance_id)
        for name in _GROUP_TIMES:
            yield from at_least(name, getattr(self, name), 0 if name == _MAY_BE_ZERO else 1)
        if self.rebalance_timeout_ms is not None:
            yield from at_least("rebalance_timeout_ms", self.rebalance_timeout_ms, 1)
        yield from not_above(
            "heartbeat_interval_ms",
            self.heartbeat_interval_ms,
            "session_timeout_ms",
            self.session_timeout_ms,
        )
        try:
            make_assignors(self.partition_assignment_strategy)
        except KafkaConfigurationError as error:
            yield str(error.args[0])

    @property
    def group_options_without_group(self) -> tuple[str, ...]:
        """The options that were set and do nothing, because there is no `group_id`."""
        return () if self.group_id is not None else tuple(self._group_options_set())

    def _group_options_set(self) -> Iterator[str]:
        if self.enable_auto_commit:
            yield "enable_auto_commit"
        for name in ("group_instance_id", "partition_assignment_strategy", "rebalance_timeout_ms"):
            if getattr(self, name) is not None:
                yield name
        for name in _GROUP_TIMES:
            if not isinstance(getattr(self, name), DefaultInt):
                yield name

    def _unsupported(self) -> Iterator[str]:
        yield from ClientConfig._unsupported(self)
        if self.group_protocol == "consumer":
            yield later("group_protocol", self.group_protocol, "use 'classic'")


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


_MAY_BE_ZERO = "auto_commit_interval_ms"


def _name_faults(name: str, value: object) -> Iterator[str]:
    if value is not None and not (isinstance(value, str) and value):
        yield f"{name}={value!r} is no name; set it to a str of at least one character"
    yield from sendable(name, value)


def _reset_faults(auto_offset_reset: object) -> Iterator[str]:
    if isinstance(auto_offset_reset, str) and auto_offset_reset.startswith(BY_DURATION_PREFIX):
        try:
            OffsetResetStrategy.from_option(auto_offset_reset)
        except ValueError as error:
            yield f"auto_offset_reset={auto_offset_reset!r}: {error}"
    else:
        choices = (*AUTO_OFFSET_RESETS, f"{BY_DURATION_PREFIX}PT1H")
        yield from one_of("auto_offset_reset", auto_offset_reset, choices)


def _deserializer_faults(name: str, value: object) -> Iterator[str]:
    if value is not None and not callable(value) and not hasattr(value, "deserialize"):
        yield (
            f"{name}={value!r} is of type {type(value).__name__}; set a callable that takes bytes, "
            f"or an object with a deserialize(topic, headers, data) method"
        )


__all__ = ["AUTO_OFFSET_RESETS", "ISOLATION_LEVELS", "ConsumerConfig"]
