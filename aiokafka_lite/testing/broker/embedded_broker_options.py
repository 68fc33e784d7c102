"""The options of embedded brokers as a type, for editors and type checkers.

Made by `make options` from the fields of BrokerOptions: change them there. Does not wait.
"""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.broker_listener import BrokerListener
from aiokafka_lite.testing.broker.security.oauthbearer_server import TokenValidator
from aiokafka_lite.testing.broker.security.scram_server import BrokerToken


class EmbeddedBrokerOptions(TypedDict, total=False):
    """What the constructor of an embedded broker takes by name, as in
    `def make(**options: Unpack[EmbeddedBrokerOptions])`.
    """

    security: str
    """Protocol of the one listener, without `listeners`: PLAINTEXT, SSL, SASL_PLAINTEXT or
    SASL_SSL.

    Default: "PLAINTEXT". Java: listener.security.protocol.map.
    """

    listeners: Mapping[str, str | BrokerListener] | None
    """Listeners by name, each as a protocol or a BrokerListener. bootstrap_servers has the
    addresses of the first. None: one listener, of `security`.

    Default: None. Java: listeners.
    """

    users: Mapping[str, str] | None
    """Password by user name, for PLAIN and SCRAM.

    Default: None. Only here.
    """

    mechanisms: Sequence[str] | None
    """SASL mechanisms of the listeners; None: all that the embedded broker has.

    Default: None. Java: sasl.enabled.mechanisms.
    """

    delegation_tokens: Mapping[str, BrokerToken] | None
    """Delegation token by its id, for SCRAM with tokenauth (KIP-48).

    Default: None. Only here.
    """

    token_validator: TokenValidator | None
    """Returns the claims of an OAUTHBEARER token, or raises; None: tokens without a signature.

    Default: None. Java: sasl.server.callback.handler.class.
    """

    ssl_client_auth: str
    """Whether a TLS client shows a certificate: none, requested or required.

    Default: "none". Java: ssl.client.auth.
    """

    acls: Sequence[Acl] | None
    """Rules about who may do what, as Acl.allow("alice", "READ", topic="t"). None: everybody may do
    everything. With rules, an empty list too, what none allows is refused.

    Default: None. Java: authorizer.class.name.
    """

    super_users: Sequence[str]
    """Users who may do everything, whatever the rules are.

    Default: (). Java: super.users.
    """

    allow_everyone_if_no_acl_found: bool
    """Whether everybody may use a resource that no rule is about.

    Default: False. Java: allow.everyone.if.no.acl.found.
    """

    connections_max_reauth_ms: int
    """Time after which a SASL client must have authenticated again; 0: never (KIP-368).

    Default: 0 milliseconds. Java: connections.max.reauth.ms.
    """

    connection_failed_authentication_delay_ms: int
    """How long the response to a refused authentication, and the end of its connection, are
    delayed; in Java the default is 100 (KIP-306).

    Default: 0 milliseconds. Java: connection.failed.authentication.delay.ms.
    """

    host: str
    """Address that all nodes listen on.

    Default: "127.0.0.1". Only here.
    """

    port: int
    """Port of node 1; node i listens on port + i - 1. 0: free ports. With `listeners`, each of them
    has its own.

    Default: 0. Only here.
    """

    auto_create_topics: bool
    """Create a topic when a client asks for its metadata. The first answer says that there is none
    yet, as Kafka's does, unless a `FakeClock` stands still.

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

    log_dirs: Sequence[str]
    """Names of each node's log directories. Nothing is written to them.

    Default: ('/kafka-logs',). Java: log.dirs.
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

    group_version: int
    """Level of the feature group.version: 1 for groups of the protocol of KIP-848, 0 for a broker
    without them.

    Default: 1. Only here.
    """

    group_coordinator_rebalance_protocols: Sequence[str]
    """The protocols of groups: without "consumer" a coordinator refuses the members of KIP-848.

    Default: ('classic', 'consumer'). Java: group.coordinator.rebalance.protocols.
    """

    group_consumer_session_timeout_ms: int
    """Session timeout of a consumer group; the group's own setting goes first.

    Default: 45_000 milliseconds. Java: group.consumer.session.timeout.ms.
    """

    group_consumer_heartbeat_interval_ms: int
    """Heartbeat interval of a consumer group; the group's own setting goes first.

    Default: 5000 milliseconds. Java: group.consumer.heartbeat.interval.ms.
    """

    group_consumer_assignment_interval_ms: int
    """Least time between two assignments of a consumer group; the group's own setting goes first.
    In Java the default is 1000.

    Default: 0 milliseconds. Java: group.consumer.assignment.interval.ms.
    """

    group_consumer_max_size: int
    """Members that a consumer group may have.

    Default: 2_147_483_647. Java: group.consumer.max.size.
    """

    group_consumer_assignors: Sequence[str]
    """The assignors of consumer groups; the first one is the default.

    Default: ('uniform', 'range'). Java: group.consumer.assignors.
    """

    group_consumer_migration_policy: str
    """Which groups with members may change their protocol: "bidirectional", "upgrade" from the
    classic one, "downgrade" to it, or "disabled".

    Default: "bidirectional". Java: group.consumer.migration.policy.
    """

    share_version: int
    """Level of the feature share.version: 2 for share groups with dead letters (KIP-1191), 1 for
    those without (KIP-932), 0 for a broker without share groups.

    Default: 2. Only here.
    """

    group_share_session_timeout_ms: int
    """Session timeout of a share group; the group's own setting goes first.

    Default: 45_000 milliseconds. Java: group.share.session.timeout.ms.
    """

    group_share_heartbeat_interval_ms: int
    """Heartbeat interval of a share group; the group's own setting goes first.

    Default: 5000 milliseconds. Java: group.share.heartbeat.interval.ms.
    """

    group_share_assignment_interval_ms: int
    """Least time between two assignments of a share group; the group's own setting goes first. In
    Java the default is 1000.

    Default: 0 milliseconds. Java: group.share.assignment.interval.ms.
    """

    group_share_max_size: int
    """Members that a share group may have.

    Default: 200. Java: group.share.max.size.
    """

    group_share_max_share_sessions: int
    """Share sessions that a node keeps at most.

    Default: 2000. Java: group.share.max.share.sessions.
    """

    group_share_record_lock_duration_ms: int
    """How long a record stays acquired; the group's own setting goes first.

    Default: 30_000 milliseconds. Java: group.share.record.lock.duration.ms.
    """

    group_share_delivery_count_limit: int
    """How often a record is delivered to a share group; the group's own setting goes first.

    Default: 5. Java: group.share.delivery.count.limit.
    """

    group_share_partition_max_record_locks: int
    """Records of a partition that a share group may have in flight; the group's own setting goes
    first.

    Default: 2000. Java: group.share.partition.max.record.locks.
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

    transaction_partition_verification_enable: bool
    """Whether a write in a transaction of version 0 or 1 needs a partition that the coordinator
    knows. False lets tests leave a transaction hanging.

    Default: True. Java: transaction.partition.verification.enable.
    """

    client_telemetry: bool
    """Tell clients that the broker takes their metrics, as one with a ClientTelemetry reporter does
    (KIP-714).

    Default: False. Java: metric.reporters.
    """

    telemetry_max_bytes: int
    """Largest push of client metrics.

    Default: 1_048_576 bytes. Java: telemetry.max.bytes.
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
