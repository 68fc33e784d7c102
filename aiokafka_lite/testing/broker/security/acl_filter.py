"""Which rules a request means, and what a rule must be to be stored. Does not wait.

Source: ResourcePatternFilter.matches, AclApis.handleCreateAcls, AclControlManager.validateNewAcl.
"""

from dataclasses import dataclass

from aiokafka_lite.errors import InvalidRequestError
from aiokafka_lite.protocol.acl_types import (
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from aiokafka_lite.protocol.messages.create_acls import AclCreation
from aiokafka_lite.protocol.messages.delete_acls import DeleteAclsFilter
from aiokafka_lite.protocol.messages.describe_acls import DescribeAclsRequest
from aiokafka_lite.testing.broker.security.acl import CLUSTER_NAME, WILDCARD, Acl


@dataclass(frozen=True, slots=True)
class AclFilter:
    """Matches rules of one operation each; None and ANY match all."""

    resource_type: ResourceType
    name: str | None
    pattern_type: PatternType
    principal: str | None
    host: str | None
    operation: AclOperation
    permission_type: AclPermissionType

    def matches(self, acl: Acl) -> bool:
        """Return whether the filter means the rule."""
        (operation,) = acl.operations
        compared = (
            (self.resource_type, acl.resource_type),
            (self.operation, operation),
            (self.permission_type, permission_of(acl)),
        )
        return (
            all(wanted in (1, found) for wanted, found in compared)
            and self.principal in (None, acl.principal)
            and self.host in (None, acl.host)
            and self._matches_name(acl)
        )

    def _matches_name(self, acl: Acl) -> bool:
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, pattern_of(acl)):
            return False
        if self.name is None:
            return True
        if self.pattern_type is not PatternType.MATCH:
            return self.name == acl.name
        if acl.is_prefixed:
            return self.name.startswith(acl.name)
        return acl.name in (self.name, WILDCARD)


def filter_of(asked: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
    """Return the filter of a request."""
    return AclFilter(
        ResourceType(asked.resource_type_filter),
        asked.resource_name_filter,
        PatternType(asked.pattern_type_filter),
        asked.principal_filter,
        asked.host_filter,
        AclOperation(asked.operation),
        AclPermissionType(asked.permission_type),
    )


def checked_filter(asked: DeleteAclsFilter) -> AclFilter:
    """Return the filter of a request that removes. Raises: InvalidRequestError for an unknown part.

    Source: AclControlManager.validateFilter.
    """
    found = filter_of(asked)
    if not (found.resource_type and found.pattern_type):
        raise InvalidRequestError("Unknown patternFilter.")
    if not (found.operation and found.permission_type):
        raise InvalidRequestError("Unknown entryFilter.")
    return found


def pattern_of(acl: Acl) -> PatternType:
    """Return how the rule names its resources."""
    return PatternType.PREFIXED if acl.is_prefixed else PatternType.LITERAL


def permission_of(acl: Acl) -> AclPermissionType:
    """Return whether the rule allows or denies."""
    return AclPermissionType.ALLOW if acl.is_allowed else AclPermissionType.DENY


def is_definite(asked: AclCreation) -> bool:
    """Return whether a rule names one kind, one pattern, one operation and one permission."""
    return (
        ResourceType(asked.resource_type) >= ResourceType.TOPIC
        and PatternType(asked.resource_pattern_type) >= PatternType.LITERAL
        and AclOperation(asked.operation) >= AclOperation.ALL
        and AclPermissionType(asked.permission_type) >= AclPermissionType.DENY
    )


def new_acl(asked: AclCreation) -> Acl:
    """Return the rule that a client wants to store.

    Raises: InvalidRequestError for one that Apache Kafka does not store.
    """
    kind = ResourceType(asked.resource_type)
    if kind is ResourceType.CLUSTER and asked.resource_name != CLUSTER_NAME:
        raise InvalidRequestError(f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}")
    if not asked.resource_name:
        raise InvalidRequestError("Invalid empty resource name")
    if ":" not in asked.principal:
        raise InvalidRequestError(
            f"Could not parse principal from `{asked.principal}` (no colon is present separating "
            "the principal type from the principal name)"
        )
    if not asked.host:
        raise InvalidRequestError("Host pattern cannot be null or empty")
    return Acl(
        principal=asked.principal,
        operations=frozenset({AclOperation(asked.operation)}),
        resource_type=kind,
        name=asked.resource_name,
        is_prefixed=asked.resource_pattern_type == PatternType.PREFIXED,
        is_allowed=asked.permission_type == AclPermissionType.ALLOW,
        host=asked.host,
    )


__all__ = [
    "AclFilter",
    "checked_filter",
    "filter_of",
    "is_definite",
    "new_acl",
    "pattern_of",
    "permission_of",
]
