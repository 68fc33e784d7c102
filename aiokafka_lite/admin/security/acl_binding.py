"""Access rules as the calls take and return them. Does not wait."""

from typing import NamedTuple

from aiokafka_lite.protocol.acl_types import (
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)


class AclBinding(NamedTuple):
    """One rule: who may, or may not, do what with which resources.

    `principal` is "User:alice" or "User:*", `host` an address or "*". The one name of
    ResourceType.CLUSTER is "kafka-cluster".
    """

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: AclOperation
    permission_type: AclPermissionType


class AclBindingFilter(NamedTuple):
    """Which rules a call is about. Each field must match; None and ANY match everything."""

    resource_type: ResourceType = ResourceType.ANY
    resource_name: str | None = None
    pattern_type: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission_type: AclPermissionType = AclPermissionType.ANY


__all__ = [
    "AclBinding",
    "AclBindingFilter",
    "AclOperation",
    "AclPermissionType",
    "PatternType",
    "ResourceType",
]
