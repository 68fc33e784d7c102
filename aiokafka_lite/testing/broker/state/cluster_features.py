"""The features of the cluster and their levels (KIP-584). Does not wait.

The embedded broker has those of Kafka 4.4. It acts on group.version, share.version and
transaction.version; the others are shown. Source: FeatureControlManager, MetadataVersion.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiokafka_lite.errors import InvalidUpdateVersionError

TRANSACTION_VERSION: Final = "transaction.version"
GROUP_VERSION: Final = "group.version"
SHARE_VERSION: Final = "share.version"
SUPPORTED: Final[Mapping[str, range]] = {
    "eligible.leader.replicas.version": range(2),
    GROUP_VERSION: range(2),
    "kraft.version": range(2),
    "metadata.version": range(7, 34),
    SHARE_VERSION: range(3),
    "streams.version": range(2),
    TRANSACTION_VERSION: range(3),
}
NEW_CLUSTER: Final[Mapping[str, int]] = {
    "eligible.leader.replicas.version": 1,
    "metadata.version": 33,
    "streams.version": 1,
}
"""The levels of a new cluster of 4.4 that are no options here."""
WITH_DEAD_LETTERS: Final = 2
"""The level of share.version from which share groups have dead letters (KIP-1191)."""
WITH_CONTROLLERS_THAT_GO: Final = 33
"""The level of metadata.version from which controllers can be unregistered."""
UPGRADE: Final = 1
"""Kafka's number for a change that may only raise the level."""
SAFE_DOWNGRADE: Final = 2
"""Kafka's number for a change that may lower it without loss."""


class ClusterFeatures:
    """The levels that are in force."""

    def __init__(self, levels: Mapping[str, int]) -> None:
        self.levels = dict(levels)
        self.epoch = 0
        """Grows with each change."""

    def level(self, name: str) -> int:
        """Return the level of a feature; 0 means that it is off."""
        return self.levels.get(name, 0)

    def check(self, name: str, level: int, upgrade_type: int, controller_id: int) -> None:
        """Raise InvalidUpdateVersionError unless the level may change so."""
        supported = SUPPORTED.get(name)
        why = None
        if supported is None and level == 0:
            why = f"Feature {name} not found."
        elif supported is None:
            why = f"Local controller {controller_id} does not support this feature."
        elif level not in supported:
            why = (
                f"Local controller {controller_id} only supports versions {supported.start}-"
                f"{supported.stop - 1}"
            )
        elif upgrade_type == UPGRADE and level < self.level(name):
            why = (
                "Can't downgrade the version of this feature without setting the upgrade type to "
                "either safe or unsafe downgrade."
            )
        if why is not None:
            raise InvalidUpdateVersionError(
                f"Invalid update version {level} for feature {name}. {why}"
            )

    def update(self, levels: Mapping[str, int]) -> int:
        """Change levels, and return how many are others now."""
        changed = sum(self.level(name) != level for name, level in levels.items())
        if changed:
            self.levels |= levels
            self.epoch += 1
        return changed


__all__ = [
    "GROUP_VERSION",
    "NEW_CLUSTER",
    "SAFE_DOWNGRADE",
    "SHARE_VERSION",
    "SUPPORTED",
    "TRANSACTION_VERSION",
    "UPGRADE",
    "WITH_CONTROLLERS_THAT_GO",
    "WITH_DEAD_LETTERS",
    "ClusterFeatures",
]
