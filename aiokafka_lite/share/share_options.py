"""The options of share consumers as a type, for editors and type checkers.

Made by `make options` from the fields of ShareConsumerConfig: change them there. Does not wait.
"""

from typing import Generic, Literal

from aiokafka_lite.cluster.client_options import ClientOptions
from aiokafka_lite.model import KT, VT
from aiokafka_lite.serialization import AnyDeserializer


class ShareConsumerOptions(ClientOptions, Generic[KT, VT], total=False):
    """What the constructor of a share consumer takes by name, as in
    `def make(**options: Unpack[ShareConsumerOptions])`.
    """

    group_id: str
    """Name of the share group; it must be given.

    Default: "". Java: group.id.
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

    share_acknowledgement_mode: Literal["implicit", "explicit"]
    """Whether the next poll or commit accepts the records of the last one, or each record has to be
    acknowledged.

    Default: "implicit". Java: share.acknowledgement.mode. Not in aiokafka.
    """

    share_acquire_mode: Literal["batch_optimized", "record_limit"]
    """Whether the broker locks whole batches, which costs it less, or at most `max_poll_records`
    records (KIP-1206).

    Default: "batch_optimized". Java: share.acquire.mode. Not in aiokafka.
    """

    max_poll_records: int
    """How many records a broker may lock for one fetch, and a poll return. With
    `share_acquire_mode="batch_optimized"` both may be more: the last batch comes whole.

    Default: 500 records. Java: max.poll.records.
    """

    max_poll_interval_ms: int
    """How long a member with partitions may take from the end of a poll to the next one. After that
    it leaves and releases its records; the next poll joins again.

    Default: 300_000 milliseconds. Java: max.poll.interval.ms.
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

    check_crcs: bool
    """Check the CRC of each batch, so that damaged data is noticed.

    Default: True. Java: check.crcs.
    """

    client_rack: str | None
    """Rack of this client, which the group's assignor may consider.

    Default: None. Java: client.rack.
    """

    allow_auto_create_topics: bool
    """Let the brokers create a topic that is subscribed to and does not exist, if they are
    configured to.

    Default: True. Java: allow.auto.create.topics. Not in aiokafka.
    """

    stop_timeout_ms: int
    """How long `stop()` and the end of `async with` may take; at least a second is used.

    Default: 30_000 milliseconds. Only here.
    """


__all__ = ["ShareConsumerOptions"]
