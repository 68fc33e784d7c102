"""Owns the state of a producer: which state may follow which, and whether records may be sent.
Does not wait.

The parts that append records refer to this object, not to the producer. So a producer that is
dropped without `stop()` has no references left, and is noticed at once.
"""

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.life import Life, LifeState
from aiokafka_lite.errors import IllegalStateError, ProducerClosed

_RUNNING = LifeState.RUNNING  # on 3.11 it costs a call to find it in its class

MAY_FOLLOW: dict[LifeState, frozenset[LifeState]] = {
    # A stop before the start has nothing to close.
    LifeState.NEW: frozenset({LifeState.STARTING, LifeState.STOPPED}),
    # A start that failed ends here: the producer goes on with a new engine, whose state is NEW.
    LifeState.STARTING: frozenset({LifeState.RUNNING, LifeState.STOPPING, LifeState.STOPPED}),
    # STOPPED without STOPPING: the event loop has ended, so nothing can be closed any more.
    LifeState.RUNNING: frozenset({LifeState.STOPPING, LifeState.STOPPED}),
    # Several calls of stop() may close together.
    LifeState.STOPPING: frozenset({LifeState.STOPPING, LifeState.STOPPED}),
    LifeState.STOPPED: frozenset({LifeState.STOPPED}),
}
"""State -> the states that may come next."""


class ProducerLife(Life[LifeState]):
    """The state of one producer, the owner of `client`."""

    def __init__(self, client: KafkaClient, client_id: str) -> None:
        super().__init__(MAY_FOLLOW, LifeState.NEW)
        self._client = client
        self._client_id = client_id

    def __repr__(self) -> str:
        return f"<AIOKafkaProducer {self._client_id} {self._state.value}>"

    def refusal(self, _state: LifeState, /) -> Exception:
        """Return ProducerClosed once stop() was called; otherwise IllegalStateError."""
        if self._state in (LifeState.STOPPING, LifeState.STOPPED):
            return ProducerClosed(f"{self!r} was stopped; create another producer")
        return IllegalStateError(f"{self!r} was started before")

    def check_starting(self) -> None:
        """Raise ProducerClosed when stop() was called during the start."""
        if self._state is not LifeState.STARTING:
            raise ProducerClosed(f"{self!r} was stopped while it was starting")

    def check_running(self) -> None:
        """Raise unless the producer is running, and the caller in its event loop.

        Raises: IllegalStateError before the start and in another event loop, ProducerClosed
        after the stop, KafkaError when a background task has failed.
        """
        if self._state is _RUNNING:
            self._client.loop.check()
            self._client.check()
        elif self._state is LifeState.NEW or self._state is LifeState.STARTING:
            raise IllegalStateError(f"{self!r}: await producer.start() first, or use async with")
        else:
            raise ProducerClosed(f"{self!r} takes no more records; create another producer")


__all__ = ["MAY_FOLLOW", "ProducerLife"]
