"""The cluster as all its nodes see it: nodes, topics, partitions with their leaders and epochs.

Every node sees a change at once. A changed partition calls its watchers, such as a fetch that waits
for data. Does not wait.
"""

import base64
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import NAMESPACE_OID, UUID, uuid5

from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.errors import (
    BrokerIdNotRegisteredError,
    BrokerNotAvailableError,
    ControllerIdNotRegisteredError,
    DuplicateVoterError,
    FencedLeaderEpochError,
    InconsistentClusterIdError,
    InvalidPartitionsError,
    InvalidReplicationAssignmentError,
    InvalidReplicationFactorError,
    InvalidRequestError,
    InvalidTopicError,
    NotLeaderForPartitionError,
    RequestTimedOutError,
    TopicAlreadyExistsError,
    UnknownLeaderEpochError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
    VoterNotFoundError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.broker.state.broker_loggers import BrokerLoggers
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.broker_settings import BrokerSettings
from aiokafka_lite.testing.broker.state.client_telemetry import ClientTelemetry
from aiokafka_lite.testing.broker.state.cluster_features import (
    GROUP_VERSION,
    NEW_CLUSTER,
    SHARE_VERSION,
    TRANSACTION_VERSION,
    WITH_CONTROLLERS_THAT_GO,
    ClusterFeatures,
)
from aiokafka_lite.testing.broker.state.log.partition_log import PartitionLog
from aiokafka_lite.testing.broker.state.log.producer_states import ProducerStates
from aiokafka_lite.testing.broker.state.replica_assignments import (
    check_assignments,
    check_replica_lists,
)
from aiokafka_lite.testing.broker.state.settings.effects import (
    ACTING_TOPIC_SETTINGS,
    tell_stored,
)
from aiokafka_lite.testing.broker.state.settings.topic_settings import check_topic_settings
from aiokafka_lite.testing.broker.state.topic_config import TopicConfig, parse_topic_config

NO_LEADER = -1
CONTROLLER_LISTENER: Final = "CONTROLLER"
"""Name of the listener on which nodes ask controllers; the embedded broker opens none."""
MAX_REPLICATION_FACTOR = 3


@dataclass(slots=True)
class BrokerNode:
    """A node of the cluster."""

    node_id: int
    host: str
    ports: dict[str, int] = field(default_factory=lambda: {"PLAINTEXT": 0})
    """The port of each listener, by its name; 0 until it listens."""
    rack: str | None = None
    is_alive: bool = True
    is_registered: bool = True
    """Whether the cluster knows it; a node that starts again is known again."""
    has_controller: bool = True
    """Whether the cluster knows its controller; as `is_registered`."""
    is_voter: bool = True
    """Whether its controller votes; otherwise it observes the quorum."""

    @property
    def port(self) -> int:
        """The port of the first listener."""
        return next(iter(self.ports.values()))


class BrokerPartition:
    """One partition: its log, its leader, and the watchers of its changes."""

    __slots__ = (
        "_watchers",
        "adding",
        "catching_up",
        "config",
        "leader",
        "leader_epoch",
        "log",
        "producers",
        "removing",
        "replicas",
        "topic_partition",
    )

    def __init__(
        self, topic_partition: TopicPartition, replicas: list[int], config: TopicConfig
    ) -> None:
        self.topic_partition = topic_partition
        self.replicas = replicas
        """The preferred leader first; during a reassignment the leaving ones are last."""
        self.adding: tuple[int, ...] = ()
        self.removing: tuple[int, ...] = ()
        self.catching_up: set[int] = set()
        """New replicas that are not in sync yet."""
        self.config = config
        self.leader = NO_LEADER
        self.leader_epoch = -1
        self.log = PartitionLog(*topic_partition, retention_bytes=config.retention_bytes)
        self.producers = ProducerStates()
        self._watchers: dict[Callable[[], object], None] = {}

    def reconfigure(self, config: TopicConfig) -> None:
        """Take over the altered settings of the topic."""
        self.config = config
        self.log.retention_bytes = config.retention_bytes

    @property
    def is_reassigning(self) -> bool:
        """Whether a reassignment has begun and not ended (KIP-455)."""
        return bool(self.adding or self.removing)

    def watch(self, callback: Callable[[], object]) -> None:
        """Call `callback` at each change from now on: data, leader, deletion."""
        self._watchers[callback] = None

    def unwatch(self, callback: Callable[[], object]) -> None:
        """Stop calling `callback`."""
        self._watchers.pop(callback, None)

    def changed(self) -> None:
        """Call the watchers."""
        for callback in tuple(self._watchers):
            callback()

    def append(
        self,
        records: bytes | bytearray | memoryview,
        *,
        written_ms: int = -1,
        log_append_time_ms: int | None = None,
        keep_offsets: bool = False,
    ) -> int:
        """Append batches to the log and call the watchers; otherwise as `PartitionLog.append`."""
        base_offset = self.log.append(
            records,
            leader_epoch=max(self.leader_epoch, 0),
            written_ms=written_ms,
            log_append_time_ms=log_append_time_ms,
            keep_offsets=keep_offsets,
        )
        self.changed()
        return base_offset

    def has_transaction(self, producer_id: int, producer_epoch: int) -> bool:
        """Return whether the producer has written here in its present transaction.

        Source: UnifiedLog.hasOngoingTransaction.
        """
        return (
            self.log.transactions.is_open(producer_id)
            and self.producers.epoch_of(producer_id) == producer_epoch
        )

    def lead(self, node_id: int) -> None:
        """Make `node_id` the leader from now on, in a new epoch; -1 means no leader."""
        self.leader = node_id
        self.leader_epoch += 1
        if node_id != NO_LEADER:
            self.log.start_epoch(self.leader_epoch, self.log.log_end_offset)
        self.changed()

    def truncate(self, end_offset: int) -> None:
        """Drop the records from `end_offset` on, as if a replica without them were elected.

        Call `lead` afterwards, because clients notice only a new epoch.
        """
        self.log.truncate(end_offset)
        self.changed()

    def check_leader(self, node_id: int, current_leader_epoch: int) -> None:
        """Raise unless `node_id` leads, in the epoch that the client expects (-1: any).

        Raises: FencedLeaderEpochError, UnknownLeaderEpochError or NotLeaderForPartitionError.
        Source: KIP-320, Partition.checkCurrentLeaderEpoch.
        """
        self._check_epoch(current_leader_epoch)
        if self.leader != node_id:
            raise NotLeaderForPartitionError(
                f"node {node_id} does not lead {self.topic_partition}; {self.leader} does"
            )

    def check_replica(self, node_id: int, current_leader_epoch: int) -> None:
        """Raise unless `node_id` has a replica; otherwise as `check_leader` (KIP-392)."""
        self._check_epoch(current_leader_epoch)
        if self.leader != node_id and node_id not in self.replicas:
            raise NotLeaderForPartitionError(
                f"node {node_id} has no replica of {self.topic_partition}"
            )

    def _check_epoch(self, current_leader_epoch: int) -> None:
        if 0 <= current_leader_epoch < self.leader_epoch:
            raise FencedLeaderEpochError(
                f"leader epoch {current_leader_epoch} of {self.topic_partition} is over; "
                f"it is {self.leader_epoch} now"
            )
        if current_leader_epoch > self.leader_epoch:
            raise UnknownLeaderEpochError(
                f"leader epoch {current_leader_epoch} of {self.topic_partition} is not known; "
                f"it is {self.leader_epoch}"
            )


@dataclass(slots=True)
class TopicState:
    """A topic and its partitions, by number."""

    name: str
    topic_id: UUID
    config: TopicConfig
    partitions: list[BrokerPartition] = field(default_factory=list)


class ClusterState:
    """The common state of all nodes of one embedded cluster."""

    def __init__(
        self, nodes: Sequence[BrokerNode], options: BrokerOptions, rng: random.Random
    ) -> None:
        self.options = options
        self.nodes = {node.node_id: node for node in nodes}
        self.cluster_id = base64.urlsafe_b64encode(rng.randbytes(16)).decode().rstrip("=")
        self.topics: dict[str, TopicState] = {}
        self.features = ClusterFeatures(
            {
                **NEW_CLUSTER,
                GROUP_VERSION: options.group_version,
                SHARE_VERSION: options.share_version,
                TRANSACTION_VERSION: options.transaction_version,
            }
        )
        self.broker_settings = BrokerSettings(options)
        self.loggers = BrokerLoggers()
        self.group_settings: dict[str, dict[str, str]] = {}
        """Group -> its altered settings."""
        self.client_metrics_settings: dict[str, dict[str, str]] = {}
        """Subscription of client metrics -> its altered settings."""
        self.telemetry = ClientTelemetry(
            self.client_metrics_settings, options.telemetry_max_bytes, rng
        )
        self._names: dict[UUID, str] = {}
        self._rng = rng
        self._next_producer_id = 0
        self.metadata_end_offset = len(self.nodes)
        """The end of KRaft's log, where each change is one record: of a node, a topic, a partition,
        a setting, a feature, a user, a right or a quota."""
        self.controller_epoch = 0
        """Grows when another node becomes the controller."""
        self._on_nodes: list[Callable[[], object]] = []
        self._on_topic_deleted: list[Callable[[str], object]] = []

    def watch(
        self,
        *,
        on_nodes: Callable[[], object] | None = None,
        on_topic_deleted: Callable[[str], object] | None = None,
    ) -> None:
        """Set the callbacks for changes.

        `on_nodes` is called after a node has stopped or started. `on_topic_deleted` is called with
        the name of each deleted topic.
        """
        if on_nodes is not None:
            self._on_nodes.append(on_nodes)
        if on_topic_deleted is not None:
            self._on_topic_deleted.append(on_topic_deleted)

    # Nodes

    def node(self, node_id: int) -> BrokerNode:
        """Return a node. Raises: BrokerNotAvailableError for an unknown id."""
        try:
            return self.nodes[node_id]
        except KeyError:
            raise BrokerNotAvailableError(
                f"node {node_id} does not exist; the cluster has {sorted(self.nodes)}"
            ) from None

    def alive_nodes(self) -> list[BrokerNode]:
        """Return the running nodes, by id."""
        return [node for _, node in sorted(self.nodes.items()) if node.is_alive]

    @property
    def controller_id(self) -> int:
        """The lowest id of a running voter; -1 when every one is down."""
        alive = [node for node in self.alive_nodes() if node.is_voter]
        return alive[0].node_id if alive else -1

    def in_sync_replicas(self, partition: BrokerPartition) -> list[int]:
        """Return the replicas on running nodes, without new ones that are not in sync yet."""
        return [
            node_id
            for node_id in partition.replicas
            if self.nodes[node_id].is_alive and node_id not in partition.catching_up
        ]

    def replica_in_rack(self, partition: BrokerPartition, rack: str) -> int | None:
        """Return the preferred replica for a consumer in `rack`; None means the leader.

        Source: KIP-392, RackAwareReplicaSelector.
        """
        near = [
            node_id
            for node_id in self.in_sync_replicas(partition)
            if rack and self.nodes[node_id].rack == rack
        ]
        return near[0] if near and partition.leader not in near else None

    def set_alive(self, node_id: int, *, is_alive: bool) -> None:
        """Mark a node as running or down, and elect leaders for the affected partitions."""
        node, controller_id = self.node(node_id), self.controller_id
        node.is_alive = is_alive
        self.note_change()
        self.controller_epoch += self.controller_id != controller_id
        node.is_registered |= is_alive
        node.has_controller |= is_alive
        for topic in self.topics.values():
            for partition in topic.partitions:
                if partition.leader in (NO_LEADER, node_id):
                    self._elect(partition)
        for callback in self._on_nodes:
            callback()

    def unregister(self, node_id: int) -> None:
        """Forget a node until it starts again. Raises: BrokerIdNotRegisteredError.

        Source: ClusterControlManager.unregisterBroker.
        """
        node = self.nodes.get(node_id)
        if node is None or not node.is_registered:
            raise BrokerIdNotRegisteredError(f"Broker ID {node_id} is not currently registered")
        if node.is_alive:
            self.set_alive(node_id, is_alive=False)
        node.is_registered = False
        self.note_change()

    def unregister_controller(self, node_id: int) -> None:
        """Forget the controller of a node until it starts again; one that runs registers itself at
        once. Raises: ControllerIdNotRegisteredError; UnsupportedVersionError.
        """
        if self.features.level("metadata.version") < WITH_CONTROLLERS_THAT_GO:
            raise UnsupportedVersionError(
                "The current MetadataVersion is too old to support controller unregistration."
            )
        node = self.nodes.get(node_id)
        if node is None or not node.has_controller:
            raise ControllerIdNotRegisteredError(
                f"Controller ID {node_id} is not currently registered."
            )
        node.has_controller = node.is_alive
        self.note_change()

    # The quorum of the metadata (KIP-853)…

    def directory_id(self, node_id: int) -> UUID:
        """Return the id of the directory with a node's metadata log; zero while voters are fixed,
        which they are with the level 0 of kraft.version.
        """
        if not self.features.level("kraft.version"):
            return ZERO_UUID
        return uuid5(NAMESPACE_OID, f"{self.cluster_id}/{node_id}")

    def add_voter(
        self, cluster_id: str | None, node_id: int, directory_id: UUID, listeners: Sequence[str]
    ) -> None:
        """Let a node vote that observes the quorum. Raises: BrokerResponseError."""
        self._check_voter(cluster_id, node_id, directory_id, "Add")
        if CONTROLLER_LISTENER not in listeners:
            raise InvalidRequestError(
                f"Add voter request didn't include the endpoint ({', '.join(listeners)}) for the "
                f"default listener {CONTROLLER_LISTENER}"
            )
        self._check_voters_may_change("adding")
        key = _voter_key(node_id, directory_id)
        node = self.nodes.get(node_id)
        if node is not None and node.is_voter:
            raise DuplicateVoterError(
                f"The voter id for {key} is already part of the set of voters {self._voter_keys()}."
            )
        if node is None or not node.is_alive:
            raise RequestTimedOutError(
                "Aborted add voter operation for since API_VERSIONS returned an error "
                "BROKER_NOT_AVAILABLE"
            )
        if directory_id != self.directory_id(node_id):
            raise RequestTimedOutError(
                f"Aborted add voter operation for {key} since it is lagging behind"
            )
        node.is_voter = True
        self.note_change()

    def remove_voter(self, cluster_id: str | None, node_id: int, directory_id: UUID) -> None:
        """Let a voter only observe. Raises: BrokerResponseError."""
        self._check_voter(cluster_id, node_id, directory_id, "Remove")
        self._check_voters_may_change("removing")
        voters = [each.node_id for each in self.nodes.values() if each.is_voter]
        is_own = node_id in voters and directory_id == self.directory_id(node_id)
        if not is_own or len(voters) == 1:
            raise VoterNotFoundError(
                f"Cannot remove voter {_voter_key(node_id, directory_id)} from the set of voters "
                f"{self._voter_keys()}"
            )
        controller_id = self.controller_id
        self.nodes[node_id].is_voter = False
        self.controller_epoch += self.controller_id != controller_id
        self.note_change()

    def _voter_keys(self) -> str:
        keys = [
            _voter_key(each.node_id, self.directory_id(each.node_id))
            for each in self.nodes.values()
            if each.is_voter
        ]
        return f"[{', '.join(keys)}]"

    def _check_voter(
        self, cluster_id: str | None, node_id: int, directory_id: UUID, what: str
    ) -> None:
        if cluster_id not in (None, self.cluster_id):
            raise InconsistentClusterIdError(
                f'The given id "{cluster_id}" doesn\'t match the cluster id "{self.cluster_id}"'
            )
        if node_id < 0 or directory_id == ZERO_UUID:
            raise InvalidRequestError(f"{what} voter request didn't include a valid voter")

    def _check_voters_may_change(self, what: str) -> None:
        level = self.features.level("kraft.version")
        if not level:
            raise UnsupportedVersionError(
                f"Cluster doesn't support {what} voter because the kraft.version feature is {level}"
            )

    def _elect(self, partition: BrokerPartition) -> None:
        candidates = self.in_sync_replicas(partition)
        leader = candidates[0] if candidates else NO_LEADER
        if leader != partition.leader:
            self.note_change()
            partition.lead(leader)

    def move_leader(self, topic_partition: TopicPartition, node_id: int) -> None:
        """Make `node_id` the leader of the partition, in a new epoch.

        It becomes a replica if necessary.

        Raises: BrokerNotAvailableError for a node that is down or unknown.
        """
        partition = self.partition(topic_partition)
        if not self.node(node_id).is_alive:
            raise BrokerNotAvailableError(f"node {node_id} is down; start it before it leads")
        if node_id not in partition.replicas:
            partition.replicas.append(node_id)
        partition.lead(node_id)

    # Topics

    def topic_by_id(self, topic_id: UUID) -> TopicState:
        """Return a topic. Raises: UnknownTopicIdError."""
        name = self._names.get(topic_id)
        if name is None:
            raise UnknownTopicIdError(f"no topic has the id {topic_id}")
        return self.topics[name]

    def topic_name(self, topic_id: UUID) -> str | None:
        """Return the name of a topic; None for an unknown id."""
        return self._names.get(topic_id)

    def id_partitions(self, partitions: Iterable[TopicPartition]) -> list[tuple[UUID, int]]:
        """Return existing partitions by the ids of their topics."""
        return [(self.topics[topic].topic_id, index) for topic, index in partitions]

    def topic_by_name(self, name: str) -> TopicState:
        """Return a topic. Raises: UnknownTopicOrPartitionError."""
        topic = self.topics.get(name)
        if topic is None:
            raise UnknownTopicOrPartitionError(f"topic {name!r} does not exist")
        return topic

    def partition(self, topic_partition: TopicPartition) -> BrokerPartition:
        """Return a partition. Raises: UnknownTopicOrPartitionError."""
        topic = self.topic_by_name(topic_partition.topic)
        return partition_of(topic, topic_partition.partition)

    def new_topic(
        self,
        name: str,
        *,
        num_partitions: int = -1,
        replication_factor: int = -1,
        assignments: Mapping[int, Sequence[int]] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> TopicState:
        """Return a topic that is not part of the cluster yet; its partitions have no leaders.

        `assignments` maps partitions to nodes, the leader first. Without it, the living nodes lead
        the partitions in turn.

        Raises: the error for the response: InvalidTopicError, TopicAlreadyExistsError,
        InvalidPartitionsError, InvalidReplicationFactorError, InvalidReplicationAssignmentError or
        InvalidConfigurationError.
        """
        check_topic_name(name)
        if name in self.topics:
            raise TopicAlreadyExistsError(f"topic {name!r} exists already")
        self._check_collision(name)
        if settings:  # without them, Kafka does not look at those of the brokers either
            self.check_topic_settings(settings)
        config = self._topic_config(settings or {})
        tell_stored("topic", settings or {}, ACTING_TOPIC_SETTINGS)
        if assignments:
            replica_lists = check_assignments(assignments, self._registered())
        else:
            count = self.options.num_partitions if num_partitions == -1 else num_partitions
            if count < 1:
                raise InvalidPartitionsError(
                    f"topic {name!r} cannot have {count} partitions; the least is 1"
                )
            replica_lists = self._place_replicas(range(count), replication_factor)
        topic = TopicState(name, UUID(int=self._rng.getrandbits(128), version=4), config)
        _extend(topic, replica_lists)
        return topic

    def _check_collision(self, name: str) -> None:
        """Raise InvalidTopicError if a topic has that name but for "." and "_", which are the same
        in the names of Kafka's metrics. Source: ReplicationControlManager.
        """
        if "." not in name and "_" not in name:
            return
        for other in self.topics:
            if other.replace(".", "_") == name.replace(".", "_"):
                raise InvalidTopicError(f"Topic '{name}' collides with existing topic: {other}")

    def _topic_config(self, settings: Mapping[str, str]) -> TopicConfig:
        return parse_topic_config(
            settings,
            max_message_bytes=self.options.max_message_bytes,
            log_retention_bytes=self.options.log_retention_bytes,
            of_brokers=self.broker_settings.topic_defaults(),
        )

    def check_topic_settings(self, settings: Mapping[str, str]) -> None:
        """Check the settings of a topic, beside those of all brokers.

        Raises: InvalidConfigurationError.
        """
        check_topic_settings(settings, self.broker_settings.topic_defaults())

    def alter_topic(self, topic: TopicState, settings: Mapping[str, str]) -> None:
        """Replace the settings of a topic. Raises: InvalidConfigurationError."""
        topic.config = self._topic_config(settings)
        for partition in topic.partitions:
            partition.reconfigure(topic.config)

    def note_change(self, records: int = 1) -> None:
        """Note that the log of metadata has grown."""
        self.metadata_end_offset += records

    def broker_settings_changed(self) -> None:
        """Let all topics follow what was altered for all brokers.

        What was altered for one broker is described only.
        """
        for topic in self.topics.values():
            self.alter_topic(topic, topic.config.settings)

    def add_topic(self, topic: TopicState) -> None:
        """Add a new topic to the cluster and elect its leaders."""
        self.topics[topic.name] = topic
        self.note_change(1 + len(topic.partitions))
        self._names[topic.topic_id] = topic.name
        for partition in topic.partitions:
            self._elect(partition)

    def delete_topic(self, name: str) -> None:
        """Remove a topic with its data. Raises: UnknownTopicOrPartitionError."""
        topic = self.topic_by_name(name)
        del self.topics[name], self._names[topic.topic_id]
        self.note_change()
        for partition in topic.partitions:
            partition.lead(NO_LEADER)
        for callback in self._on_topic_deleted:
            callback(name)

    def place_new_partitions(
        self, topic: TopicState, count: int, assignments: Sequence[Sequence[int]] | None
    ) -> list[list[int]]:
        """Return the replicas of the partitions that `topic` needs to have `count` partitions.

        Raises: InvalidPartitionsError or InvalidReplicationAssignmentError.
        """
        present = len(topic.partitions)
        if count <= present:
            raise InvalidPartitionsError(
                f"Topic already has {present} partition(s)."
                if count == present
                else f"The topic {topic.name} currently has {present} partition(s); {count} "
                "would not be an increase."
            )
        added = range(present, count)
        factor = len(topic.partitions[0].replicas)
        if assignments is None:
            return self._place_replicas(added, factor)
        if len(assignments) != len(added):
            raise InvalidReplicationAssignmentError(
                f"Attempted to add {len(added)} additional partition(s), but only "
                f"{len(assignments)} assignment(s) were specified."
            )
        return check_replica_lists(assignments, self._registered(), factor)

    def add_partitions(self, topic: TopicState, replica_lists: Sequence[list[int]]) -> None:
        """Add partitions to `topic`, and elect their leaders."""
        self.note_change(len(replica_lists))
        _extend(topic, replica_lists)
        for partition in topic.partitions[-len(replica_lists) :]:
            self._elect(partition)

    def _registered(self) -> list[int]:
        return [node.node_id for node in self.nodes.values() if node.is_registered]

    def _place_replicas(self, partitions: range, replication_factor: int) -> list[list[int]]:
        alive = [node.node_id for node in self.alive_nodes()]
        if replication_factor == -1:
            replication_factor = min(len(alive), MAX_REPLICATION_FACTOR)
        if not 1 <= replication_factor <= len(alive):
            raise InvalidReplicationFactorError(
                f"replication factor {replication_factor} is not between 1 and the number of "
                f"nodes that are up, {len(alive)}"
            )
        return [
            [alive[(partition + i) % len(alive)] for i in range(replication_factor)]
            for partition in partitions
        ]

    def expire_records(self, now_ms: int) -> None:
        """Drop what retention.ms does not keep any longer."""
        for topic in self.topics.values():
            config = topic.config
            if not config.is_deleted or config.retention_ms < 0:
                continue
            for partition in topic.partitions:
                partition.log.expire(
                    now_ms - config.retention_ms, config.segment_ms, config.segment_bytes
                )

    # Producers

    def new_producer_id(self) -> int:
        """Return an unused producer id."""
        self._next_producer_id += 1
        return self._next_producer_id - 1


def partition_of(topic: TopicState, index: int) -> BrokerPartition:
    """Return a topic's partition. Raises: UnknownTopicOrPartitionError."""
    if not 0 <= index < len(topic.partitions):
        raise UnknownTopicOrPartitionError(
            f"topic {topic.name!r} has no partition {index}; it has {len(topic.partitions)}"
        )
    return topic.partitions[index]


def _extend(topic: TopicState, replica_lists: Sequence[list[int]]) -> None:
    for replicas in replica_lists:
        topic_partition = TopicPartition(topic.name, len(topic.partitions))
        topic.partitions.append(BrokerPartition(topic_partition, replicas, topic.config))


def _voter_key(node_id: int, directory_id: UUID) -> str:
    """Return a voter as Kafka's texts have it, with the Base64 of the directory's id."""
    text = base64.urlsafe_b64encode(directory_id.bytes).decode().rstrip("=")
    return f"ReplicaKey(id={node_id}, directoryId={text})"


__all__ = [
    "NO_LEADER",
    "BrokerNode",
    "BrokerPartition",
    "ClusterState",
    "TopicState",
    "partition_of",
]
