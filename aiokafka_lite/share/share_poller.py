"""Owns the poll of a share consumer: what getmany and getone do between call and return.

Records are taken from the buffer and held in one step, without an await. So a cancelled poll loses
nothing: what was acquired for it waits for the next one. Source: KIP-932, ShareConsumerImpl.poll.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, NamedTuple

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.errors import (
    CorruptRecordException,
    IllegalStateError,
    KafkaTimeoutError,
    RecordDeserializationError,
)
from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.share.acquired_fetch import AcquiredFetch, Portion
from aiokafka_lite.share.held_records import HeldRecords, Record
from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.share.share_fetcher import ShareFetcher
from aiokafka_lite.share.share_membership import ShareMembership

logger = logging.getLogger(__name__)

_POLLS_A_TURN: Final = 8
_TURN_S: Final = 0.002
"""How many polls that find records run in a row, and for how long, until other tasks run."""
_ALL: Final = 2**31 - 1

Found = dict[TopicPartition, list[Record]]


class _Demand(NamedTuple):
    """What a poll takes, and what it lets nodes fetch."""

    limit: int
    is_soft: bool
    """Whether the rest of the last batch comes, too."""
    room: int | None = None
    is_beside: bool = False
    """Whether the caller holds records meanwhile."""


class SharePoller:
    """Runs the polls of one share consumer, one at a time."""

    def __init__(
        self,
        config: ShareConsumerConfig,
        client: KafkaClient,
        signal: PollSignal,
        held: HeldRecords,
        fetcher: ShareFetcher,
        membership: ShareMembership,
    ) -> None:
        self._config = config
        self._client = client
        self._signal = signal
        self._held = held
        self._fetcher = fetcher
        self._membership = membership
        self._is_polling = False
        self._is_stopped = False
        self._error: Exception | None = None
        self._preparation: OwnedTask | None = None
        self._prepared: TopicPartition | None = None
        self._is_cut_off = False
        self._polls_left = 0
        self._turn_ends_s = 0.0
        self.returned_records = 0
        """How many records polls have returned."""

    def stop(self) -> None:
        """End the waiting poll, and every later one. Does not wait."""
        self._is_stopped = True
        self._signal.notify()

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._is_stopped

    def send_acknowledged(self) -> None:
        """Send what the user has acknowledged; in implicit mode that is all that was returned."""
        if not self._config.is_explicit:
            self._held.accept_all()
        self._fetcher.acknowledge(self._held.take())

    async def poll(self, max_records: int | None, timeout_s: float | None) -> Found:
        """Return records once there are any; {} after `timeout_s`, or when stopped meanwhile.

        Raises: IllegalStateError while another poll runs, and for records that have to be
        acknowledged; errors of the group and of fetches; RecordDeserializationError,
        CorruptRecordException; KafkaError for a failed background task.
        Cancelled: nothing was taken, and what was acquired comes with the next poll.
        """
        limit = self._config.max_poll_records if max_records is None else max_records
        is_soft = max_records is None and not self._config.is_limited
        return await self._one_poll(_Demand(limit, is_soft), timeout_s)

    async def poll_beside(self, room: int, timeout_s: float) -> Found:
        """As `poll`, for callers that hold records meanwhile. Return all that was acquired.

        `room`: about how many records the next fetches may lock; 0 starts none.
        """
        return await self._one_poll(_Demand(_ALL, True, room, is_beside=True), timeout_s)

    async def _one_poll(self, demand: _Demand, timeout_s: float | None) -> Found:
        if self._is_polling:
            raise IllegalStateError(
                "another task waits in getmany() or getone(): a share consumer has one poll at a "
                "time, or nobody knew which records a poll accepts; use a consumer per task"
            )
        self._is_polling = True
        try:
            await self._let_others_run()
            self._begin(demand)
            return await self._poll(demand, timeout_s)
        finally:
            self._is_polling = False

    def _begin(self, demand: _Demand) -> None:
        self._client.check()
        self._membership.raise_error()
        must_ask = self._config.is_explicit and not demand.is_beside
        if must_ask and (left := self._held.unacknowledged):
            raise IllegalStateError(
                f"{left} returned records are not acknowledged: call acknowledge() for each before "
                f"the next getmany() or getone(), or use share_acknowledgement_mode='implicit'"
            )
        self.send_acknowledged()
        self._membership.poll_began()

    async def _poll(self, demand: _Demand, timeout_s: float | None) -> Found:
        clock = self._client.clock
        until_s = None if timeout_s is None else clock.monotonic() + timeout_s
        while not self._is_stopped:
            seen = self._signal.number
            is_busy = self._fetcher.is_renewing or self._is_preparing
            found = {} if is_busy else self._collect(demand.limit, is_soft=demand.is_soft)
            if found:
                return found
            if self._held and not demand.is_beside:
                self._fetcher.acknowledge(self._held.take())  # gaps only, such as aborted records
            if demand.room != 0 and not self._fetcher.buffer and not self._fetcher.is_renewing:
                self._fetcher.start_fetches(demand.room)
            self._client.check()
            self._membership.raise_error()
            if (error := self._fetcher.take_error()) is not None:
                raise error
            if until_s is not None and clock.monotonic() >= until_s:
                return {}
            await self._signal.wait(until_s, seen)
            self._fetcher.budget.begin()
        return {}

    async def _let_others_run(self) -> None:
        """Suspend now and then, also if each poll finds records in the buffer."""
        now_s = self._client.clock.monotonic()
        if (
            self._fetcher.buffer
            and self._polls_left
            and now_s < self._turn_ends_s
            and not self._fetcher.budget.is_spent
        ):
            self._polls_left -= 1
            return
        self._polls_left, self._turn_ends_s = _POLLS_A_TURN, now_s + _TURN_S
        await asyncio.sleep(0)
        self._fetcher.budget.begin()

    # Taking records…

    def _collect(self, limit: int, *, is_soft: bool) -> Found:
        """Take and hold what is there. Does not wait."""
        found: Found = {}
        self._is_cut_off = False
        now_s = self._client.clock.monotonic()
        taken = self._take_renewed(found, limit, now_s)
        if taken:
            return self._returned(found, taken)
        self._raise_kept(found)
        while self._fetcher.buffer and taken < limit:
            fetch = self._fetcher.buffer[0]
            if now_s >= fetch.expires_at_s:  # others have its records by now
                self._fetcher.buffer.popleft()
                fetch.release()
                continue
            taken += self._take_from(fetch, found, _ALL if is_soft else limit - taken)
            if self._is_cut_off or self._error is not None:
                break
            if fetch.is_drained:
                self._fetcher.buffer.remove(fetch)
                fetch.release()
        self._raise_kept(found)
        return self._returned(found, taken)

    def _returned(self, found: Found, taken: int) -> Found:
        """Count what a poll returns."""
        self.returned_records += taken
        if self._client.observer.is_heard:
            for tp, records in found.items():
                self._client.observer.records_returned(tp, len(records))
        return found

    def _raise_kept(self, found: Found) -> None:
        """Raise an error at a record once all records before it were returned."""
        error = self._error
        if error is None or found:
            return
        self._error = None
        raise error

    def _take_renewed(self, found: Found, limit: int, now_s: float) -> int:
        renewed, taken = self._fetcher.renewed, 0
        while renewed and taken < limit:
            tp, node_id, record, expires_at_s = renewed.popleft()
            offset = record.offset
            if now_s >= expires_at_s:  # others have it by now
                logger.info("%s-%d offset %d: its renewed lock has ended", *tp, offset)
                continue
            self._held.add(tp, node_id, offset, offset, [record], expires_at_s=expires_at_s)
            found.setdefault(tp, []).append(record)
            taken += 1
        return taken

    def _take_from(self, fetch: AcquiredFetch, found: Found, room: int) -> int:
        """Take up to `room` records of one fetch; return how many."""
        taken = 0
        while taken < room:
            try:
                portion = fetch.peek(room - taken)
            except CorruptRecordException as error:
                self._fetcher.drop(fetch)
                self._error = error
                return taken
            if portion is None:
                return taken
            if self._has_to_wait(fetch, portion):
                self._is_cut_off = True
                return taken
            records = portion.records
            if portion.failure is not None and (records or found):
                # What came before is returned first; the next poll comes here again.
                self._hold_before(fetch, portion, portion.failure, found)
                return taken + len(records)
            if portion.failure is not None:
                self._hold_failed(fetch, portion, portion.failure)
                return taken
            self._hold(fetch, portion.first, portion.last, records, found)
            fetch.took()
            taken += len(records)
            if self._fetcher.budget.is_spent:
                self._is_cut_off = True  # the rest of the program runs before the next records
                return taken
        return taken

    # Deserializers that wait…

    def _has_to_wait(self, fetch: AcquiredFetch, portion: Portion) -> bool:
        """Make objects of the portion's records, or begin to await what that needs."""
        deserializer = fetch.deserializer
        if deserializer is None or portion.failure is not None:
            return False
        if deserializer.is_async:
            if portion.done == len(portion.records):
                return False
            self._start_preparing(
                fetch, partial(fetch.deserialize_waiting, portion, self._client.clock)
            )
            return True
        unprepared = fetch.deserialize(portion)
        if unprepared is None:
            return False
        self._start_preparing(fetch, unprepared.prepare)
        return True

    @property
    def _is_preparing(self) -> bool:
        return self._preparation is not None and not self._preparation.done

    @property
    def prepares(self) -> TopicPartition | None:
        """The partition for whose records a deserializer waits; None: there is none."""
        return self._prepared if self._is_preparing else None

    def _start_preparing(
        self, fetch: AcquiredFetch, prepare: Callable[[], Awaitable[object]]
    ) -> None:
        self._prepared = fetch.topic_partition
        topic, partition = fetch.topic_partition
        self._preparation = self._client.owner.spawn(
            f"share.prepare[{topic}-{partition}]", self._prepare, prepare
        )

    async def _prepare(self, prepare: Callable[[], Awaitable[object]]) -> None:
        """Await deserializers for the next records. A poll raises what is no error of a record."""
        timeout_s = self._config.default_api_timeout_ms / 1000
        bound = deadline(self._client.clock, timeout_s)
        try:
            topic, partition = self._prepared or ("", 0)
            with self._client.waits.of(
                f"the deserializer of {topic}-{partition}",
                "check what it waits for, such as a schema registry",
            ):
                async with bound:
                    await prepare()
        except TimeoutError as error:
            self._error = error
            if bound.expired:
                self._error = KafkaTimeoutError(
                    f"a deserializer was not ready within {timeout_s:g} s"
                )
        except Exception as error:  # noqa: BLE001  a user's code may raise anything
            self._error = error
        finally:
            self._preparation = None
            self._signal.notify()

    def _hold(
        self, fetch: AcquiredFetch, first: int, last: int, records: list[Record], found: Found
    ) -> None:
        tp = fetch.topic_partition
        self._held.add(tp, fetch.node_id, first, last, records, expires_at_s=fetch.expires_at_s)
        if records:
            before = found.get(tp)
            if before is None:
                found[tp] = records
            else:
                before += records

    def _hold_before(
        self,
        fetch: AcquiredFetch,
        portion: Portion,
        failure: RecordDeserializationError,
        found: Found,
    ) -> None:
        if failure.offset > portion.first:
            self._hold(fetch, portion.first, failure.offset - 1, portion.records, found)
            portion.first, portion.records, portion.done = failure.offset, [], 0
        self._is_cut_off = True

    def _hold_failed(
        self, fetch: AcquiredFetch, portion: Portion, failure: RecordDeserializationError
    ) -> None:
        """Let the user, or in implicit mode the group, decide about the record that failed."""
        tp = fetch.topic_partition
        if failure.offset > portion.first:
            self._held.add(
                tp,
                fetch.node_id,
                portion.first,
                failure.offset - 1,
                [],
                expires_at_s=fetch.expires_at_s,
            )
        verdict = None if self._config.is_explicit else AcknowledgeType.RELEASE
        self._held.add_unreadable(
            tp, fetch.node_id, failure.offset, verdict, expires_at_s=fetch.expires_at_s
        )
        fetch.took()
        self._error = failure


__all__ = ["Found", "SharePoller"]
