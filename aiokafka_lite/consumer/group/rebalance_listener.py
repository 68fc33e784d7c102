"""The listener that users write for rebalances, and the calls of it. Its errors wait for a poll.

A listener runs in the group's background task. The rebalance waits for all that the listener
awaits.
"""

import asyncio
import inspect
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar

from aiokafka_lite.checks.quoted import quoted, said, trace_of
from aiokafka_lite.concurrency.long_waits import LongWaits
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition

logger = logging.getLogger(__name__)


class ConsumerRebalanceListener(ABC):
    """What a consumer does when the group gives it partitions or takes them away.

    Each method may be plain or async and may call the consumer, also from tasks it makes:
    `commit()`, `committed()`, `position()`, `seek()`, `pause()` and their like; not `stop()`, and
    no call for records. The group waits meanwhile, at most `max_poll_interval_ms`. An error is
    logged, the rebalance goes on, and the next poll raises it.

    With an eager assignor every rebalance revokes everything; with the cooperative one only what
    moves. Source: KIP-415, KIP-429, ConsumerRebalanceListener.
    """

    @abstractmethod
    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> object:
        """The partitions go to other members; this is the last moment to commit for them.

        Called before the group learns that they are free, with an empty set where an eager
        rebalance finds nothing to revoke.
        """

    @abstractmethod
    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> object:
        """These partitions are new here; none of their records is returned before this has ended.

        With an eager assignor all of them are new each time. Called after each rebalance, also
        with an empty set.
        """

    def on_partitions_lost(self, lost: set[TopicPartition]) -> object:
        """The group has already given the partitions away: nothing can be committed any more.

        Called in place of `on_partitions_revoked`, which is what it does unless overridden.
        """
        return self.on_partitions_revoked(lost)


class _RunningCall:
    """One call of a listener, known to it and to the tasks it makes."""

    __slots__ = ("is_over", "outer", "owner")

    def __init__(self, owner: "ListenerCalls", outer: "_RunningCall | None") -> None:
        self.owner = owner
        self.outer = outer
        self.is_over = False


_running_call: ContextVar[_RunningCall | None] = ContextVar("_running_call", default=None)


class ListenerCalls:
    """Calls the user's listener, if there is one, and keeps the first error it raised."""

    def __init__(self, waits: LongWaits | None = None) -> None:
        """`waits`: tells of calls that last; None: nobody does."""
        self.listener: ConsumerRebalanceListener | None = None
        self.running = ""
        """The method that was called and has not returned; "" if there is none."""
        self._waits = waits
        self._error: KafkaError | None = None

    @property
    def is_caller(self) -> bool:
        """Whether the caller is a listener that has not returned, or a task made by one."""
        call = _running_call.get()
        while call is not None:
            if call.owner is self and not call.is_over:
                return True
            call = call.outer
        return False

    async def revoked(self, partitions: Collection[TopicPartition]) -> None:
        """Call on_partitions_revoked."""
        if self.listener is not None:
            await self._call(self.listener.on_partitions_revoked, partitions)

    async def assigned(self, partitions: Collection[TopicPartition]) -> None:
        """Call on_partitions_assigned."""
        if self.listener is not None:
            await self._call(self.listener.on_partitions_assigned, partitions)

    async def lost(self, partitions: Collection[TopicPartition]) -> None:
        """Call on_partitions_lost."""
        if self.listener is not None:
            await self._call(self.listener.on_partitions_lost, partitions)

    async def left(
        self,
        partitions: Collection[TopicPartition],
        listener: ConsumerRebalanceListener | None,
        *,
        is_lost: bool,
    ) -> None:
        """Tell `listener`, which may be a former one, that the member leaves the group."""
        if listener is not None and is_lost:
            await self._call(listener.on_partitions_lost, partitions)
        elif listener is not None:
            await self._call(listener.on_partitions_revoked, partitions)

    def take_error(self) -> KafkaError | None:
        """Return the first error since the last call, for the next poll to raise."""
        error, self._error = self._error, None
        return error

    async def _call(
        self,
        method: Callable[[set[TopicPartition]], object],
        partitions: Collection[TopicPartition],
    ) -> None:
        name = getattr(method, "__name__", quoted(method))
        call = _RunningCall(self, _running_call.get())
        token = _running_call.set(call)
        try:
            result = method(set(partitions))
            if inspect.isawaitable(result):
                self.running = name
                with self._wait_of(name):
                    await result
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            self._keep(name, error)  # of something the listener awaited; the rebalance goes on
        except Exception as error:  # noqa: BLE001  the next poll raises it
            self._keep(name, error)
        finally:
            # A task that outlives the call keeps its context; this says that the call is over.
            call.is_over = True
            self.running = ""
            _running_call.reset(token)

    def _wait_of(self, name: str) -> AbstractContextManager[object]:
        if self._waits is None:
            return nullcontext()
        return self._waits.of(
            f"{name}() of the rebalance listener {quoted(self.listener)} to return",
            "the rebalance, and records of the new partitions, wait for it: await less in it",
        )

    def _keep(self, name: str, error: BaseException) -> None:
        logger.error(
            "the rebalance goes on although %s raised an error", name, exc_info=trace_of(error)
        )
        if self._error is None:
            self._error = KafkaError(f"{name} of the rebalance listener raised {said(error)}")
            self._error.__cause__ = error


__all__ = ["ConsumerRebalanceListener", "ListenerCalls"]
