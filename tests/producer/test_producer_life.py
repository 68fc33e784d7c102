import pytest

from aiokafka_lite.errors import IllegalStateError, ProducerClosed
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.producer.producer_life import ProducerLife, ProducerState


@pytest.mark.parametrize(
    ("state", "error", "text"),
    [
        (ProducerState.NEW, IllegalStateError, r"mine not started>: await producer.start\(\)"),
        (ProducerState.STARTING, IllegalStateError, "mine starting>: await"),
        (ProducerState.STOPPING, ProducerClosed, "mine stopping> takes no more records"),
        (ProducerState.STOPPED, ProducerClosed, "mine stopped> takes no more records"),
    ],
)
def test_every_state_but_running_says_what_is_wrong(
    state: ProducerState, error: type[Exception], text: str
) -> None:
    """A producer that is not running raises what is wrong with its state (C4)."""
    life = ProducerLife(AIOKafkaProducer().client, "mine")
    life.state = state
    with pytest.raises(error, match=text):
        life.check_running()
    life.state = ProducerState.RUNNING
    life.check_running()
