"""Model-based: whatever happens on the way, the log holds what the producer said that it holds.

Hypothesis makes up schedules and shrinks those that fail; the model is simple: a record whose
sender got an offset is there, once, in its place; one whose sender got an error may be there once;
and nobody is left without an answer. See `producer_schedules` for what may happen.
"""

from collections import Counter
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import (
    BrokerResponseError,
    DeliveryTimeoutError,
    InvalidRecordError,
    KafkaStorageError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumber,
    RequestTimedOutError,
    UnknownProducerId,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.testing.virtual_loop import run_virtual
from tests.adversity.producer.producer_schedules import (
    DELIVERY_TIMEOUT_MS,
    MAX_BLOCK_MS,
    NODES,
    Cut,
    Delay,
    Disconnect,
    Drop,
    Fail,
    Flush,
    Forget,
    Latency,
    MoveLeader,
    Options,
    Release,
    Send,
    Sent,
    Stall,
    StartNode,
    Step,
    StopNode,
    Story,
    Truncate,
    Wait,
    play,
)
from tests.adversity.schedule_strategies import random_seeds, several, weighted
from tests.adversity.soak import thorough

ROUNDING_S = 0.001

pytestmark = [
    pytest.mark.timeout(600),  # a thousand schedules, perhaps on a busy machine
    pytest.mark.usefixtures("quiet"),
]

RETRIED = (
    NotLeaderForPartitionError,
    NotEnoughReplicasError,
    RequestTimedOutError,
    UnknownTopicOrPartitionError,
    KafkaStorageError,
)
REFUSED = (InvalidRecordError, MessageSizeTooLargeError)
SEQUENCE_TROUBLE = (OutOfOrderSequenceNumber, UnknownProducerId)

_partitions = st.integers(0, 1)
_nodes = st.integers(1, NODES)
_times = st.sampled_from([1, 2, 3, 6, 40])
_sends = st.builds(Send, _partitions, st.integers(1, 4))
_waits = st.builds(Wait, st.sampled_from([1, 5, 30, 200, 1000, 5000]))
_flushes = st.just(Flush())
_latencies = st.builds(Latency, st.sampled_from([0, 2, 20, 700, 1500]))


def _fails(*errors: type[BrokerResponseError]) -> st.SearchStrategy[Fail]:
    return st.builds(Fail, st.sampled_from(errors), _times, _partitions)


schedules = several(
    weighted(
        (12, _sends),
        (6, _waits),
        (1, _flushes),
        (2, _latencies),
        (2, st.builds(Drop, _times)),
        (2, st.builds(Cut, st.integers(0, 40))),
        (1, st.builds(Delay, st.sampled_from([10, 300, 1500]))),
        (1, st.just(Stall())),
        (1, st.just(Release())),
        (3, _fails(*RETRIED)),
        (1, _fails(InvalidRecordError)),
        (2, st.builds(MoveLeader, _partitions, _nodes)),
        (2, st.builds(StopNode, _nodes)),
        (1, st.builds(StartNode, _nodes)),
        (1, st.builds(Disconnect, _nodes)),
    )
)

# A broker that has lost the producer's state cannot know what it has written, and one whose limit
# is lowered may refuse the size of what it has: with lost answers on top, no client can tell what
# is there. So these come without.
_short_latencies = st.builds(Latency, st.sampled_from([0, 2, 20]))
_forgetting = several(
    weighted(
        (6, _sends),
        (4, _waits),
        (1, _flushes),
        (2, _short_latencies),
        (2, st.builds(Truncate, _partitions, st.integers(1, 4))),
        (2, st.builds(Forget, _partitions)),
    )
)
_complaining = several(
    weighted(
        (6, _sends),
        (4, _waits),
        (1, _flushes),
        (2, _short_latencies),
        (3, _fails(*SEQUENCE_TROUBLE)),
        (1, _fails(MessageSizeTooLargeError)),
        (1, _fails(NotLeaderForPartitionError)),
        (1, st.builds(MoveLeader, _partitions, _nodes)),
    )
)
producer_options = st.builds(
    Options,
    max_in_flight=st.sampled_from([5, 5, 2, 1]),
    linger_ms=st.sampled_from([0, 0, 10]),
    buffer_memory=st.sampled_from([33_554_432, 33_554_432, 300]),
    epoch=st.sampled_from([0, 0, 0, 32766]),
    sequence=st.sampled_from([0, 0, 0, 2**31 - 2]),
    seed=random_seeds,
)


# The model…


def judge(story: Story) -> None:
    """Compare what senders were told with what is in the logs."""
    for record in story.sent:
        _judge_answer(record)
    for partition, log in story.logs.items():
        numbers = [number for _, number in log]
        twice = [number for number, count in Counter(numbers).items() if count > 1]
        assert not twice, f"written twice: {twice}\n{story}"
        assert numbers == sorted(numbers), f"partition {partition} is out of order\n{story}"
        offsets = {number: offset for offset, number in log}
        for record in story.sent:
            if record.partition == partition:
                _judge_place(record, offsets.get(record.number), story)


def _judge_answer(record: Sent) -> None:
    """An answer came in time, and an error says what happened."""
    assert record.told_at_s is not None
    if record.accepted_at_s is None:
        assert isinstance(record.error, KafkaTimeoutError), record
        assert record.told_at_s - record.sent_at_s <= MAX_BLOCK_MS / 1000 + ROUNDING_S, record
        return
    took_s = record.told_at_s - record.accepted_at_s
    assert took_s <= DELIVERY_TIMEOUT_MS / 1000 + ROUNDING_S, record
    if record.error is not None:
        assert isinstance(record.error, (DeliveryTimeoutError, *REFUSED)), record
        assert len(str(record.error)) > len("[Error 87]"), record


def _judge_place(record: Sent, offset: int | None, story: Story) -> None:
    """It is where its sender was told, and nowhere if it was never sent."""
    if record.metadata is not None:
        is_there = offset is not None or record.number in story.lost
        assert is_there, f"{record.number} is lost\n{story}"
        if offset is not None and record.number not in story.lost:
            assert record.metadata.offset in (offset, -1), f"{record.number}: offset\n{story}"
    elif record.accepted_at_s is None or "never sent" in str(record.error):
        assert offset is None, f"{record.number} was sent all the same\n{story}"


def _judge_last(story: Story) -> None:
    """When all trouble is over, the producer goes on."""
    for record in story.sent[-2:]:
        assert record.error is None, f"the producer does not recover: {record.error!r}\n{story}"


@thorough(1000)
@given(schedule=schedules, options=producer_options)
def test_the_log_holds_what_was_acknowledged(schedule: list[Step], options: Options) -> None:
    """The log holds what was acknowledged, over drops and timeouts (2d-8 to 2d-20)."""
    story = run_virtual(partial(play, schedule=schedule, options=options))
    judge(story)
    _judge_last(story)


@thorough(500)
@given(schedule=st.one_of(_forgetting, _complaining), options=producer_options)
def test_the_log_holds_what_was_acknowledged_when_brokers_forget(
    schedule: list[Step], options: Options
) -> None:
    """The log holds what was acknowledged when brokers forget producers (2d-17 to 2d-19)."""
    story = run_virtual(partial(play, schedule=schedule, options=options))
    judge(story)
    _judge_last(story)


@thorough(40)
@given(schedule=schedules, options=producer_options)
def test_a_schedule_is_played_the_same_way_twice(schedule: list[Step], options: Options) -> None:
    """Two plays have the same sends at the same times, with the same places in the same logs."""
    first, second = (run_virtual(partial(play, schedule=schedule, options=options)) for _ in "12")
    assert str(first) == str(second)
