"""Owns the producer's options, their defaults and their limits, in one frozen value.

What is common to every client is in `ClientConfig`. Does not wait.
"""

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol, get_args, runtime_checkable

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.sendable_text import sendable
from aiokafka_lite.cluster.client_config import (
    ClientConfig,
    DefaultInt,
    at_least,
    one_of,
    text_or_none,
)
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.concurrency.coroutine_function import is_coroutine_function
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.options.units import ByteCount, Milliseconds, RequestCount, RetryCount
from aiokafka_lite.serialization import AnySerializer

PartitionerName = Literal[
    "consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random"
]
"""librdkafka's names of its hashes; with `_random` a record without key has no fixed partition."""
_PARTITIONER_NAMES = get_args(PartitionerName)

Partitioner = Callable[[bytes | None, list[int], list[int]], int]
"""`f(key_bytes, all_partitions, available_partitions) -> partition`."""


@runtime_checkable
class TopicPartitioner(Protocol):
    """A partitioner that also gets the topic. Others are functions of the last three arguments."""

    def partition(
        self,
        topic: str,
        key: bytes | None,
        all_partitions: Sequence[int],
        available: Sequence[int],
        /,
    ) -> int:
        """Return one of `all_partitions`; `available` are those with a leader, `key` is bytes."""


MAX_IN_FLIGHT_IDEMPOTENT = 5
"""A broker remembers the last five batches of a producer and partition (KAFKA-5494)."""

_INT32_MAX = 2**31 - 1
_JAVAS_BATCH_SIZE = 16_384
Acks = Literal["all", -1, 0, 1]
CompressionName = Literal["none", "gzip", "snappy", "lz4", "zstd"]
_ACKS: dict[object, int] = {"all": -1, -1: -1, 0: 0, 1: 1}
_INTERCEPTOR_METHODS = ("on_send", "on_acknowledgement", "on_send_error")
_producer_numbers = itertools.count(1)


@dataclass(frozen=True, kw_only=True, slots=True, repr=False, eq=False)
class ProducerConfig(ClientConfig):
    """The options of a producer. Options that aiokafka has keep its names; defaults are Java 4's.

    Raises: as `ClientConfig`.
    """

    default_api_timeout_ms: Milliseconds = field(default=60_000, init=False)
    """No option of a producer: `max_block_ms` limits its calls."""

    key_serializer: AnySerializer[Any] | None = None
    """Turns a key into bytes; None: keys are bytes-like. A function of the key, or an object with
    `serialize(topic, headers, obj)`; either may be an `async def`. Java: key.serializer."""
    value_serializer: AnySerializer[Any] | None = None
    """Turns a value into bytes; None: values are bytes-like. A function of the value, or an object
    with `serialize(topic, headers, obj)`; either may be an `async def`. Java: value.serializer."""

    acks: Acks = "all"
    """Replicas that must have a batch before it is acknowledged: "all" or -1 for all in sync, 1 for
    the leader. With 0 the broker does not answer. Java: acks."""
    enable_idempotence: bool | None = None
    """Write each record exactly once and in order (KIP-98, KIP-679). None: if `acks` and `retries`
    allow it. True: raise an error if they do not. A `transactional_id` means True. Java:
    enable.idempotence."""

    compression_type: CompressionName | None = None
    """Codec that batches are compressed with; None: they are not. Java: compression.type."""
    compression_gzip_level: int | None = None
    """Level of gzip from 1 to 9, or -1 for zlib's default; None: 1, which is faster than Java's
    default (KIP-390). Java: compression.gzip.level. Not in aiokafka."""
    compression_lz4_level: int | None = None
    """Level of lz4 from 1 to 17; None: its fastest, as in Java (KIP-390). Java:
    compression.lz4.level. Not in aiokafka."""
    compression_zstd_level: int | None = None
    """Level of zstd from -131072 to 22; None: 3 (KIP-390). Java: compression.zstd.level. Not in
    aiokafka."""

    max_batch_size: ByteCount = _JAVAS_BATCH_SIZE
    """Size at which a batch of one partition is full. A larger record is sent in a batch of its
    own. Java: batch.size."""
    max_backlog_batch_size: ByteCount = DefaultInt(262_144)
    """Largest size of a batch behind others of its partition, or full before it is sent. A value
    not above `max_batch_size` turns this off, as do slow links, compression and `acks=0`. If not
    set, it is off with a `max_batch_size` below its default. Only here."""
    max_batch_size_by_topic: Mapping[str, int] | None = None
    """`max_batch_size` of single topics, such as {"images": 1_000_000}. Their batches do not grow
    behind others. Only here."""
    linger_ms: Milliseconds = 5
    """How long a batch that is not full waits for more records. Java: linger.ms."""
    max_request_size: ByteCount = 1_048_576
    """Largest record together with its batch's header, and most data in one request. Java:
    max.request.size."""
    buffer_memory: ByteCount = 33_554_432
    """Memory of all batches that are not acknowledged. `send` waits while it is used up. Java:
    buffer.memory. Not in aiokafka."""
    max_block_ms: Milliseconds = 60_000
    """How long `send` and `partitions_for` wait for metadata and memory together. Java:
    max.block.ms. Not in aiokafka."""
    delivery_timeout_ms: Milliseconds = DefaultInt(120_000)
    """Time from `send` to the acknowledgement, with queueing and retries (KIP-91). If not set, it
    is at least `linger_ms` + `request_timeout_ms`. Java: delivery.timeout.ms. Not in aiokafka."""
    stop_timeout_ms: Milliseconds = 30_000
    """How long `stop()` and the end of `async with` go on sending what is queued. Records that are
    not acknowledged by then fail. Only here."""
    retries: RetryCount = DefaultInt(_INT32_MAX)
    """Attempts after the first one; `delivery_timeout_ms` is the better limit. Java: retries. Not
    in aiokafka."""
    metadata_max_idle_ms: Milliseconds = 300_000
    """Forget the metadata of a topic that nothing was sent to for this long. Java:
    metadata.max.idle.ms. Not in aiokafka."""
    max_in_flight_requests_per_connection: RequestCount = 5
    """Requests to one node that may wait for their response; an idempotent producer may have 5 at
    most. Without idempotence, 1 keeps the order. Java: max.in.flight.requests.per.connection. Not
    in aiokafka."""

    partitioner: Partitioner | TopicPartitioner | PartitionerName | None = None
    """Chooses the partition of a record. None: by the key's hash as Java; without a key, one
    partition for about `max_batch_size` bytes, then another (KIP-480, KIP-794). A name is a hash of
    librdkafka, whose default is "consistent_random". Java: partitioner.class."""
    partitioner_ignore_keys: bool = False
    """Choose the partition of a record with a key as if it had none. Java: partitioner.ignore.keys.
    Not in aiokafka."""
    partitioner_adaptive_partitioning_enable: bool = True
    """Prefer partitions with short queues for records without a key (KIP-794). Java:
    partitioner.adaptive.partitioning.enable. Not in aiokafka."""
    partitioner_availability_timeout_ms: Milliseconds = 0
    """Records without a key avoid a node that nothing could be sent to for this long; 0: never.
    Java: partitioner.availability.timeout.ms. Not in aiokafka."""

    partitioner_rack_aware: bool = False
    """Choose partitions for records without a key among those with a leader in `client_rack`, while
    there are any (KIP-1123). Java: partitioner.rack.aware. Not in aiokafka."""
    client_rack: str | None = None
    """Rack of this client, as brokers have broker.rack; `partitioner_rack_aware` needs it. Java:
    client.rack. Not in aiokafka."""

    transactional_id: str | None = None
    """Name that lets this producer use transactions; one producer at a time may have it. Records
    count only when their transaction commits (KIP-98). Java: transactional.id."""
    transaction_timeout_ms: Milliseconds = 60_000
    """How long a transaction may be open before its coordinator aborts it. Java:
    transaction.timeout.ms."""

    interceptors: Sequence[Any] = ()
    """Objects with one or more of `on_send(record)`, `on_acknowledgement(metadata)` and
    `on_send_error(what, error)` (KIP-42). `on_send` returns the record to send, and may be async.
    Java: interceptor.classes. Not in aiokafka."""

    @property
    def required_acks(self) -> int:
        """`acks` as it is on the wire: -1, 0 or 1."""
        return _ACKS[self.acks]

    @property
    def is_idempotent(self) -> bool:
        """Whether batches carry a producer id, an epoch and sequence numbers."""
        return self.enable_idempotence is True

    @property
    def usual_batch_bytes(self) -> int:
        """The memory of a batch, unless a large record or compression needs another size."""
        return min(self.max_batch_size, self.max_request_size, self.buffer_memory)

    @property
    def batch_bytes_by_topic(self) -> dict[str, int]:
        """The `usual_batch_bytes` of topics with a size of their own."""
        most = min(self.max_request_size, self.buffer_memory)
        given = self.max_batch_size_by_topic or {}
        return {topic: min(size, most) for topic, size in given.items()}

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """The sizes of memory that batches may have: `usual_batch_bytes`, and its doubles.

        The doubles are for batches behind a backlog, up to `max_backlog_batch_size`.
        """
        sizes = [self.usual_batch_bytes]
        most = min(self.max_backlog_batch_size, self.max_request_size, self.buffer_memory)
        while 0 < sizes[-1] < most:
            sizes.append(min(2 * sizes[-1], most))
        return tuple(sizes)

    @property
    def compression(self) -> CompressionType:
        """`compression_type` as it is on the wire."""
        return CompressionType.parse(self.compression_type)

    @property
    def compression_level(self) -> int | None:
        """The level of the chosen codec, None for its default."""
        name = _LEVEL_NAMES.get(self.compression)
        level: int | None = getattr(self, name) if name else None
        return level

    def _default_client_id(self) -> str:
        return f"aiokafka-lite-producer-{next(_producer_numbers)}"

    def _faults(self) -> Iterator[str]:
        yield from ClientConfig._faults(self)
        for name, minimum in _MINIMUMS.items():
            yield from at_least(name, getattr(self, name), minimum)
        for name in ("key_serializer", "value_serializer"):
            yield from _serializer_faults(name, getattr(self, name))
        partitioner: object = self.partitioner
        if isinstance(partitioner, str):
            if partitioner not in _PARTITIONER_NAMES:
                yield (
                    f"partitioner={quoted(partitioner)} is no partitioner of librdkafka; name one "
                    f"of {', '.join(_PARTITIONER_NAMES)}, or give a function of (key_bytes, "
                    "all_partitions, available_partitions)"
                )
        elif isinstance(partitioner, bytes) or not (  # bytes have a method partition, too
            partitioner is None
            or callable(partitioner)
            or isinstance(partitioner, TopicPartitioner)
        ):
            yield (
                f"partitioner={quoted(partitioner)} is not callable; "
                f"give a function of (key_bytes, all_partitions, available_partitions)"
            )
        if is_coroutine_function(getattr(partitioner, "partition", partitioner)):
            yield (
                f"partitioner={quoted(partitioner)} is an `async def`, and nobody awaits it; give "
                f"a plain function"
            )
        yield from one_of("enable_idempotence", self.enable_idempotence, (None, True, False))
        for name in (
            "partitioner_ignore_keys",
            "partitioner_adaptive_partitioning_enable",
            "partitioner_rack_aware",
        ):
            yield from one_of(name, getattr(self, name), (True, False))
        yield from text_or_none("client_rack", self.client_rack)
        yield from _key_faults(self)
        yield from _rack_faults(self)
        yield from _topic_size_faults(self.max_batch_size_by_topic)
        yield from _interceptor_faults(self.interceptors)
        yield from self._compression_faults()
        yield from self._acks_faults()
        yield from self._delivery_faults()
        yield from self._transaction_faults()

    def _transaction_faults(self) -> Iterator[str]:
        yield from at_least("transaction_timeout_ms", self.transaction_timeout_ms, 1)
        name: object = self.transactional_id
        if name is None:
            return
        if not isinstance(name, str) or not name:
            yield (
                f"transactional_id={quoted(name)} is no name; set it to a str of "
                "one character or more"
            )
        yield from sendable("transactional_id", name)
        if self.acks in _ACKS and not self._may_be_idempotent:
            yield (
                f"transactional_id needs acks='all' and retries; acks={quoted(self.acks)}, "
                f"retries={self.retries}"
            )

    def _compression_faults(self) -> Iterator[str]:
        try:
            CompressionType.parse(self.compression_type)
        except KafkaConfigurationError as error:
            yield f"Invalid compression type! {error.args[0]}"
        for codec, name in _LEVEL_NAMES.items():
            try:
                codec.check_level(getattr(self, name))
            except (KafkaConfigurationError, TypeError) as error:
                yield f"{name}={quoted(getattr(self, name))}: {error.args[0]}"

    def _acks_faults(self) -> Iterator[str]:
        if isinstance(self.acks, bool) or self.acks not in _ACKS:
            yield f"Invalid ACKS parameter: acks={quoted(self.acks)}; set it to 0, 1, -1 or 'all'"
            return
        if self.enable_idempotence is not False or self.transactional_id is not None:
            if self.enable_idempotence and self.required_acks != -1:
                yield (
                    f"acks={self.acks} is incompatible with enable_idempotence=True; "
                    f"set acks='all' or enable_idempotence=False"
                )
            if self.enable_idempotence and self.retries == 0:
                yield (
                    "retries=0 is incompatible with enable_idempotence=True; "
                    "leave retries out or set enable_idempotence=False"
                )
            in_flight: object = self.max_in_flight_requests_per_connection
            if (
                isinstance(in_flight, int)
                and self._may_be_idempotent
                and in_flight > MAX_IN_FLIGHT_IDEMPOTENT
            ):
                yield (
                    f"max_in_flight_requests_per_connection={in_flight} exceeds the "
                    f"{MAX_IN_FLIGHT_IDEMPOTENT} an idempotent producer may have; "
                    f"lower it or set enable_idempotence=False"
                )

    def _delivery_faults(self) -> Iterator[str]:
        delivery: object = self.delivery_timeout_ms
        needed = self._least_delivery_timeout_ms
        if isinstance(delivery, DefaultInt) or not isinstance(delivery, int) or needed is None:
            return
        if delivery < needed:
            yield (
                f"delivery_timeout_ms={delivery} is below linger_ms + request_timeout_ms = "
                f"{needed}; raise it to {needed} or lower the other two"
            )

    @property
    def _least_delivery_timeout_ms(self) -> int | None:
        linger: object = self.linger_ms
        request: object = self.request_timeout_ms
        if isinstance(linger, int) and isinstance(request, int):
            return min(linger + request, _INT32_MAX)
        return None

    @property
    def _may_be_idempotent(self) -> bool:
        return self.required_acks == -1 and self.retries != 0

    def _settle_defaults(self) -> None:
        ClientConfig._settle_defaults(self)
        if self.enable_idempotence is None or self.transactional_id is not None:
            # Transactions need it: False is aiokafka's default, which frameworks hand on.
            object.__setattr__(self, "enable_idempotence", self._may_be_idempotent)
        if (
            self.compression is not CompressionType.NONE  # batches grow with what they shrink to
            or not self.required_acks  # a broker tells nobody what it takes
            or (
                isinstance(self.max_backlog_batch_size, DefaultInt)
                and self.max_batch_size < _JAVAS_BATCH_SIZE  # for what a topic takes, say
            )
        ):
            object.__setattr__(self, "max_backlog_batch_size", DefaultInt(self.max_batch_size))
        needed = self._least_delivery_timeout_ms
        if needed is not None and self.delivery_timeout_ms < needed:
            object.__setattr__(self, "delivery_timeout_ms", DefaultInt(needed))


def _topic_size_faults(value: object) -> Iterator[str]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        yield (
            f"max_batch_size_by_topic={quoted(value)} is of type "
            f"{type(value).__name__}; set it to a "
            f'dict such as {{"images": 1_000_000}}'
        )
        return
    for topic, size in value.items():
        if not isinstance(topic, str):
            yield (
                f"max_batch_size_by_topic: {quoted(topic)} is of type {type(topic).__name__}; name "
                "a topic by a str"
            )
        yield from at_least(f"max_batch_size_by_topic[{quoted(topic)}]", size, 0)


def _interceptor_faults(interceptors: object) -> Iterator[str]:
    """Yield what is wrong with the option `interceptors`."""
    if not isinstance(interceptors, Sequence) or isinstance(interceptors, str | bytes):
        yield f"interceptors={quoted(interceptors)} is no list; give a list of objects"
        return
    for interceptor in interceptors:
        methods = [
            name for name in _INTERCEPTOR_METHODS if callable(getattr(interceptor, name, None))
        ]
        if not methods:
            yield (
                f"interceptor {quoted(interceptor)} has none of the methods on_send(record), "
                f"on_acknowledgement(metadata), on_send_error(what, error)"
            )
        for name in methods:
            if name != "on_send" and inspect.iscoroutinefunction(getattr(interceptor, name)):
                yield (
                    f"interceptor {quoted(interceptor)} has an async {name}: nobody waits for it; "
                    "make it a plain method"
                )


def _key_faults(config: ProducerConfig) -> Iterator[str]:
    if isinstance(config.partitioner, str) and config.partitioner_ignore_keys:
        yield (
            f"partitioner={quoted(config.partitioner)} chooses by the key, which "
            f"partitioner_ignore_keys=True forbids; leave one of them out"
        )


def _rack_faults(config: ProducerConfig) -> Iterator[str]:
    if config.partitioner_rack_aware is not True:
        return
    rack: object = config.client_rack
    if rack is None or (isinstance(rack, str) and not rack.strip()):
        yield (
            f"partitioner_rack_aware=True needs client_rack, which is {quoted(rack)}; set it to "
            "the broker.rack of the brokers near this client"
        )
    partitioner: object = config.partitioner
    if partitioner is not None and not str(partitioner).endswith("_random"):
        yield (
            f"partitioner={quoted(partitioner)} chooses a partition for every record, so "
            "partitioner_rack_aware=True has no effect; leave one of them out"
        )


_MINIMUMS = {
    "partitioner_availability_timeout_ms": 0,
    "max_batch_size": 0,
    "max_backlog_batch_size": 0,
    "linger_ms": 0,
    "max_request_size": 0,
    "buffer_memory": 0,
    "max_block_ms": 0,
    "delivery_timeout_ms": 0,
    "stop_timeout_ms": 0,
    "retries": 0,
    "metadata_max_idle_ms": 0,
    "max_in_flight_requests_per_connection": 1,
}

_LEVEL_NAMES = {
    CompressionType.GZIP: "compression_gzip_level",
    CompressionType.LZ4: "compression_lz4_level",
    CompressionType.ZSTD: "compression_zstd_level",
}


def _serializer_faults(name: str, serializer: object) -> Iterator[str]:
    if serializer is None or callable(serializer) or hasattr(serializer, "serialize"):
        return
    yield (
        f"{name}={quoted(serializer)} is neither callable nor has a method serialize(topic, "
        "headers, obj); give a function from an object to bytes"
    )


__all__ = [
    "MAX_IN_FLIGHT_IDEMPOTENT",
    "Acks",
    "CompressionName",
    "Partitioner",
    "PartitionerName",
    "ProducerConfig",
    "TopicPartitioner",
]
