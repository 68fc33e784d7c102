"""The AIOKafkaConsumer that programs get under the name `aiokafka`."""

import inspect
import logging
import sys
from collections.abc import Callable
from typing import Any

from aiokafka_lite.compat.client import AIOKafkaClient, NotAllowedError, asserted, client_of
from aiokafka_lite.compat.defaults import signature_of, with_defaults
from aiokafka_lite.consumer import consumer as lite
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.consumer.position.subscription_state import SubscriptionMode
from aiokafka_lite.errors import (
    CommitFailedError,
    ConsumerStoppedError,
    RebalanceInProgressError,
)
from aiokafka_lite.model import KT, VT, TopicPartition

logger = logging.getLogger("aiokafka.consumer.group_coordinator")


class AIOKafkaConsumer(lite.AIOKafkaConsumer[KT, VT]):
    """As `aiokafka_lite.AIOKafkaConsumer`, with aiokafka's defaults, calls of listeners and errors.

    Raises: as that; ValueError for what aiokafka refuses.
    """

    __slots__ = ("_revocation",)

    def __init__(self, *topics: str, **options: Any) -> None:
        self._revocation = _Revocation()
        super().__init__(*topics, **with_defaults("AIOKafkaConsumer", options))

    __init__.__signature__ = signature_of("AIOKafkaConsumer")  # type: ignore[attr-defined]

    @property
    def client(self) -> AIOKafkaClient:
        """The connections and the metadata of this consumer."""
        return client_of(self)

    async def start(self) -> None:
        """As that of `aiokafka_lite.AIOKafkaConsumer`; a second call raises an AssertionError.

        Cancelled: as that.
        """
        with asserted():
            try:
                await super().start()
            except ConsumerStoppedError as error:
                raise NotAllowedError(str(error)) from error
        if self._engine is not None:
            self._engine.buffer.budget.passes_errors = True

    def subscribe(self, topics: Any = (), pattern: Any = None, listener: Any = None) -> None:
        """As that of `aiokafka_lite.AIOKafkaConsumer`. The listener is called as by aiokafka: not
        at `stop()` and `unsubscribe()`, and its errors are logged.
        """
        if isinstance(listener, ConsumerRebalanceListener):
            listener = _AsOften(listener, self._has_stopped(), self._revocation)
        super().subscribe(topics, pattern, listener)
        if listener is None:
            self._revocation = _Revocation()  # nobody is told what was given up before

    def unsubscribe(self) -> None:
        """As that of `aiokafka_lite.AIOKafkaConsumer`. The listener of the next subscription is
        told what was given up, as by aiokafka.
        """
        if self._subscription.is_subscribed:
            self._revocation.withheld |= self.assignment()
        if isinstance(self._listener, _AsOften):
            self._listener.is_over = True
        super().unsubscribe()

    def assign(self, partitions: Any) -> None:
        """As that of `aiokafka_lite.AIOKafkaConsumer`. An empty list is an assignment, too:
        subscribe() raises an IllegalStateError until unsubscribe().
        """
        super().assign(partitions)
        if self._subscription.mode is SubscriptionMode.NONE:
            self._subscription.assign_from_user(())

    def subscription(self) -> frozenset[str]:
        """Return the topics subscribed to, or those of the partitions that assign() was given."""
        state = self._subscription
        return state.topics if state.is_subscribed else frozenset(tp.topic for tp in state.queue())

    async def commit(self, offsets: Any = None) -> None:
        """As that of `aiokafka_lite.AIOKafkaConsumer`; while the group rebalances it raises
        CommitFailedError. Cancelled: as that.
        """
        views = sys.modules.get("aiokafka_lite.compat.views")
        if views is None or self._config.group_id is None or self._engine is None:
            await self._commit_offsets(offsets)
            return
        # A tracer may have patched the call of aiokafka's inside that has all commits.
        told = _Positions(self.consumed_offsets()) if offsets is None else offsets
        await views.GroupCoordinator.of(self).commit_offsets(None, told)

    async def _commit_offsets(self, offsets: Any) -> None:
        try:
            await super().commit(None if isinstance(offsets, _Positions) else offsets)
        except RebalanceInProgressError as error:
            raise CommitFailedError(str(error)) from error

    def pause(self, *partitions: TopicPartition) -> None:
        """As that of `aiokafka_lite.AIOKafkaConsumer`; AssertionError for what is not assigned."""
        with asserted():
            super().pause(*partitions)

    def resume(self, *partitions: TopicPartition) -> None:
        """As `pause`."""
        with asserted():
            super().resume(*partitions)

    def seek(self, partition: TopicPartition, offset: Any) -> None:
        """As `pause`."""
        with asserted():
            super().seek(partition, offset)

    def _has_stopped(self) -> Callable[[], bool]:
        # The consumer itself is left out: one that is dropped without stop() must be noticed.
        life = self._life
        return lambda: life.has_stopped


class _Positions(dict[TopicPartition, Any]):
    """The positions that `commit()` without offsets stores."""


class _Revocation:
    """What listeners of a consumer were told since its last assignment."""

    def __init__(self) -> None:
        self.withheld: set[TopicPartition] = set()
        """The partitions that `unsubscribe()` gave up. aiokafka tells them when the member joins
        again."""
        self.is_told = False
        """One was told: aiokafka tells one for each assignment."""


class _AsOften(ConsumerRebalanceListener):
    """Calls a listener as often as aiokafka would."""

    def __init__(
        self,
        listener: ConsumerRebalanceListener,
        has_stopped: Callable[[], bool],
        revocation: _Revocation,
    ) -> None:
        self._listener = listener
        self._has_stopped = has_stopped
        self.is_over = False
        """unsubscribe() has ended its subscription. It hears no more of that."""
        self._revocation = revocation

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _AsOften) and other._listener is self._listener

    def __hash__(self) -> int:
        return id(self._listener)

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        """Pass it on, unless the member leaves the group."""
        if self.is_over:
            return
        revocation = self._revocation
        revocation.withheld |= revoked
        if not self._has_stopped() and (revocation.withheld or not revocation.is_told):
            told, revocation.withheld = revocation.withheld, set()
            revocation.is_told = True
            await self._call(self._listener.on_partitions_revoked, told)

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        """Pass it on."""
        self._revocation.is_told = False
        await self._call(self._listener.on_partitions_assigned, assigned)

    async def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        """Call on_partitions_revoked: aiokafka has no other call."""
        await self.on_partitions_revoked(lost)

    async def _call(
        self, method: Callable[[set[TopicPartition]], Any], partitions: set[TopicPartition]
    ) -> None:
        try:
            result = method(partitions)
            if inspect.isawaitable(result):
                await result
        except Exception:
            logger.exception(
                "User provided subscription listener %s failed on %s",
                *(self._listener, method.__name__),
            )


__all__ = ["AIOKafkaConsumer"]
