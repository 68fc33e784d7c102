"""Plays the steps that hurt nodes, coordinators, the network and answers, for any group of clients;
and ends all that trouble.
"""

from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.virtual_network import VirtualNetwork
from tests.adversity.group.group_steps import (
    NODES,
    Disconnect,
    FailApi,
    Latency,
    MoveCoordinator,
    Reconnect,
    Release,
    StartNode,
    StopNode,
    Trouble,
)

ClusterStep = (
    MoveCoordinator
    | StopNode
    | StartNode
    | Disconnect
    | Reconnect
    | Latency
    | FailApi
    | Trouble
    | Release
)


class ClusterTroubles:
    """The troubles of one cluster and of the group in it."""

    def __init__(self, broker: EmbeddedBroker, network: VirtualNetwork, group_id: str) -> None:
        self.alive = set(range(1, NODES + 1))
        """The nodes that run."""
        self._broker = broker
        self._network = network
        self._group_id = group_id
        self._crashed: set[str] = set()
        self._is_answer_missing = False

    def crash(self, client_id: str) -> None:
        """Let nothing of a client through any more."""
        self._crashed.add(client_id)
        self._network.isolate(client_id)

    def happens(self, step: ClusterStep) -> None:
        """Let a step happen."""
        match step:
            case FailApi() | Trouble() | Release():
                self._arm(step)
            case Reconnect():
                self._network.isolated.intersection_update(self._crashed)
            case Latency(ms):
                self._network.latency_s = ms / 1000
            case _:
                self._hurt_nodes(step)

    def _hurt_nodes(self, step: MoveCoordinator | StopNode | StartNode | Disconnect) -> None:
        match step:
            case MoveCoordinator(node):
                if node is None or node in self.alive:
                    self._broker.move_coordinator(self._group_id, node)
            case StopNode(node) if node in self.alive:
                self.alive.discard(node)
                self._broker.stop_node(node)
            case StartNode(node) if node not in self.alive:
                self.alive.add(node)
                self._broker.start_node(node)
            case Disconnect(node):
                self._broker.drop_connections(node)

    def _arm(self, step: FailApi | Trouble | Release) -> None:
        faults = self._broker.faults
        match step:
            case FailApi(api, error, times, topic, partition):
                where = None if topic is None else (topic, partition)
                faults.fail(api, error, times, topic_partition=where)
            case Trouble("cut", api, amount):
                faults.cut(api, amount)
            case Trouble("drop", api):
                self._is_answer_missing = True
                faults.drop(api)
            case Trouble("delay", api, amount):
                faults.delay(api, amount / 1000)
            case Trouble("throttle", api, amount):
                faults.throttle(api, amount)
            case Trouble(_, api):
                faults.stall(api)
            case Release():
                faults.release()

    def heal(self) -> None:
        """End all trouble; who has crashed, stays so."""
        self._broker.faults.clear()
        self._network.latency_s = 0.0
        self._network.isolated.intersection_update(self._crashed)
        for node in range(1, NODES + 1):
            self.happens(StartNode(node))
        if self._broker.group(self._group_id).coordinator is None:
            self._broker.move_coordinator(self._group_id, 1)
        if self._is_answer_missing:  # for the rebalance timeout, and that is minutes
            self._broker.drop_connections()


__all__ = ["ClusterStep", "ClusterTroubles"]
