"""Decides which node coordinates a key: the same living node until it stops or the key is moved.

Knows the nodes of the keys, not what they coordinate. Does not wait.
"""

from collections import Counter
from collections.abc import Callable
from zlib import crc32

from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    GroupCoordinatorNotAvailableError,
    NotCoordinatorForGroupError,
)
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState


class CoordinatorNodes:
    """The nodes of the keys of one kind: of groups, or of transactional ids."""

    def __init__(
        self,
        cluster: ClusterState,
        on_move: Callable[[str, int | None, int | None], object] = lambda *_: None,
    ) -> None:
        """`on_move` is called with a key, its former node and its present node."""
        self._cluster = cluster
        self._on_move = on_move
        self._nodes: dict[str, int | None] = {}
        """Key -> its node, or None for no node; only keys that are in use or were moved."""
        self._moves: Counter[str] = Counter()
        cluster.watch(on_nodes=self._place_all)

    def node_of(self, key: str) -> int | None:
        """Return the node of a key; None if every node is down, or it was moved to no node."""
        return self._nodes[key] if key in self._nodes else self.choose(key)

    def epoch_of(self, key: str) -> int:
        """Return how often the key has had a new node: the epoch of its coordinator."""
        return self._moves[key]

    def check(self, key: str, node_id: int) -> None:
        """Raise unless `node_id` coordinates the key.

        Raises: NotCoordinatorForGroupError; GroupCoordinatorNotAvailableError if no node does.
        """
        coordinator = self.node_of(key)
        if coordinator is None:
            raise GroupCoordinatorNotAvailableError(f"no node coordinates {key!r}")
        if coordinator != node_id:
            raise NotCoordinatorForGroupError(
                f"node {node_id} does not coordinate {key!r}; {coordinator} does"
            )

    def settle(self, key: str) -> None:
        """Fix a key's node: from now on the key stays there until that node stops."""
        self._nodes.setdefault(key, self.node_of(key))

    def move(self, key: str, node_id: int | None) -> None:
        """Make another node coordinate the key, or no node until it is moved again.

        Raises: BrokerNotAvailableError for a node that is down or unknown.
        """
        if node_id is not None and not self._cluster.node(node_id).is_alive:
            raise BrokerNotAvailableError(f"node {node_id} is down; start it before it coordinates")
        self._place(key, node_id)

    def choose(self, key: str) -> int | None:
        """Return a living node, always the same for a key of any kind.

        It is the next living node, counted from a fixed one. None when every node is down.
        """
        node_ids = sorted(self._cluster.nodes)
        start = crc32(key.encode()) % len(node_ids)
        for node_id in node_ids[start:] + node_ids[:start]:
            if self._cluster.nodes[node_id].is_alive:
                return node_id
        return None

    def _place_all(self) -> None:
        """Handle a node's start or stop."""
        for key, node_id in self._nodes.items():
            if node_id is None or not self._cluster.nodes[node_id].is_alive:
                self._place(key, self.choose(key))

    def _place(self, key: str, node_id: int | None) -> None:
        before = self.node_of(key)
        self._nodes[key] = node_id
        if node_id != before:
            self._moves[key] += node_id is not None
            self._on_move(key, before, node_id)


__all__ = ["CoordinatorNodes"]
