"""The sticky assignment of a group whose members all subscribe to the same topics. Does not wait.

Then only counts decide: every member gets `floor(partitions / members)`, and some one more.
"""

from collections.abc import Collection, Mapping

from aiokafka_lite.consumer.assignors.assignor import text_order
from aiokafka_lite.consumer.assignors.rack_info import RackInfo
from aiokafka_lite.model import TopicPartition


class ConstrainedAssignment:
    """One assignment in the making: owned partitions first, near ones next, then the rest.

    `partitions` are all, by topic and number. `owned` is by member, in the order in which members
    may claim one more than the others. `contested` are claimed by several members of one
    generation and stay with none. Source: AbstractStickyAssignor.ConstrainedAssignmentBuilder.
    """

    def __init__(
        self,
        partitions: list[TopicPartition],
        owned: Mapping[str, Collection[TopicPartition]],
        contested: Collection[TopicPartition],
        racks: RackInfo,
    ) -> None:
        self.assigned: dict[str, list[TopicPartition]] = {member_id: [] for member_id in owned}
        self.moved: dict[TopicPartition, str] = {}
        """Partitions that an owner must give up first, each with the member that gets it."""
        self._partitions = partitions
        self._contested = contested
        self._racks = racks
        self._given_up: dict[TopicPartition, str] = {}
        self._least, self._more_left = divmod(len(partitions), len(owned))
        """The smallest share, and how many members may still get one more."""
        self._most = self._least + (self._more_left > 0)
        self._below: list[str] = []
        """Members that still get partitions up to the smallest share."""
        self._at_least: list[str] = []
        """Members with the smallest share that may get one more."""
        for member_id, claimed in owned.items():
            self._keep_owned(member_id, claimed)
        self._below.sort(key=text_order)
        self._at_least.sort(key=text_order)
        self._deal_rest(self._deal_near(racks.fewest_near_first(self._unassigned())))

    def _keep_owned(self, member_id: str, claimed: Collection[TopicPartition]) -> None:
        kept = []
        for partition in sorted(claimed, key=lambda claim: (claim.partition, claim.topic)):
            if self._racks.is_far(member_id, partition):
                self._given_up[partition] = member_id
            else:
                kept.append(partition)
        share = self._least
        if len(kept) < self._least:
            self._below.append(member_id)
        elif len(kept) >= self._most and self._more_left:
            share = self._most
            self._one_got_more()
        elif self._more_left:
            self._at_least.append(member_id)
        self.assigned[member_id] += kept[:share]
        self._given_up.update(dict.fromkeys(kept[share:], member_id))

    def _one_got_more(self) -> None:
        self._more_left -= 1
        if not self._more_left:
            self._at_least.clear()

    def _unassigned(self) -> list[TopicPartition]:
        assigned = {partition for kept in self.assigned.values() for partition in kept}
        return [partition for partition in self._partitions if partition not in assigned]

    def _deal_near(self, partitions: list[TopicPartition]) -> list[TopicPartition]:
        """Give partitions to members near them, as far as shares allow; return what is left."""
        if not self._racks.matters:
            return partitions
        left = []
        turn = 0
        # Members only leave those below the smallest share, some for those that may get one more.
        # So racks in which nobody is found stay so, and nobody is looked for again.
        none_below: set[frozenset[str]] = set()
        none_left: set[frozenset[str]] = set()
        for partition in partitions:
            near, at = self._racks.racks(partition), -1
            if near not in none_below:
                at = self._racks.next_near(partition, self._below, turn)
            if at >= 0:
                turn = self._give_below(partition, at)
                continue
            none_below.add(near)
            if near not in none_left:
                at = self._racks.next_near(partition, self._at_least, 0)
            if at >= 0:
                self._give(partition, self._at_least.pop(at))
                self._one_got_more()
            else:
                none_left.add(near)
                left.append(partition)
        return left

    def _give_below(self, partition: TopicPartition, at: int) -> int:
        """Give it to the member at this place below the smallest share; return whose turn is
        next.
        """
        member_id = self._below[at]
        self._give(partition, member_id)
        if len(self.assigned[member_id]) < self._least:
            at += 1
        else:
            del self._below[at]
            if self._more_left:
                self._at_least.append(member_id)
        return at % len(self._below) if self._below else 0

    def _deal_rest(self, partitions: list[TopicPartition]) -> None:
        turn = 0
        for partition in partitions:
            if self._below:
                turn = self._give_below(partition, turn)
            else:
                self._give(partition, self._at_least.pop(0))

    def _give(self, partition: TopicPartition, member_id: str) -> None:
        self.assigned[member_id].append(partition)
        given_up_by = self._given_up.get(partition, member_id)
        if given_up_by != member_id or partition in self._contested:
            self.moved[partition] = member_id


__all__ = ["ConstrainedAssignment"]
