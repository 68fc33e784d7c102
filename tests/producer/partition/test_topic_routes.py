import random
import uuid

import pytest

from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    bootstrap_snapshot,
    make_snapshot,
    rebuild_topic,
)
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.model import Node
from aiokafka_lite.producer.partition.partition_loads import NodePatience
from aiokafka_lite.producer.partition.partitioner import RoundRobinPartitioner
from aiokafka_lite.producer.partition.topic_routes import TopicRoutes
from tests.producer.batches import Shelf, make_batch
from tests.producer.send.test_produce_round import snapshot


def make_routes() -> tuple[TopicRoutes, Shelf]:
    shelf = Shelf()
    return TopicRoutes(shelf.accumulator, share_bytes=100, rng=random.Random(1)), shelf


def test_there_is_no_route_before_metadata_names_the_topic() -> None:
    routes, _ = make_routes()
    assert routes.find("orders") is None
    routes.update(bootstrap_snapshot([]))
    assert routes.find("orders") is None
    assert routes.known == {}


def test_a_route_has_the_topics_partitions_and_their_queues() -> None:
    routes, shelf = make_routes()
    routes.update(snapshot(orders=uuid.UUID(int=1)))
    route = routes.find("orders")
    assert route is not None
    assert routes.known == {"orders": route}
    assert (route.partitions, route.available, route.count) == ((0, 1), (0, 1), 2)
    assert route.queues == [None, None], "a queue is made for the first record"
    assert route.queue(1) is shelf.queue(1)
    assert route.queues == [None, shelf.queue(1)]
    assert route.queue(1).leader_id == 1


def test_a_partition_that_the_metadata_leaves_out_is_there_without_a_leader() -> None:
    """Queues are found by the partition's number."""
    routes, shelf = make_routes()
    routes.update(snapshot(partitions=(0, 2), orders=uuid.UUID(int=1)))
    route = routes.find("orders")
    assert route is not None
    assert (route.partitions, route.available, route.count) == ((0, 1, 2), (0, 2), 3)
    assert route.choices == (0, 2)
    of_topic = [route.queue(partition) for partition in route.partitions]
    assert [queue.topic_partition.partition for queue in of_topic] == [0, 1, 2]
    assert [queue.leader_id for queue in of_topic] == [1, None, 1]
    assert of_topic[2] is shelf.queue(2)
    routes.update(snapshot(orders=uuid.UUID(int=1)))
    assert routes.known["orders"].partitions == (0, 1)


def test_routes_follow_metadata_and_keep_their_sticky_partition() -> None:
    routes, _ = make_routes()
    known = snapshot(orders=uuid.UUID(int=1))
    routes.update(known)
    before = routes.find("orders")
    assert before is not None
    routes.update(known)
    assert routes.known["orders"] is before
    routes.update(snapshot(bills=uuid.UUID(int=2)))
    assert routes.known == {}
    routes.update(snapshot(orders=uuid.UUID(int=1)))
    after = routes.known["orders"]
    assert after is not before
    assert after.sticky is before.sticky
    assert after.queue(0) is before.queue(0)


def test_a_partitioner_sees_lists_of_its_own_and_may_only_choose_what_is_there() -> None:
    """A partitioner gets copies of the lists and must choose a partition that exists (C3)."""
    routes, _ = make_routes()
    routes.update(snapshot(orders=uuid.UUID(int=1)))
    route = routes.find("orders")
    assert route is not None

    def last(key: bytes | None, everything: list[int], available: list[int]) -> int:
        available.clear()
        return everything.pop()

    assert route.queue_chosen_by(last, b"k") is route.queue(1)
    assert route.queue_chosen_by(last, b"k") is route.queue(1)
    assert route.queue_chosen_by(RoundRobinPartitioner(), None) is route.queue(0)
    with pytest.raises(IllegalArgumentError, match=r"chose 2 for topic 'orders'.*0 to 1"):
        route.queue_chosen_by(lambda *_: 2, None)


def test_closed_routes_stay_empty() -> None:
    """A closed producer has no routes and takes no new ones (C4)."""
    routes, _ = make_routes()
    routes.update(snapshot(orders=uuid.UUID(int=1)))
    routes.find("orders")
    routes.close()
    assert routes.known == {}
    routes.update(snapshot(orders=uuid.UUID(int=1)))
    assert routes.known == {}
    assert routes.find("orders") is None


def test_a_route_that_is_made_while_its_topic_is_held_is_known_afterwards() -> None:
    """A route made while a record waits is not used to pass that record (C7)."""
    routes, _ = make_routes()
    first = routes.hold("orders")
    routes.update(snapshot(orders=uuid.UUID(int=1)))
    route = routes.find("orders")
    assert route is not None
    second = routes.hold("orders")
    first.release()
    first.release()
    assert routes.known == {}
    assert routes.find("orders") is route
    del second
    assert routes.known == {"orders": route}
    third = routes.hold("orders")
    routes.close()
    third.release()
    assert routes.known == {}


def test_records_leave_the_rack_while_its_node_does_not_keep_up() -> None:
    """And come back to it when the node does (2d-24)."""
    shelf, patience = Shelf(), NodePatience(1000)
    routes = TopicRoutes(
        shelf.accumulator,
        share_bytes=100,
        rng=random.Random(1),
        is_adaptive=True,
        patience=patience,
        rack="near",
    )
    known = snapshot(orders=uuid.UUID(int=1))
    nodes = {1: Node(1, "h", 1, "near"), 2: Node(2, "h", 2, "far")}
    topic = known.topics["orders"]
    partitions = {0: topic.partitions[0], 1: topic.partitions[1]._replace(leader_id=2)}
    of_two = rebuild_topic(topic, nodes, partitions, topic.seen_epochs)
    routes.update(make_snapshot(2, nodes, 1, "c", {"orders": of_two}))
    route = routes.find("orders")
    assert route is not None
    assert (route.choices, route.available) == ((0,), (0, 1))

    def goes_to() -> int:
        route.sticky.current = -1
        return route.sticky_queue(10).topic_partition.partition

    assert goes_to() == 0
    shelf.set_leader(1, 2)
    route.queue(0).batches.append(make_batch())
    patience.note(1, 10.0, can_send=True)
    patience.note(1, 11.1, can_send=False)
    assert goes_to() == 1
    patience.note(1, 11.2, can_send=True)
    assert goes_to() == 0
