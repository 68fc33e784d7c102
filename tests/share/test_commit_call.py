"""A commit waits for every acknowledgement that has no answer, and no longer than its time."""

import asyncio

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import InvalidRecordStateError, KafkaTimeoutError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.share.commit_call import CommitCall
from aiokafka_lite.share.held_records import AckBatch
from aiokafka_lite.share.pending_acknowledgements import AckGroup
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_loop import run_virtual
from aiokafka_lite.testing.virtual_network import VirtualNetwork

TP, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)


def group(*partitions: TopicPartition, by_user: bool = True) -> AckGroup:
    found = AckGroup()
    for tp in partitions:
        found.add(tp, AckBatch(0, bytearray([1]), by_user=by_user))
    return found


async def test_nothing_to_wait_for() -> None:
    assert await CommitCall([group(TP, by_user=False)]).wait(SYSTEM_CLOCK, 0.0) == {}


async def test_the_error_of_any_group_is_the_outcome_of_its_partition() -> None:
    first, second = group(TP, OTHER), group(TP)
    call = CommitCall([first, second])
    waiting = asyncio.create_task(call.wait(SYSTEM_CLOCK, 10.0))
    error = InvalidRecordStateError()
    first.end({TP: error, OTHER: None})
    await asyncio.sleep(0)
    assert not waiting.done()
    second.end({TP: None})
    assert await waiting == {TP: error, OTHER: None}


def test_what_has_no_answer_in_time_is_late() -> None:
    async def main(clock: FakeClock, _network: VirtualNetwork) -> None:
        first, second = group(TP), group(OTHER)
        call = CommitCall([first, second])
        error = InvalidRecordStateError()
        first.end({TP: error})
        found = await call.wait(clock, 60.0)
        assert found[TP] is error
        assert isinstance(found[OTHER], KafkaTimeoutError)

    run_virtual(main)
