"""A topic and its partitions, as the cluster describes them. Does not wait."""

from uuid import UUID

from aiokafka_lite.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PartitionDescription:
    """One partition. Brokers are given by their ids, the preferred leader first."""

    partition: int
    leader: int | None
    """None while no broker leads."""
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    offline: tuple[int, ...]
    """Replicas that are not available now."""
    leader_epoch: int | None = None
    eligible_leaders: tuple[int, ...] | None = None
    """Replicas out of sync that have all committed records; None: the broker did not say."""
    last_known_eligible_leaders: tuple[int, ...] | None = None
    """The last eligible replicas before there were none; None: the broker did not say."""


@dataclass(frozen=True, slots=True)
class TopicDescription:
    """One topic, with its partitions in order."""

    name: str
    topic_id: UUID
    """Zero from brokers before 2.8."""
    is_internal: bool
    partitions: tuple[PartitionDescription, ...]


__all__ = ["PartitionDescription", "TopicDescription"]
