"""Model-based: however records are sent, all ways at once, each is once in its partition, in the
order of the calls, or its sender is told why not.

See `mixed_schedules` for what may happen, and `send_model` for what has to be true.
"""

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import (
    GroupCoordinatorNotAvailableError,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.virtual_loop import run_virtual
from tests.adversity.mixed.mixed_schedules import (
    BAD_NAMES,
    BadName,
    MixedOptions,
    MixedStep,
    RefuseId,
    bursts,
    calls,
    mixed_options,
    play_mixed,
    refreshes,
    topic_changes,
)
from tests.adversity.producer.producer_schedules import (
    NODES,
    Cut,
    Delay,
    Disconnect,
    Drop,
    Fail,
    Latency,
    MoveLeader,
    Release,
    Stall,
    StartNode,
    StopNode,
    Wait,
)
from tests.adversity.producer.send_calls import Call, CancelCalls, Way
from tests.adversity.producer.send_model import (
    judge_acknowledged,
    judge_answers,
    judge_logs,
    judge_refused,
)
from tests.adversity.schedule_strategies import several, weighted
from tests.adversity.soak import play_seeds, the_same_each_time
from tests.adversity.topic_changes import CreateTopic, DeleteTopic
from tests.adversity.transaction.transaction_schedules import DropOf, FailOf

EXAMPLES = 400
SOAK_EXAMPLES = 300
"""Of one seed."""

pytestmark = [pytest.mark.timeout(10_000), pytest.mark.usefixtures("quiet")]

_partitions = st.integers(0, 2)
_nodes = st.integers(1, NODES)
_times = st.sampled_from([1, 2, 6, 40])
_waits = st.builds(Wait, st.sampled_from([1, 5, 30, 200, 1000, 5000]))
_common: tuple[tuple[int, st.SearchStrategy[Any]], ...] = (
    (10, calls),
    (6, bursts),
    (6, _waits),
    (2, st.just(CancelCalls())),
    (2, topic_changes),
    (5, refreshes),
    (3, st.builds(MoveLeader, _partitions, _nodes)),
    (1, st.builds(BadName, st.sampled_from(BAD_NAMES))),
    (1, st.just(DropOf(MetadataRequest))),
    (1, st.builds(FailOf, st.just(MetadataRequest), st.just(UnknownTopicOrPartitionError), _times)),
    (1, st.just(Stall())),
    (1, st.just(Release())),
)
lost_answers: st.SearchStrategy[list[MixedStep]] = several(
    weighted(
        *_common,
        (2, st.builds(Latency, st.sampled_from([0, 2, 20, 700, 1500]))),
        (2, st.builds(Drop, _times)),
        (1, st.builds(Cut, st.integers(0, 40))),
        (1, st.builds(Delay, st.sampled_from([10, 300, 1500]))),
        (1, st.just(DropOf(InitProducerIdRequest))),
        (2, st.builds(StopNode, _nodes)),
        (1, st.builds(StartNode, _nodes)),
        (1, st.builds(Disconnect, _nodes)),
        (
            2,
            st.builds(
                Fail,
                st.sampled_from([NotLeaderForPartitionError, NotEnoughReplicasError]),
                _times,
                _partitions,
            ),
        ),
    )
)
"""Answers come late or never, and nodes die."""
other_ids: st.SearchStrategy[list[MixedStep]] = several(
    weighted(
        *_common,
        (2, st.builds(Latency, st.sampled_from([0, 2, 20]))),
        (3, st.builds(RefuseId, _partitions)),
        (3, st.builds(Fail, st.just(NotLeaderForPartitionError), _times, _partitions)),
        (
            1,
            st.just(FailOf(InitProducerIdRequest, GroupCoordinatorNotAvailableError, 1)),
        ),
        (1, st.builds(DeleteTopic, st.sampled_from(["orders", "audit"]))),
        (1, st.builds(CreateTopic, st.sampled_from(["orders", "audit"]))),
    )
)
"""Producer ids are refused, and topics deleted with what brokers know of the producer: all answers
arrive, as else no client can tell what is written."""
schedules = st.one_of(lost_answers, other_ids)

SETTINGS = the_same_each_time(EXAMPLES)


def judge(schedule: list[MixedStep], options: MixedOptions) -> None:
    """Play a schedule, and compare what senders were told with what is in the logs."""
    story = run_virtual(partial(play_mixed, schedule=schedule, options=options))
    made = story.caller.made
    try:
        judge_answers(made)
        judge_logs(made, story.logs, story.topics.counts, in_order=options.keeps_order)
        judge_acknowledged(made, story.logs)
        judge_refused(made, story.logs)
    except AssertionError as error:
        error.add_note(str(story))
        raise


@SETTINGS
@given(schedule=schedules, options=mixed_options)
def test_each_record_is_once_in_its_partition_in_the_order_of_the_calls(
    schedule: list[MixedStep], options: MixedOptions
) -> None:
    """Every way to send, sends that wait and are cancelled, metadata that goes back (C1 to C7)"""
    judge(schedule, options)


@pytest.mark.soak
def test_the_same_for_as_long_as_one_likes(request: pytest.FixtureRequest) -> None:
    """One seed after the other; the one that fails can be played again"""
    play_seeds(request, judge, SOAK_EXAMPLES, schedule=schedules, options=mixed_options)


STICKY: list[MixedStep] = [Call(Way.SEND, "orders", None, None, 5, 150), Wait(30)] * 8
"""Records that the producer itself distributes over the partitions."""


@the_same_each_time(40)
@given(schedule=schedules, options=mixed_options)
def test_a_schedule_is_played_the_same_way_twice(
    schedule: list[MixedStep], options: MixedOptions
) -> None:
    """Two plays have the same calls at the same times, with the same places in the same logs"""
    first, second = (
        run_virtual(partial(play_mixed, schedule=schedule, options=options)) for _ in "12"
    )
    assert str(first) == str(second)


def test_the_seed_decides_which_partitions_are_sticky() -> None:
    """The same seed gives the same partitions, and not all seeds give the same"""
    stories = [
        str(run_virtual(partial(play_mixed, schedule=STICKY, options=MixedOptions(seed=number))))
        for number in [*range(4), *range(4)]
    ]
    assert stories[:4] == stories[4:]
    assert len(set(stories)) > 1
