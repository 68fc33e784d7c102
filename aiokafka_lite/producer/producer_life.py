"""Owns the state of a producer: which state may follow which, and whether records may be sent.
Plain.

The parts that append records ask it, so that they need not hold the producer: a producer that is
dropped without `stop()` is noticed at once.
"""

from enum import Enum

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import IllegalStateError, ProducerClosed


class ProducerState(Enum):
    """The states of a producer."""

    NEW = "not started"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"


MAY_FOLLOW: dict[ProducerState, frozenset[ProducerState]] = {
    # A stop before the start has nothing to close.
    ProducerState.NEW: frozenset({ProducerState.STARTING, ProducerState.STOPPED}),
    # A start that failed ends here: the producer goes on with a new engine, whose state is NEW.
    ProducerState.STARTING: frozenset(
        {ProducerState.RUNNING, ProducerState.STOPPING, ProducerState.STOPPED}
    ),
    # STOPPED without STOPPING: the event loop has ended, so nothing can be closed any more.
    ProducerState.RUNNING: frozenset({ProducerState.STOPPING, ProducerState.STOPPED}),
    # Several calls of stop() may close together.
    ProducerState.STOPPING: frozenset({ProducerState.STOPPING, ProducerState.STOPPED}),
    ProducerState.STOPPED: frozenset({ProducerState.STOPPED}),
}
"""State -> the states that may come next."""


class ProducerLife:
    """The state of one producer, the owner of `client`."""

    def __init__(self, client: KafkaClient, client_id: str) -> None:
        self._client = client
        self._client_id = client_id
        self._state = ProducerState.NEW

    def __repr__(self) -> str:
        return f"<AIOKafkaProducer {self._client_id} {self._state.value}>"

    @property
    def state(self) -> ProducerState:
        """The present state."""
        return self._state

    def to(self, state: ProducerState) -> None:
        """Go to `state`.

        Raises, without a change: ProducerClosed when the producer is stopped or stopping,
        IllegalStateError for any other state that may not come next.
        """
        if state not in MAY_FOLLOW[self._state]:
            if self._state in (ProducerState.STOPPING, ProducerState.STOPPED):
                raise ProducerClosed(f"{self!r} was stopped; create another producer")
            raise IllegalStateError(f"{self!r} was started before")
        self._state = state

    def check_starting(self) -> None:
        """Raise ProducerClosed when stop() was called during the start."""
        if self._state is not ProducerState.STARTING:
            raise ProducerClosed(f"{self!r} was stopped while it was starting")

    def check_running(self) -> None:
        """Raise unless the producer is running, and the caller in its event loop.

        Raises: IllegalStateError before the start and in another event loop, ProducerClosed
        after the stop, KafkaError when a background task has failed.
        """
        if self._state is ProducerState.RUNNING:
            self._client.loop.check()
            self._client.check()
        elif self._state is ProducerState.NEW or self._state is ProducerState.STARTING:
            raise IllegalStateError(f"{self!r}: await producer.start() first, or use async with")
        else:
            raise ProducerClosed(f"{self!r} takes no more records; create another producer")


__all__ = ["MAY_FOLLOW", "ProducerLife", "ProducerState"]
