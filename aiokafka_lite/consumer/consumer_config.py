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
from aiokafka_lite.consumer.position.offset_reset import (
    BY_DURATION_PREFIX,
    OffsetResetStrategy,
)
from aiokafka_lite.serialization import AnyDeserializer

ISOLATION_LEVELS = ("read_uncommitted", "read_committed")
AUTO_OFFSET_RESETS = ("earliest", "latest", "none")
_LEAVE_GROUP_OUT = "use assign(), or subscribe() without group_id"


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
    max_poll_records: int | None = 500
    """What one poll returns at most; None: no limit. The rest stays buffered (A5)."""
    check_crcs: bool = True
    isolation_level: str = "read_uncommitted"
    auto_offset_reset: str = "latest"
    """Where to start without a committed offset: an end of the log, none for an error, or so long
    before now as in by_duration:PT1H (KIP-1106)."""
    exclude_internal_topics: bool = True
    allow_auto_create_topics: bool = True
    """Let the brokers create topics that are asked for and do not exist, if they are set to."""

    # These belong to a group or to a later feature: refused when set, never accepted and ignored.
    group_id: str | None = None
    group_instance_id: str | None = None
    group_protocol: str = "classic"
    enable_auto_commit: bool | None = None
    """None and False: nothing is committed, which is all a consumer without a group can do."""
    auto_commit_interval_ms: int = DefaultInt(5000)
    partition_assignment_strategy: Any = None  # refused below; its type comes with groups
    max_poll_interval_ms: int = DefaultInt(300_000)
    rebalance_timeout_ms: int | None = None
    session_timeout_ms: int = DefaultInt(45_000)
    heartbeat_interval_ms: int = DefaultInt(3000)
    client_rack: str | None = None
    """Read from a replica in this rack where the brokers offer one (KIP-392)."""

    @property
    def is_read_committed(self) -> bool:
        """True when only records of committed transactions are wanted (E1)."""
        return self.isolation_level == "read_committed"

    def _faults(self) -> Iterator[str]:
        yield from ClientConfig._faults(self)
        for name in ("key_deserializer", "value_deserializer"):
            yield from _deserializer_faults(name, getattr(self, name))
        for name in _SIZES:
            yield from at_least(name, getattr(self, name), 0)
        yield from not_above(
            "fetch_max_wait_ms",
            self.fetch_max_wait_ms,
            "request_timeout_ms",
            self.request_timeout_ms,
        )
        yield from at_least("fetch_buffer_bytes", self.fetch_buffer_bytes, 1)
        if self.max_poll_records is not None:
            yield from at_least("max_poll_records", self.max_poll_records, 1)
        if self.isolation_level not in ISOLATION_LEVELS:
            yield (
                f"Incorrect isolation level isolation_level={self.isolation_level!r}; "
                f"set it to one of {', '.join(map(repr, ISOLATION_LEVELS))}"
            )
        yield from _reset_faults(self.auto_offset_reset)

    def _unsupported(self) -> Iterator[str]:
        yield from ClientConfig._unsupported(self)
        for name in ("group_id", "group_instance_id", "partition_assignment_strategy"):
            if (value := getattr(self, name)) is not None:
                yield _needs_group(name, value)
        if self.group_protocol != "classic":
            yield _needs_group("group_protocol", self.group_protocol)
        if self.enable_auto_commit:
            yield _needs_group("enable_auto_commit", True)
        if self.rebalance_timeout_ms is not None:
            yield _needs_group("rebalance_timeout_ms", self.rebalance_timeout_ms)
        for name in _GROUP_TIMES:
            if not isinstance(value := getattr(self, name), DefaultInt):
                yield _needs_group(name, value)


_SIZES = ("fetch_max_wait_ms", "fetch_min_bytes", "fetch_max_bytes", "max_partition_fetch_bytes")

_GROUP_TIMES = (
    "auto_commit_interval_ms",
    "max_poll_interval_ms",
    "session_timeout_ms",
    "heartbeat_interval_ms",
)


def _needs_group(name: str, value: object) -> str:
    return later(name, value, f"consumer groups come with it; {_LEAVE_GROUP_OUT}")


def _reset_faults(auto_offset_reset: object) -> Iterator[str]:
    if isinstance(auto_offset_reset, str) and auto_offset_reset.startswith(BY_DURATION_PREFIX):
        try:
            OffsetResetStrategy.from_option(auto_offset_reset)
        except ValueError as error:
            yield f"auto_offset_reset={auto_offset_reset!r}: {error}"
    else:
        yield from one_of("auto_offset_reset", auto_offset_reset, AUTO_OFFSET_RESETS)


def _deserializer_faults(name: str, value: object) -> Iterator[str]:
    if value is not None and not callable(value) and not hasattr(value, "deserialize"):
        yield (
            f"{name}={value!r} is of type {type(value).__name__}; set a callable that takes bytes, "
            f"or an object with a deserialize(topic, headers, data) method"
        )


__all__ = ["AUTO_OFFSET_RESETS", "ISOLATION_LEVELS", "ConsumerConfig"]
