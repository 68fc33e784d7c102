"""One exactly-once session and the application around it, which copies batches.

It does as the documentation says: after an error another batch follows, unless the error is fatal;
then the session ends, and another may take its place.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any

import anyio

from aiokafka_lite import ExactlyOnceSession
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.errors import IllegalStateError, InvalidProducerIdMapping, KafkaError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.adversity.cancelling import CallCancelled, cancelled
from tests.adversity.group.group_steps import Work
from tests.adversity.session.session_model import SessionModel
from tests.adversity.session.session_steps import (
    OUTPUT,
    OUTPUT_PARTITIONS,
    Copy,
    Ending,
    Leave,
    Limit,
    OfSession,
    Rebalance,
    Sending,
)

Records = Mapping[TopicPartition, Sequence[ConsumerRecord[Any, Any]]]
PAUSE_AFTER_ERROR_S = 0.1
DRAINS_BY_MS = 1000
BATCH_S = 35.0
"""How long a batch may take beside the work in its block: several calls that each time out."""


class ApplicationError(Exception):
    """What an application may raise."""


class LeavesError(ApplicationError):
    """Nobody catches it in the session's block."""


class SlowListener(ConsumerRebalanceListener):
    """Takes its time."""

    def __init__(self, clock: FakeClock, ms: int) -> None:
        self._clock = clock
        self._ms = ms

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        await self._clock.sleep(self._ms / 1000)

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        await self._clock.sleep(self._ms / 1000)


class SessionMember:
    """A session, from its start to its end."""

    def __init__(
        self,
        name: str,
        session: ExactlyOnceSession[Any, Any],
        model: SessionModel,
        clock: FakeClock,
    ) -> None:
        self.name = name
        self.session = session
        self.is_dead = False
        """Its process has died."""
        self.is_draining = False
        """It does nothing but copy."""
        self.steps: asyncio.Queue[OfSession] = asyncio.Queue()
        self.task: asyncio.Task[None] | None = None
        self._model = model
        self._clock = clock
        self._beside: set[asyncio.Task[Any]] = set()

    @property
    def is_over(self) -> bool:
        """Whether its place is free."""
        return self.is_dead or self.task is None or self.task.done()

    def end(self, times: int = 1) -> None:
        """Cancel its task."""
        if self.task is not None:
            for _ in range(times):
                self.task.cancel()

    def drain(self) -> None:
        """Do nothing but copy from now on, once the steps there are have been taken."""
        self.is_draining = True
        self.steps.put_nowait(Work(0, 0))

    async def live(self) -> None:
        """Start, take steps until one of them is the last, and stop."""
        try:
            async with self.session:
                await self._take_steps()
        except (KafkaError, ApplicationError) as error:
            self._tell(f"ends: {error!r}")
        except asyncio.CancelledError:
            self._tell("is ended")
        else:
            self._tell("has left")
        finally:
            await asyncio.gather(*self._beside, return_exceptions=True)

    async def _take_steps(self) -> None:
        while True:
            if self.is_draining and self.steps.empty():
                await self._safely(Copy(0, timeout_ms=DRAINS_BY_MS))
                continue
            match await self.steps.get():
                case Copy() as step:
                    await self._safely(step)
                case Work(ms=ms):
                    await self._clock.sleep(ms / 1000)
                case Rebalance():
                    self.session.consumer.enforce_rebalance()
                case Leave():
                    return

    async def _safely(self, step: Copy) -> None:
        """Copy a batch; go on after what is not fatal."""
        began_s = self._clock.monotonic()
        try:
            await cancelled(self._copy(step), step.cancels, self._clock)
        except CallCancelled:
            self._tell("a batch was cancelled")
        except LeavesError:
            raise
        except (KafkaError, TimeoutError, ApplicationError) as error:
            self._tell(f"a batch raised {error!r}")
            if isinstance(error, IllegalStateError):
                self._model.complain(f"{self.name}: {error!r}")
            if isinstance(error, KafkaError) and (error.fatal or _has_gone(error)):
                raise
            await self._clock.sleep(PAUSE_AFTER_ERROR_S)
        took_s = self._clock.monotonic() - began_s
        if took_s > BATCH_S + (step.timeout_ms + step.works_ms) / 1000:
            self._model.complain(f"{self.name}: a batch took {took_s:.1f} s")

    async def _copy(self, step: Copy) -> None:
        async with (
            _within(step),
            self.session.batch(timeout_ms=step.timeout_ms, max_records=step.records) as records,
        ):
            if records:
                self._tell(f"copies {_ranges(records)}")
                await self._send(step, records)
                await self._clock.sleep(step.works_ms / 1000)
                if step.ending is not Ending.RETURNS:
                    self._raise(step)
                self._tell("ends its block")
        self._tell("is behind a batch")

    async def _send(self, step: Copy, records: Records) -> None:
        producer = self.session.producer
        sends = []
        count = 0
        for tp, batch in records.items():
            for record in batch:
                if step.ending is not Ending.RETURNS and count == step.after:
                    await asyncio.sleep(0)  # what is sent beside, is called
                    self._raise(step)
                count += 1
                image = b"%d/%d" % (tp.partition, record.offset)
                where = tp.partition % OUTPUT_PARTITIONS
                match step.sending:
                    case Sending.ONE_BY_ONE:
                        await producer.send(OUTPUT, image, partition=where)
                    case Sending.ACKNOWLEDGED:
                        await producer.send_and_wait(OUTPUT, image, partition=where)
                    case Sending.BESIDE:
                        task = asyncio.ensure_future(producer.send(OUTPUT, image, partition=where))
                        sends.append(task)
                        self._beside.add(task)
        if sends:
            await asyncio.wait(sends)
            for send in sends:
                send.result()

    def _raise(self, step: Copy) -> None:
        raise LeavesError if step.ending is Ending.LEAVES else ApplicationError

    def _tell(self, sentence: str) -> None:
        self._model.tell(f"{self.name} {sentence}"[:300])


def _within(step: Copy) -> AbstractAsyncContextManager[Any]:
    match step.limit:
        case Limit.ASYNCIO:
            return asyncio.timeout(step.limit_ms / 1000)
        case Limit.ANYIO:
            return _move_on_after(step.limit_ms / 1000)
    return nullcontext()


@asynccontextmanager
async def _move_on_after(seconds: float) -> AsyncIterator[None]:
    with anyio.move_on_after(seconds):
        yield


def _ranges(records: Records) -> str:
    return ", ".join(
        f"{tp.topic}-{tp.partition}@{batch[0].offset} to @{batch[-1].offset}"
        for tp, batch in records.items()
    )


def _has_gone(error: KafkaError) -> bool:
    """Whether another producer may have taken over: this one is replaced (Kafka 4.0)."""
    return isinstance(error, InvalidProducerIdMapping)


__all__ = ["SessionMember", "SlowListener"]
