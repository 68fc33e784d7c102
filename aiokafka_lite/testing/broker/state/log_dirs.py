"""The log directories of the nodes: which replica lies in which, and moves between them (KIP-113).

The directories are names only, because data lives in memory. A move takes no time, unless `hold`
keeps the copy behind. Source: ReplicaManager.alterReplicaLogDirs, LogManager. Does not wait.
"""

from collections import Counter
from collections.abc import Sequence

from aiokafka_lite.errors import LogDirNotFound, ReplicaNotAvailableError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition, ClusterState

VOLUME_BYTES = 2**40
"""The size of the volume on which a node's directories are said to be."""


class LogDirs:
    """The log directories of one cluster's nodes. Each node has directories of the same names."""

    def __init__(self, cluster: ClusterState, paths: Sequence[str]) -> None:
        self._cluster = cluster
        self._paths = tuple(paths)
        self._is_held = False
        self._places: dict[tuple[int, TopicPartition], str] = {}
        self._copies: dict[tuple[int, TopicPartition], str] = {}
        cluster.watch(on_topic_deleted=self._forget)

    def hold(self) -> None:
        """Keep copies behind from now on, so that no move ends."""
        self._is_held = True

    def release(self) -> None:
        """End all moves."""
        self._is_held = False
        self._places |= self._copies
        self._copies.clear()

    def on_node(self, node_id: int) -> dict[str, list[tuple[BrokerPartition, bool]]]:
        """Return the replicas in each directory of a node, and which of them are copies that will
        replace a replica in another directory."""
        found: dict[str, list[tuple[BrokerPartition, bool]]] = {path: [] for path in self._paths}
        for topic in self._cluster.topics.values():
            for partition in topic.partitions:
                if node_id in partition.replicas:
                    found[self._place(node_id, partition)].append((partition, False))
                    copy = self._copies.get((node_id, partition.topic_partition))
                    if copy is not None:
                        found[copy].append((partition, True))
        return found

    def move(self, node_id: int, partition: BrokerPartition, path: str) -> None:
        """Move a node's replica to another directory.

        Raises: ReplicaNotAvailableError if the node has no replica.
        """
        if node_id not in partition.replicas:
            raise ReplicaNotAvailableError(
                f"node {node_id} has no replica of {partition.topic_partition}"
            )
        key = (node_id, partition.topic_partition)
        self._copies.pop(key, None)
        if path == self._place(node_id, partition):
            return
        (self._copies if self._is_held else self._places)[key] = path

    def check(self, path: str) -> None:
        """Raise LogDirNotFound unless the nodes have this directory."""
        if path not in self._paths:
            raise LogDirNotFound(f"Log dir {path} is not found in the config.")

    def is_cordoned(self, node_id: int, path: str) -> bool:
        """Return whether the setting cordoned.log.dirs keeps new replicas out of a directory."""
        return bool({"*", path} & self._cluster.broker_settings.cordoned(node_id))

    def _place(self, node_id: int, partition: BrokerPartition) -> str:
        """Return the directory of a replica; a new replica gets the one with the fewest."""
        key = (node_id, partition.topic_partition)
        place = self._places.get(key)
        if place is None:
            taken = Counter(path for (node, _), path in self._places.items() if node == node_id)
            open_paths = [path for path in self._paths if not self.is_cordoned(node_id, path)]
            place = min(open_paths or self._paths, key=lambda path: taken[path])
            self._places[key] = place
        return place

    def _forget(self, topic: str) -> None:
        for places in (self._places, self._copies):
            for key in [key for key in places if key[1].topic == topic]:
                del places[key]


__all__ = ["VOLUME_BYTES", "LogDirs"]
