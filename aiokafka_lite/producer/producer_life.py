"""Where a producer stands in its life, and whether it may be used. Plain.

A value of its own, so that what `send` is made of can ask without holding the producer: one that is
dropped is noticed at once.
"""

from enum import Enum

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import IllegalStateError, ProducerClosed


class ProducerState(Enum):
    """The stations of a producer's life."""

    NEW = "not started"
    """A start that failed comes back here."""
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    """For good."""


class ProducerLife:
    """The life of one producer, the owner of `client`."""

    def __init__(self, client: KafkaClient, client_id: str) -> None:
        self._client = client
        self._client_id = client_id
        self.state = ProducerState.NEW

    def __repr__(self) -> str:
        return f"<AIOKafkaProducer {self._client_id} {self.state.value}>"

    def check_running(self) -> None:
        """Raise unless the producer is running, and the caller in its event loop.

        Raises: IllegalStateError before the start and from another event loop, ProducerClosed
        after the stop, KafkaError when a background task has failed.
        """
        if self.state is ProducerState.RUNNING:
            self._client.loop.check()
            self._client.check()
        elif self.state is ProducerState.NEW or self.state is ProducerState.STARTING:
            raise IllegalStateError(f"{self!r}: await producer.start() first, or use async with")
        else:
            raise ProducerClosed(f"{self!r} takes no more records; create another producer")


__all__ = ["ProducerLife", "ProducerState"]
