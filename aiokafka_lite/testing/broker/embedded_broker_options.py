"""The options of embedded brokers as a type, for editors and type checkers.

Made by `make options` from the fields of BrokerOptions: change them there. It does not wait.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict


class EmbeddedBrokerOptions(TypedDict, total=False):
    """What the constructor of an embedded broker takes by name, as in
    `def make(**options: Unpack[EmbeddedBrokerOptions])`.
    """

    host: str
    """Address that all nodes listen on.

    Default: "127.0.0.1". Only here.
    """

    port: int
    """Port of node 1; node i listens on port + i - 1. 0: free ports.

    Default: 0. Only here.
    """

    auto_create_topics: bool
    """Create a topic when a client asks for its metadata.

    Default: True. Java: auto.create.topics.enable.
    """

    num_partitions: int
    """Partitions of a topic that is created without a number of partitions.

    Default: 1. Java: num.partitions.
    """

    max_message_bytes: int
    """Largest batch that is written; a topic's max.message.bytes goes first.

    Default: 1_048_588 bytes. Java: message.max.bytes.
    """

    log_retention_bytes: int
    """Data that a partition keeps; the newest batch always stays. Unlike in Java the default is a
    limit.

    Default: 268_435_456 bytes. Java: log.retention.bytes.
    """

    fetch_session_slots: int
    """Fetch sessions that a node keeps at most.

    Default: 1000. Java: max.incremental.fetch.session.cache.slots.
    """

    group_initial_rebalance_delay_ms: int
    """How long the first member of a group waits for others; in Java the default is 3000.

    Default: 0 milliseconds. Java: group.initial.rebalance.delay.ms.
    """

    group_max_size: int
    """Members that a group may have.

    Default: 2_147_483_647. Java: group.max.size.
    """

    group_min_session_timeout_ms: int
    """Shortest session timeout that a member may ask for.

    Default: 6000 milliseconds. Java: group.min.session.timeout.ms.
    """

    group_max_session_timeout_ms: int
    """Longest session timeout that a member may ask for.

    Default: 1_800_000 milliseconds. Java: group.max.session.timeout.ms.
    """

    transaction_version: int
    """Level of the feature transaction.version: 2 for the transactions of KIP-890, 0 or 1 for those
    before.

    Default: 2. Only here.
    """

    transaction_max_timeout_ms: int
    """Longest transaction timeout that a producer may ask for.

    Default: 900_000 milliseconds. Java: transaction.max.timeout.ms.
    """

    max_versions: Mapping[int, int | None] | None
    """Highest version that is served by API key, to act as an older broker; None hides the API.

    Default: None. Only here.
    """

    max_logged_requests: int
    """Requests that `requests` remembers; 0 for none.

    Default: 10_000 requests. Only here.
    """

    racks: Sequence[str] | None
    """Rack of each node. A consumer that names its own is sent to the replica there, as by
    RackAwareReplicaSelector.

    Default: None. Java: broker.rack.
    """


__all__ = ["EmbeddedBrokerOptions"]
