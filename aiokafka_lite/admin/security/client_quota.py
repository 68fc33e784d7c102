"""Quotas as the calls take and return them. Does not wait."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from aiokafka_lite.checks.quoted import quoted


class ClientQuotaEntity(Mapping[str, str | None]):
    """The clients that a quota is for: {"user": "alice"}, {"user": "alice", "client-id": None}.

    The types are "user", "client-id" and "ip". None is the default of the type: all clients for
    which no quota names them. It is immutable, a key of dicts, and equal to a dict of its items.
    """

    __slots__ = ("_names",)

    def __init__(self, names: Mapping[str, str | None]) -> None:
        self._names = dict(sorted(names.items()))

    def __getitem__(self, kind: str) -> str | None:
        return self._names[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __hash__(self) -> int:
        return hash(frozenset(self._names.items()))

    def __repr__(self) -> str:
        return f"ClientQuotaEntity({quoted(self._names)})"


class ClientQuotaAlteration(NamedTuple):
    """Changes of one entity's quotas.

    `ops` is {name of a quota: its value, or None to remove it}. The quotas of users and client ids
    are producer_byte_rate, consumer_byte_rate, request_percentage and controller_mutation_rate, and
    that of addresses is connection_creation_rate.
    """

    entity: Mapping[str, str | None]
    ops: Mapping[str, float | None]


__all__ = ["ClientQuotaAlteration", "ClientQuotaEntity"]
