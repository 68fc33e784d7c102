"""The states of a consumer: what may follow what, and what each allows."""

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.concurrency.life import LifeState
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.consumer_life import MAY_FOLLOW, ConsumerLife
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import ConsumerStoppedError, IllegalStateError, KafkaConnectionError
from aiokafka_lite.metrics.counters import Counters
from tests.scenarios.consuming import consumer_of, embedded

NEW, STARTING, RUNNING, STOPPING, STOPPED = LifeState


def life_in(state: LifeState) -> ConsumerLife:
    """A life that has come to `state` by the table, without an engine."""
    life = ConsumerLife(
        ConsumerConfig(client_id="c"),
        SubscriptionState(None),
        PollSignal(SYSTEM_CLOCK),
        clock=SYSTEM_CLOCK,
        rng=None,
        counters=Counters(),
        name="Consumer",
    )
    ways: dict[LifeState, list[LifeState]] = {NEW: []}
    while state not in ways:
        for known, moves in tuple(ways.items()):
            for each in MAY_FOLLOW[known]:
                ways.setdefault(each, [*moves, each])
    for each in ways[state]:
        life.to(each)
    return life


@pytest.mark.parametrize("after", LifeState)
@pytest.mark.parametrize("before", LifeState)
def test_the_table_decides_which_state_follows(before: LifeState, after: LifeState) -> None:
    life = life_in(before)
    if after in MAY_FOLLOW[before]:
        life.to(after)
        assert life.state is after
        return
    error = ConsumerStoppedError if before is STOPPED else IllegalStateError
    with pytest.raises(error):
        life.to(after)
    assert life.state is before


@pytest.mark.parametrize("state", LifeState)
def test_every_state_can_be_reached_and_may_end(state: LifeState) -> None:
    assert life_in(state).state is state
    assert STOPPED in MAY_FOLLOW[state]


@pytest.mark.parametrize("state", LifeState)
def test_calls_are_refused_with_the_reason_that_the_state_gives(state: LifeState) -> None:
    """Without an engine no call for records is allowed, whatever the state."""
    life = life_in(state)
    assert life.has_stopped is (state in (STOPPING, STOPPED))
    with pytest.raises(ConsumerStoppedError if life.has_stopped else IllegalStateError):
        life.running()
    assert repr(life) == f"<Consumer client_id='c' {state.value}>"


async def test_a_consumer_goes_through_its_states() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t")
        seen = [consumer._life.state]
        await consumer.start()
        seen.append(consumer._life.state)
        await consumer.stop()
        seen.append(consumer._life.state)
        await consumer.stop()
        assert seen == [NEW, RUNNING, STOPPED]
        with pytest.raises(ConsumerStoppedError, match="cannot be started again"):
            await consumer.start()


async def test_a_start_that_failed_may_be_repeated_with_a_new_engine() -> None:
    consumer = AIOKafkaConsumer("t", bootstrap_servers="127.0.0.1:1", request_timeout_ms=1000)
    for _ in range(2):
        with pytest.raises(KafkaConnectionError):
            await consumer.start()
        assert consumer._life.state is NEW
        assert consumer._engine is None
    await consumer.stop()
    assert consumer._life.state is STOPPED


async def test_a_running_consumer_cannot_be_started_again() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        engine = consumer._engine
        with pytest.raises(IllegalStateError, match="start\\(\\) twice"):
            await consumer.start()
        assert consumer._engine is engine is consumer._life.running()
