"""The assignor "roundrobin": all partitions of all topics dealt out in turn. Plain; no state."""

from bisect import bisect_left

from aiokafka_lite.consumer.assignors.assignor import (
    AbstractPartitionAssignor,
    AssignmentCluster,
    Assignments,
    Members,
    in_member_order,
    subscribers_of_topics,
    topic_numbers,
)
from aiokafka_lite.consumer.assignors.on_class_too import on_class_too
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment


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
        circle = in_member_order(members)
        subscribers = subscribers_of_topics(circle)
        place = {member_id: at for at, member_id in enumerate(circle)}
        places: dict[int, list[int]] = {}
        """Of subscribers in the circle, by the list of them."""
        assigned: dict[str, list[tuple[str, list[int]]]] = {member_id: [] for member_id in circle}
        turn = 0
        for topic, numbers in topic_numbers(cluster, subscribers).items():
            takers = subscribers[topic]
            of_takers = places.get(id(takers))
            if of_takers is None:
                of_takers = places[id(takers)] = [place[member_id] for member_id in takers]
            first = bisect_left(of_takers, turn)
            count = len(takers)
            for step in range(min(count, len(numbers))):
                assigned[takers[(first + step) % count]].append((topic, numbers[step::count]))
            turn = of_takers[(first + len(numbers) - 1) % count] + 1
        return {
            member_id: ConsumerProtocolMemberAssignment(0, owned, b"")
            for member_id, owned in assigned.items()
        }


__all__ = ["RoundRobinPartitionAssignor"]
