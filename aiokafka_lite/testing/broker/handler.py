"""Defines a handler: the request it serves, its versions, and the function that answers.

The function gets the request and its context. Does not wait. It returns the response, or None
when none is expected (acks=0). If it has to wait, it returns a coroutine function, which returns
the response later.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import InvalidGroupIdError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages._leader import NodeEndpoint
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.faults import InjectedErrors
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION, Session
from aiokafka_lite.testing.broker.security.user_store import UserStore
from aiokafka_lite.testing.broker.state.cluster_state import BrokerNode, ClusterState
from aiokafka_lite.testing.broker.state.groups.group_coordinators import (
    CoordinatedGroup,
    GroupCoordinators,
)
from aiokafka_lite.testing.broker.state.groups.share_sessions import (
    BrokerShareSession,
    ShareSessionCache,
)
from aiokafka_lite.testing.broker.state.log.fetch_sessions import FetchSessionCache
from aiokafka_lite.testing.broker.state.log_dirs import LogDirs
from aiokafka_lite.testing.broker.state.reassignments import Reassignments
from aiokafka_lite.testing.broker.state.transactions.txn_coordinator import TxnCoordinator

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
    transactions: TxnCoordinator
    reassignments: Reassignments
    log_dirs: LogDirs
    users: UserStore = field(default_factory=UserStore)
    share_sessions: ShareSessionCache = field(default_factory=ShareSessionCache)
    clients_clock: Clock = SYSTEM_CLOCK
    """What clients take their timestamps from, which may not be the broker's clock in a test."""

    def end_share_session(self, session: BrokerShareSession) -> None:
        """End a share session, and give back what its member has acquired."""
        self.share_sessions.end(session)
        group = self.groups.find_share(session.group_id)
        if group is not None:
            group.release(
                session.member_id,
                (
                    TopicPartition(name, where.partition)
                    for where in session.partitions
                    if (name := self.cluster.topic_name(where.topic_id)) is not None
                ),
            )

    def disconnected(self, connection: Session) -> None:
        """End what ends with a connection."""
        sessions = self.share_sessions.of(connection=connection)
        for session in sessions:
            self.end_share_session(session)
        if sessions:
            self.groups.changed()


@dataclass(slots=True)
class RequestContext:
    """What a handler gets in addition to the request, and what it asks of the connection."""

    on_node: NodeContext
    version: int
    injected: InjectedErrors
    client_id: str = ""
    session: Session = OPEN_SESSION
    mute_s: float = 0.0
    """How long the connection serves no further request (KIP-219), even after no response."""

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
    def users(self) -> UserStore:
        return self.on_node.users

    @property
    def transactions(self) -> TxnCoordinator:
        return self.on_node.transactions

    @property
    def reassignments(self) -> Reassignments:
        return self.on_node.reassignments

    @property
    def log_dirs(self) -> LogDirs:
        return self.on_node.log_dirs

    @property
    def user(self) -> str:
        """The name of the user, as quotas have it."""
        return self.session.principal.removeprefix("User:")

    def throttle_ms(self, quota: str, size: int, *, withholds: bool = False) -> int:
        """Count bytes by a quota; mute the connection as long as they are beyond it, and return it.

        `withholds`: as in ClientQuotas.throttle_ms.
        """
        now_s = self.on_node.clock.monotonic()
        pause_ms = self.users.quotas.throttle_ms(
            quota, self.user, self.client_id, size, now_s, withholds=withholds
        )
        self.mute_s = pause_ms / 1000
        return pause_ms

    def port_of(self, node: BrokerNode) -> int:
        """Return a node's port on the listener that the client has connected to."""
        return node.ports[self.session.listener]

    def leader_endpoints(self, leader_ids: Collection[int]) -> list[NodeEndpoint]:
        """Return the addresses of the leaders whose nodes run (KIP-951)."""
        return [
            NodeEndpoint(
                node_id=node.node_id, host=node.host, port=self.port_of(node), rack=node.rack
            )
            for node in self.cluster.alive_nodes()
            if node.node_id in leader_ids
        ]

    def find_group(
        self,
        group_id: str,
        operation: Operation = Operation.READ,
        *,
        may_have_no_name: bool = False,
    ) -> CoordinatedGroup | None:
        """Return the group of a request; None if it does not exist.

        Raises: GroupAuthorizationFailedError without the right to the operation; the error injected
        for the whole response; InvalidGroupIdError without an id; NotCoordinatorForGroupError;
        GroupCoordinatorNotAvailableError.
        """
        self.session.check_group(operation, group_id)
        self.injected.raise_for()
        if not group_id and not may_have_no_name:
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
    is_for_telemetry: bool = False
    """Whether only a broker that exports client metrics names the API in ApiVersions."""


__all__ = ["Answer", "CloseConnectionError", "Handler", "NodeContext", "RequestContext"]
