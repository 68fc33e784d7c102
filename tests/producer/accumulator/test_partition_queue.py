import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.batch_sizes import BatchSizes
from aiokafka_lite.producer.accumulator.partition_queue import NodeQueues, PartitionQueue
from aiokafka_lite.producer.producer_config import ProducerConfig
from tests.producer.batches import make_batch


def queues(count: int) -> list[PartitionQueue]:
    made = []
    for turn in range(count):
        queue = PartitionQueue(TopicPartition("orders", turn))
        queue.turn = turn
        made.append(queue)
    return made


def node_queues() -> NodeQueues:
    return NodeQueues(BatchSizes(ProducerConfig()).new_pace())


def test_an_open_batch_that_is_closed_takes_no_more_records() -> None:
    (queue,) = queues(1)
    queue.close_open_batch()
    batch = queue.open_batch = make_batch(closed=False)
    queue.close_open_batch()
    assert queue.open_batch is None
    assert batch.is_closed


@pytest.mark.parametrize("next_turn", range(6))
def test_a_round_begins_at_the_next_turn(next_turn: int) -> None:
    """A drain goes on where the last one stopped, whichever queues have batches (2d-9)."""
    node, made = node_queues(), queues(5)
    for queue in (made[3], made[0], made[4]):
        node.filled[queue] = None
    node.next_turn = next_turn
    turns = [queue.turn for queue in node.in_turn()]
    assert turns == sorted((0, 3, 4), key=lambda turn: (turn < next_turn, turn))


def test_a_single_queue_has_every_turn() -> None:
    node, (queue,) = node_queues(), queues(1)
    node.filled[queue] = None
    node.next_turn = 7
    assert node.in_turn() == [queue]
