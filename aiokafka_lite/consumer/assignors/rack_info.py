"""Which members are near which partitions, for the sticky assignors (KIP-881). Does not wait.

Built for one assignment. It is empty where racks cannot matter: then each member is near all.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

from aiokafka_lite.consumer.assignors.assignor import (
    AssignmentCluster,
    Members,
    member_racks,
    racks_matter,
)
from aiokafka_lite.model import TopicPartition


class RackInfo:
    """The racks of members and of partitions' replicas. Source: AbstractStickyAssignor.RackInfo."""

    def __init__(
        self, cluster: AssignmentCluster, partitions: Iterable[TopicPartition], members: Members
    ) -> None:
        racks = member_racks(members)
        partition_racks = {p: cluster.racks(p) for p in partitions} if racks else {}
        self.matters = racks_matter(racks.values(), partition_racks.values())
        self._member_racks = racks if self.matters else {}
        self._partition_racks = partition_racks if self.matters else {}

    def rack(self, member_id: str) -> str | None:
        """Return the member's rack, None if it names none or racks do not matter."""
        return self._member_racks.get(member_id)

    def racks(self, partition: TopicPartition) -> frozenset[str]:
        """Return the racks of the partition's replicas, where racks matter."""
        return self._partition_racks[partition]

    def is_far(self, member_id: str, partition: TopicPartition) -> bool:
        """Whether the member names a rack in which the partition has no replica."""
        rack = self._member_racks.get(member_id)
        return rack is not None and rack not in self._partition_racks[partition]

    def next_near(self, partition: TopicPartition, members: Sequence[str], start: int) -> int:
        """Return the place of the first member near the partition, from `start` on and around.

        -1 if there is none. A member without rack is not near.
        """
        racks = self._partition_racks[partition]
        around = itertools.chain(range(start, len(members)), range(start))
        return next((at for at in around if self._member_racks.get(members[at]) in racks), -1)

    def fewest_near_first(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Return the partitions, those with fewest members nearby first, else in their order."""
        if not self.matters:
            return partitions
        members_in = Counter(self._member_racks.values())
        near = {
            partition: sum(members_in[rack] for rack in self._partition_racks[partition])
            for partition in partitions
        }
        return sorted(partitions, key=near.__getitem__)


__all__ = ["RackInfo"]
