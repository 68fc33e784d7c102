from itertools import product

import pytest

from aiokafka_lite.concurrency.life import LifeState
from aiokafka_lite.errors import IllegalStateError, ProducerClosed
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.producer.producer_life import MAY_FOLLOW, ProducerLife

STOPPED_STATES = (LifeState.STOPPING, LifeState.STOPPED)


def life_in(state: LifeState) -> ProducerLife:
    """A life that has come to `state` by moves of the table."""
    ways: dict[LifeState, list[LifeState]] = {LifeState.NEW: []}
    while state not in ways:
        for known, moves in tuple(ways.items()):
            for each in MAY_FOLLOW[known]:
                ways.setdefault(each, [*moves, each])
    life = ProducerLife(AIOKafkaProducer().kafka_client, "mine")
    for each in ways[state]:
        life.to(each)
    assert life.state is state
    return life


@pytest.mark.parametrize("state", LifeState)
def test_every_state_can_be_reached(state: LifeState) -> None:
    assert repr(life_in(state)) == f"<AIOKafkaProducer mine {state.value}>"


@pytest.mark.parametrize(("state", "target"), list(product(LifeState, LifeState)))
def test_a_producer_moves_along_its_table_only(state: LifeState, target: LifeState) -> None:
    life = life_in(state)
    if target in MAY_FOLLOW[state]:
        life.to(target)
        assert life.state is target
        return
    error = ProducerClosed if state in STOPPED_STATES else IllegalStateError
    with pytest.raises(error, match=r"mine .* was (started before|stopped; create another)"):
        life.to(target)
    assert life.state is state


def test_a_producer_is_started_once_and_stopped_for_good() -> None:
    """No state leads back: a start that failed has another engine, with a life of its own."""
    assert all(LifeState.NEW not in states for states in MAY_FOLLOW.values())
    assert MAY_FOLLOW[LifeState.STOPPED] == {LifeState.STOPPED}


@pytest.mark.parametrize("state", LifeState)
def test_a_start_goes_on_only_while_nobody_stops_the_producer(state: LifeState) -> None:
    life = life_in(state)
    if state is LifeState.STARTING:
        life.check_starting()
    else:
        with pytest.raises(ProducerClosed, match="was stopped while it was starting"):
            life.check_starting()


@pytest.mark.parametrize(
    ("state", "error", "text"),
    [
        (LifeState.NEW, IllegalStateError, r"mine not started>: await producer.start\(\)"),
        (LifeState.STARTING, IllegalStateError, "mine starting>: await"),
        (LifeState.STOPPING, ProducerClosed, "mine stopping> takes no more records"),
        (LifeState.STOPPED, ProducerClosed, "mine stopped> takes no more records"),
    ],
)
def test_every_state_but_running_says_what_is_wrong(
    state: LifeState, error: type[Exception], text: str
) -> None:
    """A producer that is not running raises what is wrong with its state (C4)."""
    life = life_in(state)
    with pytest.raises(error, match=text):
        life.check_running()
    life_in(LifeState.RUNNING).check_running()
