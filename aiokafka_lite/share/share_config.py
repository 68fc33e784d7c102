"""Owns the options of a share consumer, their defaults and their limits, in one frozen value.

What is common to every client is in `ClientConfig`. Does not wait.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.sendable_text import sendable
from aiokafka_lite.cluster.client_config import (
    ClientConfig,
    DefaultInt,
    at_least,
    one_of,
    text_or_none,
)
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.consumer.consumer_config import (
    deserializer_faults,
    fitting,
    is_handed_on,
    largest_fetch_answer,
    wait_faults,
)
from aiokafka_lite.options.units import ByteCount, Milliseconds, RecordCount
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES
from aiokafka_lite.serialization import AnyDeserializer

ShareAcknowledgementMode = Literal["implicit", "explicit"]
ShareAcquireMode = Literal["batch_optimized", "record_limit"]

_ONE_STATE: Final = "the group has one state for all members"
REFUSED: Final[Mapping[str, str]] = {
    "auto_offset_reset": "the group's config share.auto.offset.reset decides where it starts",
    "auto_commit_interval_ms": "records are acknowledged: see share_acknowledgement_mode",
    "enable_auto_commit": "records are acknowledged: see share_acknowledgement_mode",
    "group_instance_id": "share groups have no static members",
    "group_protocol": "share groups have one protocol",
    "group_remote_assignor": "brokers assign",
    "heartbeat_interval_ms": "the group's config share.heartbeat.interval.ms decides",
    "isolation_level": f"the group's config share.isolation.level decides, for {_ONE_STATE}",
    "partition_assignment_strategy": "brokers assign",
    "rebalance_timeout_ms": "nothing is revoked in a rebalance",
    "session_timeout_ms": "the group's config share.session.timeout.ms decides",
}
"""Options of other consumers that members of a share group do not have, and why."""


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, eq=False)
class ShareConsumerConfig(ClientConfig):
    """The options of a share consumer; defaults are Java 4's.

    Raises: as `ClientConfig`.
    """

    group_id: str = ""
    """Name of the share group; it must be given. Java: group.id."""
    key_deserializer: AnyDeserializer[Any] | None = None
    """Turns the bytes of a key into the record's key; None: keys are bytes. A function of the
    bytes, or an object with `deserialize(topic, headers, data)`; either may be an `async def`.
    Java: key.deserializer."""
    value_deserializer: AnyDeserializer[Any] | None = None
    """Turns the bytes of a value into the record's value; None: values are bytes. A function of the
    bytes, or an object with `deserialize(topic, headers, data)`; either may be an `async def`.
    Java: value.deserializer."""
    share_acknowledgement_mode: ShareAcknowledgementMode = "implicit"
    """Whether the next poll or commit accepts the records of the last one, or each record has to be
    acknowledged. Java: share.acknowledgement.mode. Not in aiokafka."""
    share_acquire_mode: ShareAcquireMode = "batch_optimized"
    """Whether the broker locks whole batches, which costs it less, or at most `max_poll_records`
    records (KIP-1206). Java: share.acquire.mode. Not in aiokafka."""
    max_poll_records: RecordCount = 500
    """How many records a broker may lock for one fetch, and a poll return. With
    `share_acquire_mode="batch_optimized"` both may be more: the last batch comes whole. Java:
    max.poll.records."""
    max_poll_interval_ms: Milliseconds = DefaultInt(300_000)
    """How long a member with partitions may take from the end of a poll to the next one. After that
    it leaves and releases its records; the next poll joins again. Java: max.poll.interval.ms."""
    fetch_max_wait_ms: Milliseconds = DefaultInt(500)
    """How long a broker may hold back the response to a fetch that has less than `fetch_min_bytes`.
    The default is half of a shorter `request_timeout_ms`. Java: fetch.max.wait.ms."""
    fetch_min_bytes: ByteCount = 1
    """A broker answers a fetch as soon as it has this many bytes of data. Java: fetch.min.bytes."""
    fetch_max_bytes: ByteCount = 52_428_800
    """Data in one response to a fetch. The limit is soft: the first batch is always sent, however
    large (KIP-74). Java: fetch.max.bytes."""
    check_crcs: bool = True
    """Check the CRC of each batch, so that damaged data is noticed. Java: check.crcs."""
    client_rack: str | None = None
    """Rack of this client, which the group's assignor may consider. Java: client.rack."""
    allow_auto_create_topics: bool = True
    """Let the brokers create a topic that is subscribed to and does not exist, if they are
    configured to. Java: allow.auto.create.topics. Not in aiokafka."""
    stop_timeout_ms: Milliseconds = 30_000
    """How long `stop()` and the end of `async with` may take; at least a second is used. Only
    here."""

    @property
    def is_explicit(self) -> bool:
        """True when each record has to be acknowledged."""
        return self.share_acknowledgement_mode == "explicit"

    @property
    def is_limited(self) -> bool:
        """True when no poll may return more than `max_poll_records`."""
        return self.share_acquire_mode == "record_limit"

    def max_answer_bytes(self, lane: Lane) -> int:
        """As that of consumers."""
        if lane is not Lane.FETCH:
            return MAX_FRAME_BYTES
        return largest_fetch_answer(self.fetch_max_bytes)

    def _faults(self) -> Iterator[str]:
        yield from ClientConfig._faults(self)
        group_id: object = self.group_id
        if not (isinstance(group_id, str) and group_id):
            yield (
                f"group_id={quoted(self.group_id)} names no share group; set it to a str of at "
                "least one character"
            )
        yield from sendable("group_id", self.group_id)
        yield from text_or_none("client_rack", self.client_rack)
        for name in ("check_crcs", "allow_auto_create_topics"):
            yield from one_of(name, getattr(self, name), (True, False))
        for name in ("key_deserializer", "value_deserializer"):
            yield from deserializer_faults(name, getattr(self, name))
        for name, minimum in _LEAST.items():
            yield from at_least(name, getattr(self, name), minimum)
        yield from wait_faults(self.fetch_max_wait_ms, self.request_timeout_ms)
        yield from one_of(
            "share_acknowledgement_mode",
            self.share_acknowledgement_mode,
            get_args(ShareAcknowledgementMode),
        )
        yield from one_of("share_acquire_mode", self.share_acquire_mode, get_args(ShareAcquireMode))

    def _settle_defaults(self) -> None:
        ClientConfig._settle_defaults(self)
        wait_ms = fitting(self.fetch_max_wait_ms, self.request_timeout_ms, 2)
        object.__setattr__(self, "fetch_max_wait_ms", wait_ms)


_LEAST: Final = {
    "max_poll_records": 1,
    "max_poll_interval_ms": 1,
    "fetch_max_wait_ms": 0,
    "fetch_min_bytes": 0,
    "fetch_max_bytes": 0,
    "stop_timeout_ms": 0,
}


def refused(options: Mapping[str, object]) -> list[str]:
    """Return one sentence per option that other consumers have and share consumers do not, if it
    was chosen.
    """
    return [
        f"{name} is no option of a share consumer: {REFUSED[name]}; leave it out"
        for name, value in options.items()
        if name in REFUSED and not is_handed_on(name, value)
    ]


__all__ = [
    "REFUSED",
    "ShareAcknowledgementMode",
    "ShareAcquireMode",
    "ShareConsumerConfig",
    "refused",
]
