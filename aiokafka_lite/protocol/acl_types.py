"""The numbers of access rules: kinds of resources, patterns, operations and permissions.

Does not wait. Source: ResourceType, PatternType, AclOperation, AclPermissionType.
"""

from enum import IntEnum
from typing import Self


class _Known(IntEnum):
    """A number that a newer node may extend: what this release does not know is UNKNOWN."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls(0) if isinstance(value, int) else None


class ResourceType(_Known):
    """What a rule is about; in filters, ANY matches all."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(_Known):
    """How a rule names its resources (KIP-290).

    LITERAL is one name, or all with "*"; PREFIXED is all that begin with the name. Only filters
    have ANY and MATCH. MATCH finds each rule about a resource of the name, those with "*" and with
    prefixes too.
    """

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(_Known):
    """What a rule allows or denies; in filters, ANY matches all."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class AclPermissionType(_Known):
    """Whether a rule allows or denies; a rule that denies goes before all that allow."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


__all__ = ["AclOperation", "AclPermissionType", "PatternType", "ResourceType"]
