"""Decides who may do what, by ACLs and super users. Does not wait.

Source: StandardAuthorizerData.authorize, Authorizer.authorizeByResourceType.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace

from aiokafka_lite.testing.broker.security.acl import (
    WILDCARD,
    Acl,
    Operation,
    ResourceType,
)


class Authorizer:
    """The rules of one cluster. They may change while it runs."""

    def __init__(
        self, acls: Iterable[Acl], super_users: Iterable[str], *, allows_without_acl: bool
    ) -> None:
        """`allows_without_acl` allows everything on resources that no rule is about."""
        self.acls: tuple[Acl, ...] = ()
        """One for each operation, as Apache Kafka stores them."""
        self.add(acls)
        self._super_users = {user if ":" in user else f"User:{user}" for user in super_users}
        self._allows_without_acl = allows_without_acl

    def add(self, acls: Iterable[Acl]) -> int:
        """Store rules, and return how many are new. One that is stored already changes nothing."""
        single = (
            replace(acl, operations=frozenset({operation}))
            for acl in acls
            for operation in sorted(acl.operations)
        )
        before = len(self.acls)
        self.acls = tuple(dict.fromkeys((*self.acls, *single)))
        return len(self.acls) - before

    def remove(self, matches: Callable[[Acl], bool]) -> list[Acl]:
        """Remove the rules that match, and return them."""
        removed = [acl for acl in self.acls if matches(acl)]
        self.acls = tuple(acl for acl in self.acls if acl not in removed)
        return removed

    def allows(
        self,
        principal: str,
        host: str,
        operation: Operation,
        resource_type: ResourceType,
        name: str,
    ) -> bool:
        """Return whether a client may; a rule that denies goes before all that allow."""
        if principal in self._super_users:
            return True
        about = [acl for acl in self.acls if acl.is_about(resource_type, name)]
        if not about:
            return self._allows_without_acl
        deciding = [acl for acl in about if acl.is_for(principal, host) and acl.covers(operation)]
        return bool(deciding) and all(acl.is_allowed for acl in deciding)

    def allows_somewhere(
        self, principal: str, host: str, operation: Operation, resource_type: ResourceType
    ) -> bool:
        """Return whether a client may with at least one resource, which need not exist."""
        # A name that no rule knows: for super users, and where everything is allowed.
        if self.allows(principal, host, operation, resource_type, "hardcode"):
            return True
        mine = [
            acl
            for acl in self.acls
            if acl.resource_type is resource_type
            and acl.is_for(principal, host)
            and not acl.operations.isdisjoint((operation, Operation.ALL))
        ]
        denied = [acl for acl in mine if not acl.is_allowed]
        if any(acl.name == WILDCARD and not acl.is_prefixed for acl in denied):
            return False
        return any(acl.is_allowed and not _is_dominated(acl, denied) for acl in mine)


def _is_dominated(allowed: Acl, denied: Iterable[Acl]) -> bool:
    """Return whether each resource of a rule is denied by one other."""
    if allowed.name == WILDCARD and not allowed.is_prefixed:
        return False
    return any(
        allowed.name.startswith(acl.name)
        if acl.is_prefixed
        else not allowed.is_prefixed and acl.name == allowed.name
        for acl in denied
    )


__all__ = ["Authorizer"]
