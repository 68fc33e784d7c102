"""One call of `commit()`: which partitions it waits for, and what became of them."""

from collections.abc import Iterable

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.errors import KafkaError, KafkaTimeoutError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.share.pending_acknowledgements import AckGroup, Outcome


class CommitCall:
    """Waits for the outcome of all acknowledgements that have none yet."""

    def __init__(self, groups: Iterable[AckGroup]) -> None:
        self._results: dict[TopicPartition, KafkaError | None] = {}
        self._waiting = 0
        self._wakeup = Wakeup()
        for group in groups:
            partitions = group.of_user
            if partitions:
                self._results.update(dict.fromkeys(partitions))
                self._waiting += 1
                group.listeners.append(self._answered)

    def _answered(self, outcome: Outcome) -> None:
        self._waiting -= 1
        for tp, error in outcome.items():
            if error is not None and tp in self._results:
                self._results[tp] = error
        self._wakeup.set()

    async def wait(self, clock: Clock, timeout_s: float) -> dict[TopicPartition, KafkaError | None]:
        """Return the error of each partition, None if there was none. After `timeout_s`, those
        without an error get a KafkaTimeoutError if anything is unanswered.

        Cancelled: the acknowledgements are sent all the same.
        """
        until_s = clock.monotonic() + timeout_s
        while self._waiting and clock.monotonic() < until_s:
            await self._wakeup.wait_for(clock, until_s - clock.monotonic())
        if not self._waiting:
            return self._results
        late = KafkaTimeoutError(
            f"no answer to an acknowledgement within {timeout_s:g} s; records whose lock ends "
            f"meanwhile are delivered again; check the connection to the brokers"
        )
        return {tp: error or late for tp, error in self._results.copy().items()}


__all__ = ["CommitCall"]
