"""The assignor "roundrobin": all partitions of all topics dealt out in turn. Plain; no state."""

from aiokafka_lite.consumer.assignors.assignor import (
    AbstractPartitionAssignor,
    AssignmentCluster,
    Assignments,
    Members,
    member_order,
    to_assignments,
    topic_partitions,
)
from aiokafka_lite.consumer.assignors.on_class_too import on_class_too
from aiokafka_lite.model import TopicPartition


class RoundRobinPartitionAssignor(AbstractPartitionAssignor):
    """Deals the partitions, by topic and number, to the members, by instance id and member id.

    A member that does not subscribe to the topic is passed over. With equal subscriptions members'
    counts differ by at most one. Source: RoundRobinAssignor.
    """

    name = "roundrobin"
    version = 0
    """That of the metadata and assignments, which a class derived from it may read."""

    @on_class_too
    def assign(self, cluster: AssignmentCluster, members: Members) -> Assignments:
        """Return the assignment of each member."""
        circle = sorted(members, key=lambda member_id: member_order(member_id, members[member_id]))
        topics_of = {member_id: set(members[member_id].subscription) for member_id in circle}
        assigned: dict[str, list[TopicPartition]] = {member_id: [] for member_id in circle}
        turn = 0
        for topic, partitions in topic_partitions(cluster, members).items():
            for partition in partitions:
                while topic not in topics_of[circle[turn]]:
                    turn = (turn + 1) % len(circle)
                assigned[circle[turn]].append(partition)
                turn = (turn + 1) % len(circle)
        return to_assignments(assigned)


__all__ = ["RoundRobinPartitionAssignor"]
