"""Defines a handler: the request it serves, its versions, and the function that answers.

The function gets the request and its context, and does not wait. It returns the response, or None
when none is expected (acks=0). If it has to wait, it returns a coroutine function, which returns
the response later.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import InvalidGroupIdError
from aiokafka_lite.protocol.messages._leader import NodeEndpoint
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.faults import InjectedErrors
from aiokafka_lite.testing.broker.state.cluster_state import BrokerNode, ClusterState
from aiokafka_lite.testing.broker.state.groups.group_coordinators import (
    CoordinatedGroup,
    GroupCoordinators,
)
from aiokafka_lite.testing.broker.state.log.fetch_sessions import FetchSessionCache
from aiokafka_lite.testing.broker.state.transactions.txn_coordinator import TransactionCoordinator

AnyResponse = Response
Later = Callable[[], Awaitable[AnyResponse | None]]
"""Waits and returns the response. It is not started if the connection has closed by then."""
Answer = AnyResponse | None | Later


class CloseConnectionError(Exception):
    """The request cannot be answered in the protocol, so the broker closes the connection."""


@dataclass(frozen=True, slots=True)
class NodeContext:
    """The common facts of the requests to one node."""

    node: BrokerNode
    cluster: ClusterState
    sessions: FetchSessionCache
    clock: Clock
    served_versions: Mapping[int, VersionRange]
    """Api key -> versions, as in the ApiVersions response."""
    groups: GroupCoordinators
    transactions: TransactionCoordinator


@dataclass(frozen=True, slots=True)
class RequestContext:
    """What a handler gets in addition to the request."""

    on_node: NodeContext
    version: int
    injected: InjectedErrors
    client_id: str = ""

    @property
    def cluster(self) -> ClusterState:
        return self.on_node.cluster

    @property
    def node_id(self) -> int:
        return self.on_node.node.node_id

    @property
    def groups(self) -> GroupCoordinators:
        return self.on_node.groups

    @property
    def transactions(self) -> TransactionCoordinator:
        return self.on_node.transactions

    def leader_endpoints(self, leader_ids: Collection[int]) -> list[NodeEndpoint]:
        """Return the addresses of the leaders whose nodes run (KIP-951)."""
        return [
            NodeEndpoint(node_id=node.node_id, host=node.host, port=node.port, rack=node.rack)
            for node in self.cluster.alive_nodes()
            if node.node_id in leader_ids
        ]

    def find_group(self, group_id: str) -> CoordinatedGroup | None:
        """Return the group of a member's request; None if it does not exist.

        Raises: the error injected for the whole response; InvalidGroupIdError without an id;
        NotCoordinatorForGroupError; GroupCoordinatorNotAvailableError.
        """
        self.injected.raise_for()
        if not group_id:
            raise InvalidGroupIdError("a group with members has an id")
        self.groups.nodes.check(group_id, self.node_id)
        return self.groups.find(group_id)


@dataclass(frozen=True, slots=True)
class Handler:
    """One API of the broker."""

    request_type: type[Request[Any]]
    handle: Callable[[RequestContext, Any], Answer]
    versions: VersionRange
    """The versions it serves."""
    advertised_min: int | None = None
    """The lowest version in ApiVersions, if it differs from the lowest version served."""


__all__ = ["Answer", "CloseConnectionError", "Handler", "NodeContext", "RequestContext"]
