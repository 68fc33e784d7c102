import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.batch_sizes import BatchSizes
from aiokafka_lite.producer.accumulator.partition_queue import NodePace, NodeQueues, PartitionQueue
from aiokafka_lite.producer.producer_config import ProducerConfig
from tests.producer.batches import make_batch

STEPS = (16_384, 32_768, 65_536, 131_072, 262_144)
ENOUGH = 5 * 1_048_576
KB = 1000


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


# How much a node may get; what becomes of a backlog is in the scenarios of the producer…


def new_pace(timeout_s: float = 3.0, *, steps: tuple[int, ...] = STEPS) -> NodePace:
    return NodePace(steps, timeout_s, ENOUGH)


@pytest.mark.parametrize(
    ("timeout_s", "most"), [(1, 65_536), (3, 65_536), (30, 525_000), (120, 2_100_000)]
)
def test_a_node_that_has_not_answered_gets_usual_batches(timeout_s: float, most: int) -> None:
    """Before a node has shown its speed, its batches do not grow (2d-23)."""
    pace = new_pace(timeout_s)
    assert pace.most_batch_bytes == 16_384
    assert pace.most_bytes == most


@pytest.mark.parametrize(
    ("speed", "most", "most_batch"),
    [
        (10 * KB, 65_536, 16_384),
        (60 * KB, 65_536, 16_384),
        (100 * KB, 75_000, 32_768),
        (1000 * KB, 750_000, 262_144),
    ],
)
def test_a_link_gets_what_it_carries_in_a_quarter_of_the_time(
    speed: int, most: int, most_batch: int
) -> None:
    """What is on its way needs a quarter of request_timeout_ms, and a batch an eighth (2d-23)."""
    pace = new_pace()
    for size in (20 * KB, 64 * KB):
        pace.was_answered(size, size / speed)
    assert pace.most_bytes == pytest.approx(most, rel=0.01)
    assert pace.most_batch_bytes == most_batch


def test_what_a_few_bytes_show_is_not_taken_for_more() -> None:
    """A link may take its first bytes fast: an answer allows sixteen times its bytes (2d-23)."""
    pace = new_pace()
    pace.was_answered(70, 0.0)
    assert pace.most_bytes == 65_536
    assert pace.most_batch_bytes == 32_768
    pace.was_answered(10 * KB, 0.0)
    assert pace.most_bytes == 160 * KB


def test_a_fast_node_is_soon_limited_by_nothing() -> None:
    pace = new_pace()
    for _ in range(3):
        pace.was_answered(min(pace.most_bytes, ENOUGH), 0.001)
    assert pace.most_batch_bytes == STEPS[-1]
    assert pace.most_bytes > ENOUGH


def test_slow_answers_alone_take_nothing_back() -> None:
    """They may be the broker's fault, and small requests would only give it more to do (2d-23)."""
    pace = new_pace()
    pace.was_answered(64 * KB, 0.1)
    most = pace.most_bytes
    pace.was_answered(64 * KB, 2.9)
    assert pace.most_bytes == most


def test_after_a_late_request_usual_batches_go_until_an_answer_shows_more() -> None:
    """After a Produce request that timed out, a node begins again, and more carefully (2d-23)."""
    pace = new_pace()
    for _ in range(3):
        pace.was_answered(1000 * KB, 0.001)
    pace.was_late()
    assert pace.most_bytes == pace.most_batch_bytes == 16_384
    sizes = []
    for _ in range(10):
        pace.was_answered(pace.most_bytes, pace.most_bytes / (1000 * KB))
        sizes.append(pace.most_bytes)
    assert sizes[0] == 2 * 16_384
    assert sizes[-1] == 750_000


def test_what_is_larger_than_the_link_takes_gets_more_time() -> None:
    """A batch that grew on a faster link cannot be split: it may be written (2d-16)."""
    pace = new_pace()
    assert pace.time_factor(1000 * KB) == 1, "no request was late yet"
    pace.was_answered(64 * KB, 0.1)
    assert pace.time_factor(1000 * KB) == 1
    factors = []
    for _ in range(5):
        pace.was_late()
        factors.append(pace.time_factor(262_144))
    assert factors == [2, 4, 8, 16, 16]
    pace.was_late()
    pace.was_answered(262_144, 262_144 / (60 * KB))
    assert pace.time_factor(262_144) == pytest.approx(262_144 / 45_000, rel=0.01)
    assert pace.time_factor(16_384) == 1


@pytest.mark.parametrize("steps", [(0,), (100,), (1000, 2000), (1_000_000,)])
def test_any_size_of_batches_has_a_pace(steps: tuple[int, ...]) -> None:
    pace = new_pace(steps=steps)
    for _ in range(3):
        pace.was_answered(50 * KB, 0.01)
    assert pace.most_batch_bytes == steps[-1]
    pace.was_late()
    assert pace.most_bytes == max(steps[0], 16_384)
    assert pace.most_batch_bytes == steps[0]


@given(
    st.lists(
        st.one_of(
            st.none(), st.tuples(st.integers(1, 2**31), st.floats(0, 100, allow_subnormal=False))
        )
    )
)
def test_whatever_comes_a_usual_batch_may_always_go(events: list[tuple[int, float] | None]) -> None:
    pace = new_pace()
    for event in events:
        if event is None:
            pace.was_late()
        else:
            pace.was_answered(*event)
        assert pace.most_bytes >= 16_384
        assert pace.most_batch_bytes in STEPS
        assert pace.time_factor(16_384) == 1
        assert 1 <= pace.time_factor(2**31) <= 2**31 / 16_384
