"""Owns the options of an embedded broker, their defaults and their limits, in one frozen value.

Each field declares one option. Its type names the unit. Its docstring says what the option does,
and ends with its name in Apache Kafka's server.properties. Does not wait.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aiokafka_lite.errors import InvalidSessionTimeoutError
from aiokafka_lite.options.units import ByteCount, Milliseconds, RequestCount
from aiokafka_lite.testing.broker.security.security_options import SecurityOptions
from aiokafka_lite.testing.broker.state.log.partition_log import DEFAULT_RETENTION_BYTES

MAX_NODES = 100
SERVER_ASSIGNOR_NAMES = ("uniform", "range")
MIGRATION_POLICIES = ("bidirectional", "upgrade", "downgrade", "disabled")
MAX_PORT = 65535
_INT32_MAX = 2**31 - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokerOptions(SecurityOptions):
    """The options of an embedded broker; defaults are Apache Kafka's, or of use in tests."""

    host: str = "127.0.0.1"
    """Address that all nodes listen on. Only here."""
    port: int = 0
    """Port of node 1; node i listens on port + i - 1. 0: free ports. With `listeners`, each of
    them has its own. Only here."""
    auto_create_topics: bool = True
    """Create a topic when a client asks for its metadata. The first answer says that there is none
    yet, as Kafka's does, unless a `FakeClock` stands still. Java: auto.create.topics.enable."""
    num_partitions: int = 1
    """Partitions of a topic that is created without a number of partitions. Java:
    num.partitions."""
    max_message_bytes: ByteCount = 1_048_588
    """Largest batch that is written; a topic's max.message.bytes goes first. Java:
    message.max.bytes."""
    log_retention_bytes: ByteCount = DEFAULT_RETENTION_BYTES
    """Data that a partition keeps; the newest batch always stays. Unlike in Java the default is a
    limit. Java: log.retention.bytes."""
    log_dirs: Sequence[str] = ("/kafka-logs",)
    """Names of each node's log directories. Nothing is written to them. Java: log.dirs."""
    fetch_session_slots: int = 1000
    """Fetch sessions that a node keeps at most. Java:
    max.incremental.fetch.session.cache.slots."""
    group_initial_rebalance_delay_ms: Milliseconds = 0
    """How long the first member of a group waits for others; in Java the default is 3000. Java:
    group.initial.rebalance.delay.ms."""
    group_max_size: int = _INT32_MAX
    """Members that a group may have. Java: group.max.size."""
    group_min_session_timeout_ms: Milliseconds = 6_000
    """Shortest session timeout that a member may ask for. Java: group.min.session.timeout.ms."""
    group_max_session_timeout_ms: Milliseconds = 1_800_000
    """Longest session timeout that a member may ask for. Java: group.max.session.timeout.ms."""
    group_version: int = 1
    """Level of the feature group.version: 1 for groups of the protocol of KIP-848, 0 for a broker
    without them. Only here."""
    group_coordinator_rebalance_protocols: Sequence[str] = ("classic", "consumer")
    """The protocols of groups: without "consumer" a coordinator refuses the members of KIP-848.
    Java: group.coordinator.rebalance.protocols."""
    group_consumer_session_timeout_ms: Milliseconds = 45_000
    """Session timeout of a consumer group; the group's own setting goes first. Java:
    group.consumer.session.timeout.ms."""
    group_consumer_heartbeat_interval_ms: Milliseconds = 5_000
    """Heartbeat interval of a consumer group; the group's own setting goes first. Java:
    group.consumer.heartbeat.interval.ms."""
    group_consumer_assignment_interval_ms: Milliseconds = 0
    """Least time between two assignments of a consumer group; the group's own setting goes first.
    In Java the default is 1000. Java: group.consumer.assignment.interval.ms."""
    group_consumer_max_size: int = _INT32_MAX
    """Members that a consumer group may have. Java: group.consumer.max.size."""
    group_consumer_assignors: Sequence[str] = ("uniform", "range")
    """The assignors of consumer groups; the first one is the default. Java:
    group.consumer.assignors."""
    group_consumer_migration_policy: str = "bidirectional"
    """Which groups with members may change their protocol: "bidirectional", "upgrade" from the
    classic one, "downgrade" to it, or "disabled". Java: group.consumer.migration.policy."""
    share_version: int = 2
    """Level of the feature share.version: 2 for share groups with dead letters (KIP-1191), 1 for
    those without (KIP-932), 0 for a broker without share groups. Only here."""
    group_share_session_timeout_ms: Milliseconds = 45_000
    """Session timeout of a share group; the group's own setting goes first. Java:
    group.share.session.timeout.ms."""
    group_share_heartbeat_interval_ms: Milliseconds = 5_000
    """Heartbeat interval of a share group; the group's own setting goes first. Java:
    group.share.heartbeat.interval.ms."""
    group_share_assignment_interval_ms: Milliseconds = 0
    """Least time between two assignments of a share group; the group's own setting goes first. In
    Java the default is 1000. Java: group.share.assignment.interval.ms."""
    group_share_max_size: int = 200
    """Members that a share group may have. Java: group.share.max.size."""
    group_share_max_share_sessions: int = 2_000
    """Share sessions that a node keeps at most. Java: group.share.max.share.sessions."""
    group_share_record_lock_duration_ms: Milliseconds = 30_000
    """How long a record stays acquired; the group's own setting goes first. Java:
    group.share.record.lock.duration.ms."""
    group_share_delivery_count_limit: int = 5
    """How often a record is delivered to a share group; the group's own setting goes first. Java:
    group.share.delivery.count.limit."""
    group_share_partition_max_record_locks: int = 2_000
    """Records of a partition that a share group may have in flight; the group's own setting goes
    first. Java: group.share.partition.max.record.locks."""
    transaction_version: int = 2
    """Level of the feature transaction.version: 2 for the transactions of KIP-890, 0 or 1 for those
    before. Only here."""
    transaction_max_timeout_ms: Milliseconds = 900_000
    """Longest transaction timeout that a producer may ask for. Java:
    transaction.max.timeout.ms."""
    transaction_partition_verification_enable: bool = True
    """Whether a write in a transaction of version 0 or 1 needs a partition that the coordinator
    knows. False lets tests leave a transaction hanging. Java:
    transaction.partition.verification.enable."""
    client_telemetry: bool = False
    """Tell clients that the broker takes their metrics, as one with a ClientTelemetry reporter does
    (KIP-714). Java: metric.reporters."""
    telemetry_max_bytes: ByteCount = 1_048_576
    """Largest push of client metrics. Java: telemetry.max.bytes."""
    max_versions: Mapping[int, int | None] | None = None
    """Highest version that is served by API key, to act as an older broker; None hides the API.
    Only here."""
    max_logged_requests: RequestCount = 10_000
    """Requests that `requests` remembers; 0 for none. Only here."""
    racks: Sequence[str] | None = None
    """Rack of each node. A consumer that names its own is sent to the replica there, as by
    RackAwareReplicaSelector. Java: broker.rack."""

    def check(self, nodes: int) -> None:
        """Raise ValueError that names all options out of range, for a cluster of `nodes`."""
        faults = list(self._faults(nodes))
        if faults:
            raise ValueError("EmbeddedBroker: " + "; ".join(faults))

    def _faults(self, nodes: int) -> Iterator[str]:
        yield from _out_of_range("nodes", nodes, 1, MAX_NODES)
        yield from self._port_faults(nodes)
        for name, lowest, highest in _RANGES:
            yield from _out_of_range(name, getattr(self, name), lowest, highest)
        yield from _out_of_range(
            "group_max_session_timeout_ms",
            self.group_max_session_timeout_ms,
            self.group_min_session_timeout_ms,
        )
        yield from self.security_faults()
        yield from _out_of_range("the number of log_dirs", len(self.log_dirs), 1)
        yield from _out_of_range(
            "the number of group_consumer_assignors", len(self.group_consumer_assignors), 1
        )
        if self.group_consumer_migration_policy not in MIGRATION_POLICIES:
            yield (
                f"group_consumer_migration_policy must be among {', '.join(MIGRATION_POLICIES)}, "
                f"got {self.group_consumer_migration_policy!r}"
            )
        unknown = sorted({*self.group_consumer_assignors} - {*SERVER_ASSIGNOR_NAMES})
        if unknown:
            known = ", ".join(SERVER_ASSIGNOR_NAMES)
            yield f"group_consumer_assignors must be among {known}, got {', '.join(unknown)}"
        if self.racks is not None:
            yield from _out_of_range("the number of racks", len(self.racks), nodes, nodes)

    def _port_faults(self, nodes: int) -> Iterator[str]:
        yield from _out_of_range("port", self.port, 0, MAX_PORT + 1 - nodes)
        if self.listeners is None:
            return
        if self.port:
            yield (
                f"port is for a broker without listeners, got {self.port}: "
                "use BrokerListener(port=…)"
            )
        end = 0
        for port, name in sorted((port, name) for name, port in self.first_ports().items() if port):
            yield from _out_of_range(f"listeners[{name!r}]: port", port, end, MAX_PORT + 1 - nodes)
            end = port + nodes

    def first_ports(self) -> dict[str, int]:
        """Return the port of node 1 on each listener; 0: any free one."""
        return {name: each.port or self.port for name, each in self.named_listeners.items()}

    def check_session_timeout(self, session_timeout_ms: int) -> None:
        """Raise InvalidSessionTimeoutError unless a member may have such a session."""
        lowest, highest = self.group_min_session_timeout_ms, self.group_max_session_timeout_ms
        if not lowest <= session_timeout_ms <= highest:
            raise InvalidSessionTimeoutError(
                f"a session timeout must be {lowest} to {highest} ms here, got {session_timeout_ms}"
            )


_RANGES: tuple[tuple[str, int, int | None], ...] = (
    ("num_partitions", 1, None),
    ("max_message_bytes", 0, None),
    ("log_retention_bytes", 1, None),
    ("fetch_session_slots", 0, None),
    ("group_initial_rebalance_delay_ms", 0, None),
    ("group_max_size", 1, None),
    ("group_min_session_timeout_ms", 1, None),
    ("group_version", 0, 1),
    ("group_consumer_session_timeout_ms", 1, None),
    ("group_consumer_heartbeat_interval_ms", 1, None),
    ("group_consumer_assignment_interval_ms", 0, None),
    ("group_consumer_max_size", 1, None),
    ("share_version", 0, 2),
    ("group_share_session_timeout_ms", 1, None),
    ("group_share_heartbeat_interval_ms", 1, None),
    ("group_share_assignment_interval_ms", 0, None),
    ("group_share_max_size", 1, None),
    ("group_share_max_share_sessions", 0, None),
    ("group_share_record_lock_duration_ms", 1, None),
    ("group_share_delivery_count_limit", 1, None),
    ("group_share_partition_max_record_locks", 1, None),
    ("transaction_version", 0, 2),
    ("transaction_max_timeout_ms", 1, None),
    ("max_logged_requests", 0, None),
    ("telemetry_max_bytes", 1, _INT32_MAX),
)


def _out_of_range(name: str, value: int, lowest: int, highest: int | None = None) -> Iterator[str]:
    if value < lowest or (highest is not None and value > highest):
        limit = f"{lowest} or more" if highest is None else f"{lowest} to {highest}"
        yield f"{name} must be {limit}, got {value}"


__all__ = ["SERVER_ASSIGNOR_NAMES", "BrokerOptions"]
