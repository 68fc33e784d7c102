"""The options of producers as a type, for editors and type checkers.

Made by `make options` from the fields of ProducerConfig: change them there. Does not wait.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal

from aiokafka_lite.cluster.client_options import CommonOptions
from aiokafka_lite.producer.producer_config import Partitioner, TopicPartitioner
from aiokafka_lite.serialization import AnySerializer, K_contra, V_contra


class ProducerOptions(CommonOptions, Generic[K_contra, V_contra], total=False):
    """What the constructor of a producer takes by name, as in
    `def make(**options: Unpack[ProducerOptions])`.
    """

    key_serializer: AnySerializer[K_contra] | None
    """Turns a key into bytes; None: keys are bytes-like. A function of the key, or an object with
    `serialize(topic, headers, obj)`; either may be an `async def`.

    Default: None. Java: key.serializer.
    """

    value_serializer: AnySerializer[V_contra] | None
    """Turns a value into bytes; None: values are bytes-like. A function of the value, or an object
    with `serialize(topic, headers, obj)`; either may be an `async def`.

    Default: None. Java: value.serializer.
    """

    acks: Literal["all", -1, 0, 1]
    """Replicas that must have a batch before it is acknowledged: "all" or -1 for all in sync, 1 for
    the leader. With 0 the broker does not answer.

    Default: "all". Java: acks.
    """

    enable_idempotence: bool | None
    """Write each record exactly once and in order (KIP-98, KIP-679). None: if `acks` and `retries`
    allow it. True: raise an error if they do not. A `transactional_id` means True.

    Default: None. Java: enable.idempotence.
    """

    compression_type: Literal["none", "gzip", "snappy", "lz4", "zstd"] | None
    """Codec that batches are compressed with; None: they are not.

    Default: None. Java: compression.type.
    """

    compression_gzip_level: int | None
    """Level of gzip from 1 to 9, or -1 for zlib's default; None: 1, which is faster than Java's
    default (KIP-390).

    Default: None. Java: compression.gzip.level. Not in aiokafka.
    """

    compression_lz4_level: int | None
    """Level of lz4 from 1 to 17; None: its fastest, as in Java (KIP-390).

    Default: None. Java: compression.lz4.level. Not in aiokafka.
    """

    compression_zstd_level: int | None
    """Level of zstd from -131072 to 22; None: 3 (KIP-390).

    Default: None. Java: compression.zstd.level. Not in aiokafka.
    """

    max_batch_size: int
    """Size at which a batch of one partition is full. A larger record is sent in a batch of its
    own.

    Default: 16_384 bytes. Java: batch.size.
    """

    max_backlog_batch_size: int
    """Largest size of a batch behind others of its partition, or full before it is sent. A value
    not above `max_batch_size` turns this off, as do slow links, compression and `acks=0`. If not
    set, it is off with a `max_batch_size` below its default.

    Default: 262_144 bytes. Only here.
    """

    max_batch_size_by_topic: Mapping[str, int] | None
    """`max_batch_size` of single topics, such as {"images": 1_000_000}. Their batches do not grow
    behind others.

    Default: None. Only here.
    """

    linger_ms: int
    """How long a batch that is not full waits for more records.

    Default: 5 milliseconds. Java: linger.ms.
    """

    max_request_size: int
    """Largest record together with its batch's header, and most data in one request.

    Default: 1_048_576 bytes. Java: max.request.size.
    """

    buffer_memory: int
    """Memory of all batches that are not acknowledged. `send` waits while it is used up.

    Default: 33_554_432 bytes. Java: buffer.memory. Not in aiokafka.
    """

    max_block_ms: int
    """How long `send` and `partitions_for` wait for metadata and memory together.

    Default: 60_000 milliseconds. Java: max.block.ms. Not in aiokafka.
    """

    delivery_timeout_ms: int
    """Time from `send` to the acknowledgement, with queueing and retries (KIP-91). If not set, it
    is at least `linger_ms` + `request_timeout_ms`.

    Default: 120_000 milliseconds. Java: delivery.timeout.ms. Not in aiokafka.
    """

    stop_timeout_ms: int
    """How long `stop()` and the end of `async with` go on sending what is queued. Records that are
    not acknowledged by then fail.

    Default: 30_000 milliseconds. Only here.
    """

    retries: int
    """Attempts after the first one; `delivery_timeout_ms` is the better limit.

    Default: 2_147_483_647 retries. Java: retries. Not in aiokafka.
    """

    metadata_max_idle_ms: int
    """Forget the metadata of a topic that nothing was sent to for this long.

    Default: 300_000 milliseconds. Java: metadata.max.idle.ms. Not in aiokafka.
    """

    max_in_flight_requests_per_connection: int
    """Requests to one node that may wait for their response; an idempotent producer may have 5 at
    most. Without idempotence, 1 keeps the order.

    Default: 5 requests. Java: max.in.flight.requests.per.connection. Not in aiokafka.
    """

    partitioner: (
        Partitioner
        | TopicPartitioner
        | Literal[
            "consistent", "consistent_random", "murmur2", "murmur2_random", "fnv1a", "fnv1a_random"
        ]
        | None
    )
    """Chooses the partition of a record. None: by the key's hash as Java; without a key, one
    partition for about `max_batch_size` bytes, then another (KIP-480, KIP-794). A name is a hash of
    librdkafka, whose default is "consistent_random".

    Default: None. Java: partitioner.class.
    """

    partitioner_ignore_keys: bool
    """Choose the partition of a record with a key as if it had none.

    Default: False. Java: partitioner.ignore.keys. Not in aiokafka.
    """

    partitioner_adaptive_partitioning_enable: bool
    """Prefer partitions with short queues for records without a key (KIP-794).

    Default: True. Java: partitioner.adaptive.partitioning.enable. Not in aiokafka.
    """

    partitioner_availability_timeout_ms: int
    """Records without a key avoid a node that nothing could be sent to for this long; 0: never.

    Default: 0 milliseconds. Java: partitioner.availability.timeout.ms. Not in aiokafka.
    """

    partitioner_rack_aware: bool
    """Choose partitions for records without a key among those with a leader in `client_rack`, while
    there are any (KIP-1123).

    Default: False. Java: partitioner.rack.aware. Not in aiokafka.
    """

    client_rack: str | None
    """Rack of this client, as brokers have broker.rack; `partitioner_rack_aware` needs it.

    Default: None. Java: client.rack. Not in aiokafka.
    """

    transactional_id: str | None
    """Name that lets this producer use transactions; one producer at a time may have it. Records
    count only when their transaction commits (KIP-98).

    Default: None. Java: transactional.id.
    """

    transaction_timeout_ms: int
    """How long a transaction may be open before its coordinator aborts it.

    Default: 60_000 milliseconds. Java: transaction.timeout.ms.
    """

    interceptors: Sequence[Any]
    """Objects with one or more of `on_send(record)`, `on_acknowledgement(metadata)` and
    `on_send_error(what, error)` (KIP-42). `on_send` returns the record to send, and may be async.

    Default: (). Java: interceptor.classes. Not in aiokafka.
    """


__all__ = ["ProducerOptions"]
