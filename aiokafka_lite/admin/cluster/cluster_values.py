"""What the calls about the cluster return and take: features and the quorum. Does not wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple
from uuid import UUID

from aiokafka_lite.schema.field_types import ZERO_UUID


class FeatureLevels(NamedTuple):
    """The range of levels of one feature."""

    min_level: int
    max_level: int


class FeatureMetadata(NamedTuple):
    """The features of the cluster (KIP-584)."""

    finalized: Mapping[str, FeatureLevels]
    """Those that are in force, by name; `max_level` is the level."""
    supported: Mapping[str, FeatureLevels]
    """Those that the broker that answered could run."""
    epoch: int | None
    """Grows with each change of `finalized`; None if the broker does not know it."""


class UpgradeType(IntEnum):
    """What a new level of a feature may do (KIP-778)."""

    UPGRADE = 1
    """Only raise it."""
    SAFE_DOWNGRADE = 2
    """Lower it if no metadata is lost."""
    UNSAFE_DOWNGRADE = 3
    """Lower it, also with a loss of metadata."""


class FeatureUpdate(NamedTuple):
    """A new level of a feature."""

    max_version_level: int
    """0 switches the feature off."""
    upgrade_type: UpgradeType = UpgradeType.UPGRADE


class QuorumReplica(NamedTuple):
    """How far one node of the quorum is."""

    replica_id: int
    log_end_offset: int
    """-1: not known."""
    directory_id: UUID = ZERO_UUID
    """Of the directory with its metadata log; zero before Kafka 3.9."""
    last_fetch_timestamp: int | None = None
    """Leader's time of its last fetch in milliseconds; None for the leader, or if not known."""
    last_caught_up_timestamp: int | None = None
    """Leader's time in milliseconds up to which it had read all; None if not known."""


class QuorumEndpoint(NamedTuple):
    """One address of a voter."""

    listener: str
    host: str
    port: int


class QuorumInfo(NamedTuple):
    """The nodes that agree on the metadata of the cluster (KIP-595)."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    """Offset of the metadata log up to which the voters agree."""
    voters: Sequence[QuorumReplica]
    observers: Sequence[QuorumReplica]
    """The nodes that only read the metadata: the brokers that are no controllers."""
    nodes: Mapping[int, Sequence[QuorumEndpoint]] = {}
    """Addresses of the voters, by id; empty before Kafka 3.9 (KIP-853)."""


__all__ = [
    "FeatureLevels",
    "FeatureMetadata",
    "FeatureUpdate",
    "QuorumEndpoint",
    "QuorumInfo",
    "QuorumReplica",
    "UpgradeType",
]
