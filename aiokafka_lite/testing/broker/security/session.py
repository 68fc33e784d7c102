"""What the broker knows of one connection's client: its principal, its rights, its SASL state.

Does not wait.
"""

from aiokafka_lite.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    DelegationTokenRequestNotAllowed,
    GroupAuthorizationFailedError,
    SecurityDisabled,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)
from aiokafka_lite.testing.broker.security.acl import CLUSTER_NAME, Operation, ResourceType
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.sasl_session import SaslSession

ANONYMOUS = "User:ANONYMOUS"

_REFUSALS: dict[ResourceType, type[BrokerResponseError]] = {
    ResourceType.TOPIC: TopicAuthorizationFailedError,
    ResourceType.GROUP: GroupAuthorizationFailedError,
    ResourceType.CLUSTER: ClusterAuthorizationFailedError,
    ResourceType.TRANSACTIONAL_ID: TransactionalIdAuthorizationFailed,
}
_OPERATIONS = {
    ResourceType.TOPIC: (
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    ResourceType.GROUP: (
        Operation.READ,
        Operation.DELETE,
        Operation.DESCRIBE,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
    ),
    ResourceType.CLUSTER: (
        Operation.CREATE,
        Operation.ALTER,
        Operation.DESCRIBE,
        Operation.CLUSTER_ACTION,
        Operation.DESCRIBE_CONFIGS,
        Operation.ALTER_CONFIGS,
        Operation.IDEMPOTENT_WRITE,
    ),
}
"""What a client may be told that it may do. Source: AclEntry.supportedOperations."""


class Session:
    """One connection. The principal is ANONYMOUS until the client has authenticated."""

    __slots__ = (
        "__weakref__",
        "_authorizer",
        "host",
        "listener",
        "port",
        "principal",
        "sasl",
        "software",
    )

    def __init__(
        self,
        principal: str = ANONYMOUS,
        sasl: SaslSession | None = None,
        *,
        host: str = "",
        port: int = 0,
        listener: str = "PLAINTEXT",
        authorizer: Authorizer | None = None,
    ) -> None:
        """Without an authorizer everybody may do everything."""
        self.principal = principal
        self.sasl = sasl
        """None on a listener without SASL."""
        self.host = host
        """The client's address; empty without a connection."""
        self.port = port
        """The port that the client connects from; 0 without a connection."""
        self.software = ("unknown", "unknown")
        """Name and version of the client's library, as ApiVersions has named them."""
        self.listener = listener
        """Name of the listener that the client has connected to."""
        self._authorizer = authorizer

    @property
    def authorizer(self) -> Authorizer:
        """What stores the rules. Raises: SecurityDisabled without one, as Apache Kafka."""
        if self._authorizer is None:
            raise SecurityDisabled("No Authorizer is configured.")
        return self._authorizer

    def may(self, operation: Operation, resource_type: ResourceType, name: str) -> bool:
        """Return whether the client may do this."""
        return self._authorizer is None or self._authorizer.allows(
            self.principal, self.host, operation, resource_type, name
        )

    def may_in_cluster(self, operation: Operation) -> bool:
        """Return whether the client may do this with the cluster."""
        return self.may(operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def may_write_without_transaction(self) -> bool:
        """Return whether the client may have a producer id without a transactional id (KIP-679)."""
        return (
            self._authorizer is None
            or self.may_in_cluster(Operation.IDEMPOTENT_WRITE)
            or self._authorizer.allows_somewhere(
                self.principal, self.host, Operation.WRITE, ResourceType.TOPIC
            )
        )

    def check_tokens_allowed(self) -> None:
        """Raise DelegationTokenRequestNotAllowed unless the client is a user by its own password,
        or by its certificate."""
        is_by_token = self.sasl is not None and self.sasl.is_by_token
        if self.principal == ANONYMOUS or is_by_token:
            raise DelegationTokenRequestNotAllowed(
                "Delegation Token requests are not allowed on PLAINTEXT/1-way SSL channels and on "
                "delegation token authenticated channels."
            )

    def check_topic(self, operation: Operation, name: str) -> None:
        """Raise TopicAuthorizationFailedError unless the client may."""
        if self._authorizer is not None:  # here, for each partition: spares two calls
            self._check(operation, ResourceType.TOPIC, name)

    def check_group(self, operation: Operation, group_id: str) -> None:
        """Raise GroupAuthorizationFailedError unless the client may."""
        self._check(operation, ResourceType.GROUP, group_id)

    def check_transactional_id(self, operation: Operation, transactional_id: str) -> None:
        """Raise TransactionalIdAuthorizationFailed unless the client may."""
        self._check(operation, ResourceType.TRANSACTIONAL_ID, transactional_id)

    def check_cluster(self, operation: Operation) -> None:
        """Raise ClusterAuthorizationFailedError unless the client may."""
        self._check(operation, ResourceType.CLUSTER, CLUSTER_NAME)

    def _check(self, operation: Operation, resource_type: ResourceType, name: str) -> None:
        if not self.may(operation, resource_type, name):
            kind = resource_type.name.lower()
            raise _REFUSALS[resource_type](
                f"{self.principal} may not {operation.name} {kind} {name!r}"
            )

    def operations(self, resource_type: ResourceType, name: str) -> int:
        """Return a bit for each operation that the client may do (KIP-430)."""
        return sum(
            1 << operation
            for operation in _OPERATIONS[resource_type]
            if self.may(operation, resource_type, name)
        )

    def cluster_operations(self) -> int:
        """Return those with the cluster; none unless the client may describe it."""
        if not self.may_in_cluster(Operation.DESCRIBE):
            return 0
        return self.operations(ResourceType.CLUSTER, CLUSTER_NAME)


OPEN_SESSION = Session()
"""The session of each connection to a listener that asks nothing."""

__all__ = ["ANONYMOUS", "OPEN_SESSION", "Session"]
