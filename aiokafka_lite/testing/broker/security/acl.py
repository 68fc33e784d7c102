"""Access control lists: who may do what with which resource. Does not wait.

Source: AclBinding.
"""

from dataclasses import dataclass
from typing import Any, Self

from aiokafka_lite.protocol.acl_types import AclOperation as Operation
from aiokafka_lite.protocol.acl_types import ResourceType

WILDCARD = "*"
CLUSTER_NAME = "kafka-cluster"
"""Kafka's name of the one resource of the type CLUSTER."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acl:
    """One rule. `Acl.allow("alice", "READ", topic="orders")` and `Acl.deny(…)` make them."""

    principal: str
    """Such as "User:alice"; "User:*" means everybody."""
    operations: frozenset[Operation]
    resource_type: ResourceType
    name: str
    """Of the resource; "*" means each, unless the rule is for a prefix."""
    is_prefixed: bool
    is_allowed: bool
    host: str

    @classmethod
    def allow(
        cls,
        principal: str,
        *operations: str,
        topic: str | None = None,
        group: str | None = None,
        transactional_id: str | None = None,
        cluster: bool = False,
        prefixed: bool = False,
        host: str = WILDCARD,
    ) -> Self:
        """Return a rule that allows operations on one kind of resource.

        `principal` is a user's name, "*", or has a type: "User:CN=alice". Operations are Kafka's:
        READ, WRITE, DESCRIBE, ALL, … With `prefixed` the name is the beginning of names.

        Raises: ValueError for an unknown operation, and unless there is exactly one resource.
        """
        return cls(
            **_rule(principal, operations, prefixed=prefixed, host=host),
            **_resource(topic, group, transactional_id, cluster=cluster),
            is_allowed=True,
        )

    @classmethod
    def deny(
        cls,
        principal: str,
        *operations: str,
        topic: str | None = None,
        group: str | None = None,
        transactional_id: str | None = None,
        cluster: bool = False,
        prefixed: bool = False,
        host: str = WILDCARD,
    ) -> Self:
        """Return a rule that forbids, whatever others allow; otherwise as `allow`."""
        return cls(
            **_rule(principal, operations, prefixed=prefixed, host=host),
            **_resource(topic, group, transactional_id, cluster=cluster),
            is_allowed=False,
        )

    def is_about(self, resource_type: ResourceType, name: str) -> bool:
        """Return whether the rule's resources include this one."""
        if self.resource_type is not resource_type:
            return False
        if self.is_prefixed:
            return name.startswith(self.name)
        return self.name in (name, WILDCARD)

    def is_for(self, principal: str, host: str) -> bool:
        """Return whether the rule is for this client."""
        return self.principal in (principal, EVERYBODY) and self.host in (host, WILDCARD)

    def covers(self, operation: Operation) -> bool:
        """Return whether the rule decides about the operation.

        What is allowed implies DESCRIBE or DESCRIBE_CONFIGS; what is denied implies nothing.
        """
        if operation in self.operations or Operation.ALL in self.operations:
            return True
        return self.is_allowed and not self.operations.isdisjoint(IMPLIED_BY.get(operation, ()))


EVERYBODY = "User:*"
IMPLIED_BY = {
    Operation.DESCRIBE: (
        Operation.READ,
        Operation.WRITE,
        Operation.DELETE,
        Operation.ALTER,
    ),
    Operation.DESCRIBE_CONFIGS: (Operation.ALTER_CONFIGS,),
}


def _rule(
    principal: str, operations: tuple[str, ...], *, prefixed: bool, host: str
) -> dict[str, Any]:
    return {
        "principal": principal if ":" in principal else f"User:{principal}",
        "operations": _parsed(operations),
        "is_prefixed": prefixed,
        "host": host,
    }


def _parsed(operations: tuple[str, ...]) -> frozenset[Operation]:
    known = {each.name: each for each in Operation if each >= Operation.ALL}
    unknown = [name for name in operations if name.upper() not in known]
    if unknown or not operations:
        raise ValueError(
            f"operations must be some of {', '.join(known)}; got {', '.join(operations) or 'none'}"
        )
    return frozenset(known[name.upper()] for name in operations)


def _resource(
    topic: str | None, group: str | None, transactional_id: str | None, *, cluster: bool
) -> dict[str, Any]:
    named = {
        ResourceType.TOPIC: topic,
        ResourceType.GROUP: group,
        ResourceType.TRANSACTIONAL_ID: transactional_id,
        ResourceType.CLUSTER: CLUSTER_NAME if cluster else None,
    }
    given = [(kind, name) for kind, name in named.items() if name is not None]
    if len(given) != 1:
        raise ValueError(
            "an Acl is about exactly one of topic=, group=, transactional_id= and cluster=True; "
            f"got {len(given)} of them"
        )
    ((kind, name),) = given
    return {"resource_type": kind, "name": name}


__all__ = ["CLUSTER_NAME", "EVERYBODY", "WILDCARD", "Acl", "Operation", "ResourceType"]
