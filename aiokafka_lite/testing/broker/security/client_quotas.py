"""The quotas of users, client ids and addresses. Does not wait.

Those of bytes act, of producers and of consumers; the others are stored and described. Source:
ClientQuotaControlManager, ClientQuotasImage (KIP-546); ClientQuotaManager, Rate (KIP-13, KIP-219).
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from math import inf, isclose, isfinite

from aiokafka_lite.errors import InvalidRequestError, UnsupportedVersionError
from aiokafka_lite.protocol.messages.alter_client_quotas import EntityData, OpData
from aiokafka_lite.protocol.messages.describe_client_quotas import (
    ANY,
    DEFAULT,
    EXACT,
    ComponentData,
)

USER, CLIENT_ID, IP = "user", "client-id", "ip"
_LONG = (2**63 - 1, "a LONG")
_INT = (2**31 - 1, "an INT")
_DOUBLE = None
_OF_CLIENTS = {
    "producer_byte_rate": _LONG,
    "consumer_byte_rate": _LONG,
    "request_percentage": _DOUBLE,
    "controller_mutation_rate": _DOUBLE,
}
_OF_ADDRESSES = {"connection_creation_rate": _INT}

PRODUCED = "producer_byte_rate"
FETCHED = "consumer_byte_rate"
WINDOW_S = 10
"""A rate is taken over the last ten seconds and the present one (quota.window.num)."""

Entity = frozenset[tuple[str, str | None]]
"""The types of an entity and their names; the name None is the default entity of the type."""


@dataclass(slots=True)
class _Sample:
    """What was counted within a second."""

    first_s: float
    last_s: float = 0.0
    size: int = 0


class ClientQuotas:
    """The quotas of one cluster."""

    def __init__(self) -> None:
        self._values: dict[Entity, dict[str, float]] = {}
        self._samples: dict[tuple[str, Entity], deque[_Sample]] = {}
        """What was counted by a quota, second by second."""

    def throttle_ms(
        self,
        key: str,
        user: str,
        client_id: str,
        size: int,
        now_s: float,
        *,
        withholds: bool = False,
    ) -> int:
        """Count bytes, and return how long the client has to pause so that the quota holds.

        `withholds`: bytes beyond it are not sent, and do not count, as in an answer to Fetch.
        """
        found = self._quota_of(key, user, client_id) if self._values else None
        if found is None:
            return 0
        quota, counts = found
        samples = self._samples.setdefault((key, counts), deque())
        while samples and samples[0].last_s <= now_s - WINDOW_S - 1:
            samples.popleft()
        if not samples or samples[-1].first_s <= now_s - 1:
            samples.append(_Sample(now_s))
        samples[-1].last_s = now_s
        elapsed_s = now_s - samples[0].first_s
        window_s = elapsed_s + max(0, WINDOW_S - int(elapsed_s))
        used = size + sum(sample.size for sample in samples)
        pause_ms = max(0, round((used / quota - window_s) * 1000))
        if not (pause_ms and withholds):
            samples[-1].size += size
        return pause_ms

    def most_bytes(self, key: str, user: str, client_id: str) -> float:
        """Return what a quota lets through within its ten seconds; inf without one."""
        found = self._quota_of(key, user, client_id) if self._values else None
        return inf if found is None else found[0] * WINDOW_S

    def _quota_of(self, key: str, user: str, client_id: str) -> tuple[float, Entity] | None:
        """Return the quota that a client meets, and who shares it."""
        for of_user in (user, None, ...):
            for of_client in (client_id, None, ...):
                named = ((USER, of_user), (CLIENT_ID, of_client))
                quota = self._values.get(
                    frozenset((kind, name) for kind, name in named if name is not ...), {}
                ).get(key)
                if quota is not None:
                    users = [(USER, user)] if of_user is not ... else []
                    clients = [(CLIENT_ID, client_id)] if of_client is not ... else []
                    return quota, frozenset([*users, *clients])
        return None

    def alter(
        self, entity: Sequence[EntityData], ops: Sequence[OpData], *, validate_only: bool
    ) -> int:
        """Set and remove quotas of one entity, and return how many have changed.

        With `validate_only` only check them.

        Raises: InvalidRequestError.
        """
        types = [each.entity_type for each in entity]
        _check_entity(entity, types)
        known = _OF_ADDRESSES if IP in types else _OF_CLIENTS
        for op in ops:
            if not op.remove:
                _check_value(op.key, op.value, known)
        if validate_only:
            return 0
        key = frozenset((each.entity_type, each.entity_name) for each in entity)
        values = self._values.setdefault(key, {})
        before = set(values.items())
        for op in ops:
            if op.remove:
                values.pop(op.key, None)
            else:
                values[op.key] = op.value
        if not values:
            del self._values[key]
        return len({name for name, _ in before ^ set(values.items())})

    def find(
        self, components: Sequence[ComponentData], *, strict: bool
    ) -> Iterator[tuple[Entity, Mapping[str, float]]]:
        """Yield the entities that match all components, with their quotas.

        With `strict` an entity has no further types. Raises: InvalidRequestError,
        UnsupportedVersionError for an unknown type.
        """
        exact: dict[str, str | None] = {}
        types: set[str] = set()
        for each in components:
            _check_component(each, {*exact, *types})
            if each.match_type == ANY:
                types.add(each.entity_type)
            else:
                exact[each.entity_type] = each.match
        if IP in {*exact, *types} and len(components) > 1:
            raise InvalidRequestError(
                "Invalid entity filter component combination. IP filter component should not be "
                "used with user or clientId filter component."
            )
        for entity, values in self._values.items():
            names = dict(entity)
            if strict and len(names) != len(components):
                continue
            if types <= names.keys() and exact.items() <= entity:
                yield entity, values


def _check_entity(entity: Sequence[EntityData], types: Sequence[str]) -> None:
    if not entity:
        raise InvalidRequestError("Invalid empty client quota entity")
    for each in entity:
        if types.count(each.entity_type) > 1:
            raise InvalidRequestError(
                f"Invalid client quota entity, duplicate entity type {each.entity_type}"
            )
        if each.entity_type not in (USER, CLIENT_ID, IP):
            raise InvalidRequestError(f"Unhandled client quota entity type: {each.entity_type}")
        if each.entity_name == "":
            raise InvalidRequestError(f"Empty {each.entity_type} not supported")
    if IP in types and len(types) > 1:
        raise InvalidRequestError(
            "Invalid quota entity combination, IP entity shouldnot be combined with User or "
            "ClientId"
        )
    if IP in types:
        _check_address(entity[0].entity_name)


def _check_address(address: str | None) -> None:
    """Raise InvalidRequestError unless this is an address; names of hosts are not looked up."""
    try:
        if address is not None:
            ip_address(address)
    except ValueError as error:
        raise InvalidRequestError(f"{address} is not a valid IP or resolvable host.") from error


def _check_value(key: str, value: float, known: Mapping[str, tuple[int, str] | None]) -> None:
    if key not in known:
        raise InvalidRequestError(f"Invalid configuration key {key}")
    if not isfinite(value):
        raise InvalidRequestError(f"Quota {key} must be a finite number")
    if value <= 0.0:
        raise InvalidRequestError(f"Quota {key} must be greater than 0")
    limit = known[key]
    if limit is None:
        return
    most, name = limit
    if value > most:
        raise InvalidRequestError(f"Proposed value for {key} is too large for {name}.")
    if not isclose(value % 1.0, 0.0, abs_tol=1e-6):
        raise InvalidRequestError(f"{key} cannot be a fractional value.")


def _check_component(asked: ComponentData, seen: set[str]) -> None:
    kind = asked.entity_type
    if not kind:
        raise InvalidRequestError("Invalid empty entity type.")
    if kind in seen:
        raise InvalidRequestError(f"Entity type {kind} cannot appear more than once in the filter.")
    if kind not in (USER, CLIENT_ID, IP):
        raise UnsupportedVersionError(f"Unsupported entity type {kind}")
    if asked.match_type == EXACT and asked.match is None:
        raise InvalidRequestError(
            "Request specified MATCH_TYPE_EXACT, but set match string to null."
        )
    names = {DEFAULT: "MATCH_TYPE_DEFAULT", ANY: "MATCH_TYPE_SPECIFIED"}
    if asked.match_type in names and asked.match is not None:
        raise InvalidRequestError(
            f"Request specified {names[asked.match_type]}, but also specified a match string."
        )
    if asked.match_type not in (EXACT, DEFAULT, ANY):
        raise InvalidRequestError(f"Unknown match type {asked.match_type}")


__all__ = ["FETCHED", "PRODUCED", "ClientQuotas"]
