"""Model-based: whatever happens on the way, readers see committed transactions and nothing else.

Hypothesis makes up schedules and shrinks those that fail. See `transaction_schedules` for what may
happen, and for what the user does about it.
"""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import (
    InvalidRecordError,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
)
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.virtual_loop import run_virtual
from tests.adversity.producer.producer_schedules import (
    Send,
)
from tests.adversity.schedule_strategies import several, weighted
from tests.adversity.soak import thorough
from tests.adversity.transaction.transaction_schedules import (
    Abort,
    Commit,
    CutOf,
    DropOf,
    FailOf,
    HoldMarkers,
    Outcome,
    ReleaseMarkers,
    Replace,
    TransactionStep,
    TransactionStory,
    play_transactions,
)
from tests.adversity.transaction.transaction_strategies import (
    concurrent,
    delays,
    disconnects,
    latencies,
    new_coordinators,
    new_leaders,
    starts,
    stops,
    waits,
    without_coordinator,
)

pytestmark = [
    pytest.mark.timeout(600),  # hundreds of schedules, perhaps on a busy machine
    pytest.mark.usefixtures("quiet"),
]

_partitions = st.integers(0, 1)
_times = st.sampled_from([1, 2, 3, 6, 40])
_apis = st.sampled_from(
    [ProduceRequest, EndTxnRequest, AddPartitionsToTxnRequest, InitProducerIdRequest]
)
_coordinating = st.sampled_from(
    [EndTxnRequest, AddPartitionsToTxnRequest, InitProducerIdRequest, FindCoordinatorRequest]
)
_fails = st.one_of(
    st.builds(
        FailOf,
        st.just(ProduceRequest),
        st.sampled_from([NotLeaderForPartitionError, NotEnoughReplicasError, InvalidRecordError]),
        _times,
    ),
    without_coordinator(_coordinating, _times),
    concurrent(
        st.sampled_from([AddPartitionsToTxnRequest, InitProducerIdRequest, EndTxnRequest]), _times
    ),
)
schedules = several(
    weighted(
        (10, st.builds(Send, _partitions, st.integers(1, 4))),
        (5, st.just(Commit())),
        (2, st.just(Abort())),
        (5, waits),
        (2, latencies),
        (3, st.builds(DropOf, _apis)),
        (2, st.builds(CutOf, _apis, st.integers(0, 40))),
        (2, delays(_apis)),
        (4, _fails),
        (2, new_leaders),
        (2, new_coordinators),
        (1, st.just(HoldMarkers())),
        (1, st.just(ReleaseMarkers())),
        (2, stops),
        (1, starts),
        (1, disconnects),
        (1, st.just(Replace())),
    )
)


def judge(story: TransactionStory) -> None:
    """Compare what the user knows with what readers see."""
    for partition, committed in story.committed.items():
        seen = [number for _, number in committed]
        assert seen == _expected(story, partition, set(seen)), f"partition {partition}\n{story}"
        written = story.logs[partition]
        assert len(set(written)) == len(written), f"written twice\n{story}"
        _judge_acks(story, partition, dict(committed))
    for transaction in story.transactions:
        seen_of_it = {
            number in dict(map(reversed, story.committed[partition]))  # type: ignore[arg-type]
            for partition in transaction.sent
            for number in transaction.numbers(partition)
        }
        assert len(seen_of_it) <= 1, f"a transaction is there in part\n{story}"


def _expected(story: TransactionStory, partition: int, seen: set[int]) -> list[int]:
    """The records of committed transactions; of those nobody knows about, what is there."""
    expected = []
    for transaction in story.transactions:
        numbers = transaction.numbers(partition)
        if transaction.outcome is Outcome.COMMITTED:
            expected += numbers
        elif transaction.outcome is Outcome.UNKNOWN:
            expected += [number for number in numbers if number in seen]
    return expected


def _judge_acks(story: TransactionStory, partition: int, committed: dict[int, int]) -> None:
    """Every record has its answer; that of a committed one is its place."""
    for transaction in story.transactions:
        for number, ack in transaction.sent.get(partition, []):
            assert ack.done(), f"{number} has no answer\n{story}"
            error = ack.exception()
            if transaction.outcome is Outcome.COMMITTED:
                assert error is None, f"{number}: {error!r}\n{story}"
                assert committed[ack.result().offset] == number, f"{number}: offset\n{story}"


def _judge_last(story: TransactionStory) -> None:
    """When all trouble is over, the producer, or the one in its place, goes on."""
    last = story.transactions[-1]
    assert last.outcome is Outcome.COMMITTED, f"the producer does not recover\n{story}"


@pytest.mark.parametrize("transaction_version", [1, 2])
@thorough(400)
@given(schedule=schedules)
def test_readers_see_the_committed_transactions_and_nothing_else(
    schedule: list[TransactionStep], transaction_version: int
) -> None:
    """Readers see the committed transactions only, over lost answers and moves (2d'-1 to 2d'-8)."""
    story = run_virtual(
        partial(play_transactions, schedule=schedule, transaction_version=transaction_version)
    )
    judge(story)
    _judge_last(story)
