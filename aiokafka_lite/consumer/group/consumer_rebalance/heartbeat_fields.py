"""Owns what a member has told its coordinator, so that a heartbeat says only what is new.

The first heartbeat after a join or a failure says everything. Does not wait. Source: KIP-848,
ConsumerHeartbeatRequestManager.
"""

from collections.abc import Collection
from dataclasses import fields
from typing import Any, Final
from uuid import UUID

from aiokafka_lite.light_dataclass import dataclass

TopicIdPartitions = frozenset[tuple[UUID, int]]
"""Partitions as the coordinator names them: the id of the topic, and the number."""

NOTHING: Final[TopicIdPartitions] = frozenset()

UNCHANGED_TIMEOUT: Final = -1
"""What stands for a rebalance timeout that was told before."""


@dataclass(frozen=True, slots=True)
class MemberWishes:
    """What a member has to tell its coordinator besides its ids and its epoch."""

    rebalance_timeout_ms: int
    topics: frozenset[str] = frozenset()
    regex: str = ""
    """A regular expression for the broker, "" for none."""
    assignor: str | None = None
    """None: the broker chooses."""
    rack_id: str | None = None


@dataclass(frozen=True, slots=True)
class HeartbeatFields:
    """The fields of a heartbeat that may be left out. None: as told before."""

    rebalance_timeout_ms: int = UNCHANGED_TIMEOUT
    topics: tuple[str, ...] | None = None
    regex: str | None = None
    assignor: str | None = None
    rack_id: str | None = None
    owned: TopicIdPartitions | None = None
    """Others get no partition that is named here."""


class ToldWishes:
    """Knows what the coordinator knows of a member."""

    def __init__(self) -> None:
        self._told: MemberWishes | None = None

    def forget(self) -> None:
        """Tell everything the next time: after a failure, or when the member joins."""
        self._told = None

    def is_news(self, wishes: MemberWishes) -> bool:
        """Say whether `wishes` differ from what was told."""
        return self._told != wishes

    def tell(
        self, wishes: MemberWishes, owned: TopicIdPartitions, *, acknowledges: bool = False
    ) -> HeartbeatFields:
        """Return the fields that the next heartbeat needs, and take them as told.

        `owned` is told with everything, and by a heartbeat that `acknowledges`.
        """
        before, self._told = self._told, wishes
        if before is None:
            return _everything(wishes, owned)
        changed = {
            each.name
            for each in fields(wishes)
            if getattr(wishes, each.name) != getattr(before, each.name)
        }
        return _only(changed, wishes, owned if acknowledges else None)


def _everything(wishes: MemberWishes, owned: TopicIdPartitions) -> HeartbeatFields:
    return HeartbeatFields(
        rebalance_timeout_ms=wishes.rebalance_timeout_ms,
        topics=tuple(sorted(wishes.topics)),
        regex=wishes.regex or None,
        assignor=wishes.assignor,
        rack_id=wishes.rack_id,
        owned=owned,
    )


def _only(
    changed: Collection[str], wishes: MemberWishes, owned: TopicIdPartitions | None
) -> HeartbeatFields:
    told: dict[str, Any] = {name: getattr(wishes, name) for name in changed}
    if "topics" in told:
        told["topics"] = tuple(sorted(wishes.topics))
    return HeartbeatFields(owned=owned, **told)


__all__ = [
    "NOTHING",
    "HeartbeatFields",
    "MemberWishes",
    "ToldWishes",
    "TopicIdPartitions",
]
