"""One consumer of the group and the application around it, which keeps the model's books.

The application is a single task: it takes its steps one after the other, and calls what it got
processed when it begins the next poll, when it commits, and when it leaves in order.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    FencedInstanceIdError,
    IllegalStateError,
    KafkaError,
)
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.adversity.cancelling import CallCancelled, cancelled
from tests.adversity.group.group_model import GroupModel
from tests.adversity.group.group_steps import (
    TOPICS,
    Cancel,
    Commit,
    Fail,
    Leave,
    Listening,
    Look,
    MemberOptions,
    OfMember,
    Pause,
    Poll,
    Rebalance,
    Resume,
    Seek,
    SeekTo,
    Way,
    Work,
)

API_TIMEOUT_MS = 5_000
STOP_S = 31.0
"""How long leaving may take while there is trouble."""
QUICK_STOP_S = 5.0
"""And while there is none, without the waits of a listener."""
SLACK_S = 0.5
LISTENER_WAITS_S = 3.0
DRAINS_BY = 3
DRAINS_FOR_MS = 1000
PAUSE_AFTER_ERROR_S = 0.1


class ApplicationError(Exception):
    """What an application may raise."""


class MemberListener(ConsumerRebalanceListener):
    """Tells the model whose the partitions are, and then does what it is here for."""

    def __init__(self, member: "Member") -> None:
        self._member = member

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self._member.lets_go("revoked", revoked)
        if self._member.options.listening is Listening.COMMITS:
            await self._member.commits_what_it_has()
        await self._go_on()

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self._member.is_assigned(assigned)
        try:
            await self._go_on()
        finally:
            self._member.may_read(assigned)

    async def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self._member.lets_go("lost", lost)
        await self._go_on()

    async def _go_on(self) -> None:
        if self._member.options.listening is Listening.WAITS:
            await self._member.clock.sleep(LISTENER_WAITS_S)
        elif self._member.options.listening is Listening.FAILS:
            raise ApplicationError("of the listener")


class Member:
    """A consumer, from its start to its end."""

    def __init__(
        self,
        name: str,
        consumer: AIOKafkaConsumer[Any, Any],
        options: MemberOptions,
        model: GroupModel,
        clock: FakeClock,
        group_members: Callable[[], set[str]],
    ) -> None:
        self.name = name
        self.consumer = consumer
        self.options = options
        self.clock = clock
        self.is_dead = False
        """Its process has died: what it still does counts for nothing."""
        self.is_draining = False
        """It does nothing but poll."""
        self.steps: asyncio.Queue[OfMember] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None
        self._model = model
        self._group_members = group_members
        self._stop_s = STOP_S
        model.joined(name)
        consumer.subscribe(TOPICS, listener=MemberListener(self))

    @property
    def is_over(self) -> bool:
        """Whether its place is free."""
        return self.is_dead or self.task is None or self.task.done()

    def is_in(self, group_members: set[str]) -> bool:
        """Whether the group has it as a member."""
        try:
            return self.consumer.group_metadata().member_id in group_members
        except (IllegalStateError, ConsumerStoppedError):  # it is starting, or has stopped
            return False

    # What the listener hears…

    def is_assigned(self, tps: set[TopicPartition]) -> None:
        """Partitions come."""
        if not self.is_dead:
            self._model.tell(f"{self.name} is assigned {_names(tps)}")
            self._model.assigned(self.name, tps, self._group_members())

    def may_read(self, tps: set[TopicPartition]) -> None:
        """The listener has heard enough of that."""
        if not self.is_dead:
            self._model.may_read(self.name, tps)

    def lets_go(self, how: str, tps: set[TopicPartition]) -> None:
        """Partitions go."""
        if not self.is_dead:
            self._model.tell(f"{self.name}: {how} {_names(tps)}")
            self._model.lets_go(self.name, tps)

    async def commits_what_it_has(self) -> None:
        """The application finishes its work at once, and commits."""
        if not self.is_dead and self.consumer.assignment():
            self._model.processed(self.name)
            await self.consumer.commit()

    # Its life…

    async def live(self) -> None:
        """Start, take steps until one of them is the last, and stop."""
        began_s = None
        try:
            async with self.consumer:
                try:
                    await self._take_steps()
                finally:
                    began_s = self.clock.monotonic()
        except (KafkaError, ApplicationError) as error:
            self._model.tell(f"{self.name} ends: {error!r}"[:300])
        if not self.is_dead:
            self._model.tell(f"{self.name} has left")
            took_s = 0.0 if began_s is None else self.clock.monotonic() - began_s
            if took_s > self._stop_s + SLACK_S:
                self._model.complain(f"{self.name} took {took_s:.1f} s to stop")
        self._model.gone(self.name)

    def drain(self) -> None:
        """Do nothing but poll from now on, once the steps there are have been taken."""
        self.is_draining = True
        self.steps.put_nowait(Resume(0))

    def die(self) -> None:
        """Let the model know it no more, and the consumer come to its end where nobody hears it."""
        self.is_dead = True
        self._model.gone(self.name)
        if self.task is not None:
            self.task.cancel()

    async def _take_steps(self) -> None:
        polls = 0
        while True:
            if self.is_draining and self.steps.empty():
                self.consumer.resume(*self.consumer.paused())
                await self._safely(self._poll(Poll(0, Way.GETMANY, DRAINS_BY, DRAINS_FOR_MS)))
                if self.options.auto_commit_interval_ms is None:
                    await self._safely(self._commit("all"))
                continue
            step = await self.steps.get()
            if isinstance(step, Leave):
                if self.is_draining:
                    is_slow = self.options.listening is Listening.WAITS
                    self._stop_s = QUICK_STOP_S + (3 * LISTENER_WAITS_S if is_slow else 0.0)
                self._model.processed(self.name)
                return
            if isinstance(step, Fail):
                raise ApplicationError("in the block")
            await self._take(step)
            polls += isinstance(step, Poll)
            if self.options.auto_commit_interval_ms is None and polls % 2:
                await self._safely(self._commit("all"))

    async def _take(self, step: OfMember) -> None:
        match step:
            case Poll():
                cancel = step.cancel
                if cancel is None and step.way in (Way.GETONE, Way.ITERATION):
                    cancel = Cancel(step.timeout_ms)
                await self._safely(self._poll(step), cancel)
            case Work(ms=ms):
                await self.clock.sleep(ms / 1000)
            case Seek():
                self._seek(step)
            case SeekTo(cancel=cancel):
                await self._safely(self._seek_to(step), cancel)
            case Pause(partition=partition):
                if (tp := self._owned(partition)) is not None:
                    self.consumer.pause(tp)
            case Resume():
                self.consumer.resume(*self.consumer.paused())
            case Commit(how=how, cancel=cancel):
                await self._safely(self._commit(how), cancel)
            case Look(cancel=cancel):
                await self._safely(self._look(), cancel)
            case Rebalance():
                self.consumer.enforce_rebalance()

    async def _safely(self, call: Coroutine[Any, Any, None], cancel: Cancel | None = None) -> None:
        """Make a call, perhaps cancel it; an application goes on after what Kafka refuses."""
        name = getattr(call, "__name__", "a call")
        cancels = () if cancel is None else (cancel,)
        try:
            await cancelled(call, cancels, self.clock)
        except (KafkaError, ConsumerStoppedError) as error:
            self._model.tell(f"{self.name}: {name} raised {error!r}"[:300])
            if isinstance(error, FencedInstanceIdError):
                raise
            await self.clock.sleep(PAUSE_AFTER_ERROR_S)
        except CallCancelled:
            self._model.tell(f"{self.name}: {name} was cancelled")

    # Its calls…

    async def _poll(self, step: Poll) -> None:
        only = () if step.only is None else tuple(filter(None, [self._owned(step.only)]))
        began_s = self.clock.monotonic()
        self._model.processed(self.name)
        match step.way:
            case Way.GETMANY:
                got = await self.consumer.getmany(
                    *only, timeout_ms=step.timeout_ms, max_records=step.records
                )
                self._took([record for part in got.values() for record in part])
            case Way.GETONE:
                for _ in range(step.records):
                    self._model.processed(self.name)
                    self._took([await self.consumer.getone(*only)])
            case Way.ITERATION:
                left = step.records
                async for record in self.consumer:
                    self._took([record])
                    left -= 1
                    if not left:
                        break
                    self._model.processed(self.name)
            case Way.COLUMNS | Way.COLUMNS_UNTIL:
                await self._poll_columns(step, only)
        took_s = self.clock.monotonic() - began_s
        bounded = step.way not in (Way.GETONE, Way.ITERATION)
        if bounded and took_s > step.timeout_ms / 1000 + SLACK_S:
            self._model.complain(f"{self.name}: {step.way.value} took {took_s:.1f} s")

    async def _poll_columns(self, step: Poll, only: tuple[TopicPartition, ...]) -> None:
        until = {}
        if step.way is Way.COLUMNS_UNTIL:
            owned = self._model.members[self.name].owned
            until = {tp: (own.expected or 0) + step.records for tp, own in owned.items()}
        table = await self.consumer.getmany_arrow(
            *only,
            timeout_ms=step.timeout_ms,
            max_records=step.records,
            columns=["topic", "partition", "offset", "value"],
            until=until,
        )
        columns = table.to_pydict()
        for topic, partition, offset, value in zip(
            columns["topic"],
            columns["partition"],
            columns["offset"],
            columns["value"],
            strict=True,
        ):
            self._returned(TopicPartition(topic, partition), offset, value)
        self.consumer.resume(*until.keys() & self.consumer.paused())

    def _took(self, records: list[ConsumerRecord[Any, Any]]) -> None:
        for record in records:
            tp = TopicPartition(record.topic, record.partition)
            self._returned(tp, record.offset, record.value or b"")

    def _returned(self, tp: TopicPartition, offset: int, value: bytes) -> None:
        if self.is_dead:
            return
        self._model.tell(f"{self.name} got {tp.topic}-{tp.partition}@{offset} {value.decode()}")
        if self.consumer.group_metadata().generation_id < 0:
            self._model.complain(f"{self.name} knows that it is no member, and got a record")
        self._model.returned(self.name, tp, offset, value)

    def _seek(self, step: Seek) -> None:
        tp = self._owned(step.partition)
        if tp is None:
            return
        own = self._model.members[self.name].owned[tp]
        log = self._model.logs.get(tp, [])
        end = log[-1].offset + 1 if log else 0
        offset = min(max((own.expected or 0) + step.by, 0), end)
        self._model.tell(f"{self.name} seeks {tp.topic}-{tp.partition}@{offset}")
        self._model.sought(self.name, tp, offset)
        self.consumer.seek(tp, offset)

    async def _seek_to(self, step: SeekTo) -> None:
        tp = self._owned(step.partition)
        if tp is None:
            return
        self._model.tell(
            f"{self.name} seeks the {'end' if step.is_end else 'beginning'} of {_names([tp])}"
        )
        if step.is_end:
            self._model.sought_end(self.name, tp)
            await self.consumer.seek_to_end(tp)
        else:
            self._model.sought_beginning(self.name, tp)
            await self.consumer.seek_to_beginning(tp)

    async def _commit(self, how: str) -> None:
        books = self._model.members[self.name]
        self._model.processed(self.name)
        began_s = self.clock.monotonic()
        if how == "given":
            offsets = {
                tp: own.expected for tp, own in books.owned.items() if own.expected is not None
            }
            for tp, offset in offsets.items():
                self._model.gives(tp, offset, books.owned[tp].topic_number)
            if offsets:
                await self.consumer.commit(offsets)
        elif self.consumer.assignment():
            if how == "async":
                self.consumer.commit_async(callback=lambda _, __: None)
            else:
                await self.consumer.commit()
        self._is_in_time("commit()", began_s)

    async def _look(self) -> None:
        """position() is what comes next; committed() answers."""
        for tp in sorted(self._model.members[self.name].owned):
            began_s = self.clock.monotonic()
            await self.consumer.committed(tp)
            self._is_in_time("committed()", began_s)
            began_s = self.clock.monotonic()
            if tp not in self.consumer.assignment():
                return
            await self.consumer.position(tp)
            self._is_in_time("position()", began_s)

    def _is_in_time(self, what: str, began_s: float) -> None:
        took_s = self.clock.monotonic() - began_s
        if took_s > API_TIMEOUT_MS / 1000 + SLACK_S:
            self._model.complain(f"{self.name}: {what} took {took_s:.1f} s")

    def _owned(self, number: int) -> TopicPartition | None:
        """Return one of the partitions that are certainly its own, None if it has none."""
        owned = sorted(self._model.members[self.name].owned.keys() & self.consumer.assignment())
        return owned[number % len(owned)] if owned else None


def _names(tps: Iterable[TopicPartition]) -> str:
    return ", ".join(f"{tp.topic}-{tp.partition}" for tp in sorted(tps)) or "nothing"
