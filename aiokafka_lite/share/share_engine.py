"""Owns the parts of a started share consumer: it makes them in one order, starts and closes them.

It does not know the public consumer. A consumer that starts again after a failure gets a new one.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from aiokafka_lite.checks.quoted import quoted, trace_of
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.cluster.metadata.refresh_failures import refused_topics
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.consumer.group.poll_watch import PollWatch
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.errors import ConsumerStoppedError, KafkaError, KafkaTimeoutError
from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.share.commit_call import CommitCall
from aiokafka_lite.share.held_locks import HeldLocks, LockHolder
from aiokafka_lite.share.held_records import GAP, HeldRecords
from aiokafka_lite.share.pending_acknowledgements import AckGroup, Outcome
from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.share.share_fetcher import ShareFetcher
from aiokafka_lite.share.share_membership import ShareMembership
from aiokafka_lite.share.share_poller import Found, SharePoller

if TYPE_CHECKING:
    from aiokafka_lite.metrics.statistics import ShareConsumerStatistics

logger = logging.getLogger(__name__)

AcknowledgementCallback = Callable[[dict[TopicPartition, set[int]], KafkaError | None], object]
"""`f({partition: offsets}, error or None)`."""

_SHARE_OF_SESSIONS = 0.7
"""Of the time to stop, how much closing the share sessions may take."""
_SHARE_OF_LEAVING = 0.85
"""Of the time to stop, when the group is left, whatever is not done by then."""
LEAST_S = 1.0
"""A stop may take so long, however short its time is."""
_SHARE_OF_ENGINE = 0.9
"""Of the time to stop, how much sessions and group may take; the rest is for the connections."""


class ShareEngine:
    """Client, membership, fetches and polls of one share consumer."""

    def __init__(
        self,
        config: ShareConsumerConfig,
        client: KafkaClient,
        signal: PollSignal,
        topics: Callable[[], frozenset[str]],
        callback: Callable[[], AcknowledgementCallback | None],
        holder: LockHolder | None = None,
    ) -> None:
        """`topics()` returns the subscription, `callback()` what hears of acknowledgements.
        `holder` holds records over polls: see `HeldLocks`.
        """
        self._config = config
        self._signal = signal
        self._topics = topics
        self._callback = callback
        self.client = client
        outlive_polls = holder is not None
        self.held = HeldRecords(
            keeps_records=config.is_explicit and not outlive_polls, outlive_polls=outlive_polls
        )
        self.membership = ShareMembership(
            config, client, topics, self._assignment_changed, self.release_everything
        )
        self.fetcher = ShareFetcher(
            config,
            client,
            self.membership.member_id,
            signal,
            self._report,
            self._session_lost,
        )
        self.locks = None if holder is None else HeldLocks(self.held, self.fetcher, client, holder)
        self.poller = SharePoller(config, client, signal, self.held, self.fetcher, self.membership)
        self._watch = PollWatch(config.max_poll_interval_ms / 1000)
        self._watch_task: OwnedTask | None = None
        self.acknowledged_records = 0
        """For how many records brokers have taken what the user said."""
        self.refused_acknowledgements = 0
        """For how many they have not."""

    # Life…

    async def start(self) -> None:
        """Connect, and with a subscription join the group.

        Raises: as `AIOKafkaShareConsumer.start`. Cancelled: the caller calls `give_up`, as after an
        error.
        """
        client = self.client
        client.metadata.add_listener(self._follow)
        client.metadata.set_topics(self._topics())
        await client.start()
        client.owner.add_failure_callback(lambda _error: self._signal.notify())
        refusal = refused_topics(self._topics(), client.metadata.snapshot)
        if refusal is not None:
            raise refusal
        self.membership.start()
        self._watch_task = client.owner.spawn(
            "poll_watch",
            self._watch.run,
            self.membership,
            client.clock,
            lambda: self.poller.returned_records,
        )
        if self._topics():
            await self._wait_until_joined(self._config.default_api_timeout_ms / 1000)

    async def _wait_until_joined(self, timeout_s: float) -> None:
        try:
            async with deadline(self.client.clock, timeout_s):
                while not self.membership.has_joined:
                    if self.poller.is_stopped:
                        raise ConsumerStoppedError("stopped before it had joined its group")
                    self.membership.raise_error()
                    self.client.check()
                    await self._signal.wait()
        except TimeoutError as error:
            if isinstance(error, KafkaError):
                raise
            raise KafkaTimeoutError(
                f"not in share group {quoted(self._config.group_id)} within {timeout_s:g} s "
                f"({self.membership!r}); check the coordinator, or raise default_api_timeout_ms"
            ) from error

    async def give_up(self) -> None:
        """Close everything after a start that failed."""
        await self.close_all(LEAST_S)

    def stop(self) -> None:
        """End every waiting poll, and every later one. Does not wait."""
        self.poller.stop()

    async def close_all(self, timeout_s: float) -> None:
        """Close sessions, group and connections, within `timeout_s`. Cancelled: as `close`."""
        clock = self.client.clock
        began_s = clock.monotonic()
        try:
            await self.close(timeout_s * _SHARE_OF_ENGINE)
        except TimeoutError:
            logger.warning(
                "%s: its group or sessions did not end within %.1f s", self.client.name, timeout_s
            )
        finally:
            left_s = timeout_s - (clock.monotonic() - began_s)
            await self.close_client(max(left_s, LEAST_S))

    async def close(self, timeout_s: float) -> None:
        """Send what was acknowledged, release the rest and leave the group, within `timeout_s`.

        Raises: TimeoutError. Cancelled: brokers release the records when the connections end. The
        group is left first.
        """
        clock = self.client.clock
        began_s = clock.monotonic()
        try:
            async with deadline(clock, timeout_s * _SHARE_OF_LEAVING):
                if self._watch_task is not None:
                    self._watch_task.cancel()
                await self.membership.close()
                self.release_everything()
                await self.fetcher.close(timeout_s * _SHARE_OF_SESSIONS)
        finally:
            left_s = max(timeout_s - (clock.monotonic() - began_s), 0.0)
            with anyio_shield():
                await self.membership.leave(left_s)

    async def close_client(self, timeout_s: float) -> None:
        """Close the connections, and end the tasks that are left, within `timeout_s`."""
        try:
            async with deadline(self.client.clock, timeout_s):
                await self.client.close()
        except TimeoutError:
            logger.warning(
                "%s: the client did not close within %.1f s", self.client.name, timeout_s
            )

    def acknowledge_held(self) -> None:
        """Send what workers have acknowledged. Does not wait."""
        if self.locks is not None:
            self.locks.let_go_of_expired()
        self.poller.send_acknowledged()

    def release_everything(self) -> None:
        """Release all that was not acknowledged. Does not wait."""
        self.held.release_all()
        self.fetcher.acknowledge(self.held.take())
        self.fetcher.release_buffered()

    # Following the subscription, the assignment and the metadata…

    def subscription_changed(self) -> None:
        """Follow another subscription; without one, release all and leave."""
        topics = self._topics()
        self.client.metadata.set_topics(topics)
        if not topics:
            self.release_everything()
        self.membership.subscription_changed()
        self._signal.notify()

    def _assignment_changed(self) -> None:
        assigned = self.membership.assigned
        replaced = self.fetcher.assign(assigned.partitions, assigned.ids)
        if self.locks is not None and replaced:
            self.locks.topics_replaced(replaced)
        self._watch.assigned(
            self.client.clock.monotonic(), owns_partitions=bool(assigned.partitions)
        )
        self._signal.notify()

    def _follow(self, _snapshot: MetadataSnapshot) -> None:
        self.membership.metadata_changed()
        self._signal.notify()

    # Calls…

    async def poll(self, max_records: int | None, timeout_s: float | None) -> Found:
        """As `SharePoller.poll`; the time between two of these calls is watched."""
        self._watch.poll_began()
        try:
            return await self.poller.poll(max_records, timeout_s)
        finally:
            self._watch.poll_ended(self.client.clock.monotonic(), mark=self.poller.returned_records)

    async def poll_beside(self, room: int, timeout_s: float) -> Found:
        """As `SharePoller.poll_beside`; it counts as a poll that watches the member."""
        assert self.locks is not None, "only workers hold records over polls"
        self.locks.let_go_of_expired()
        self._watch.poll_began()
        try:
            return await self.poller.poll_beside(room, timeout_s)
        finally:
            self._watch.poll_ended(self.client.clock.monotonic(), mark=self.poller.returned_records)

    def _session_lost(self, node_id: int) -> None:
        if self.locks is None:
            self.held.locks_ended(node_id)
        else:
            self.locks.session_lost(node_id)

    async def commit(self, timeout_s: float) -> dict[TopicPartition, KafkaError | None]:
        """Send what was acknowledged, and return the outcome of all that had none.

        Cancelled: it is sent all the same.
        """
        self.client.check()
        self.poller.send_acknowledged()
        call = CommitCall(self.fetcher.unanswered())
        with self.client.waits.of(
            "the nodes to answer acknowledgements (ShareAcknowledge)",
            "check the nodes that lead the partitions; records come again after their lock's end",
        ):
            return await call.wait(self.client.clock, timeout_s)

    def _report(self, group: AckGroup, outcome: Outcome) -> None:
        """Call the user's callback, once for each error and once for what went well."""
        for error in outcome.values():
            if error is not None:
                self.client.observer.failed("commit", error)
        if self.locks is not None:
            self.locks.answered(group, outcome)
        self._count(group, outcome)
        callback = self._callback()
        if callback is None:
            return
        by_error: dict[KafkaError | None, dict[TopicPartition, set[int]]] = {}
        for tp in group.of_user:
            offsets = {
                offset for batch in group.batches[tp] if batch.by_user for offset in batch.offsets()
            }
            if offsets:
                by_error.setdefault(outcome.get(tp), {})[tp] = offsets
        for error, told in by_error.items():
            try:
                callback(told, error)
            except Exception as failure:
                logger.error(  # noqa: TRY400 - not the text of the user's error
                    "the acknowledgement commit callback failed", exc_info=trace_of(failure)
                )

    def _count(self, group: AckGroup, outcome: Outcome) -> None:
        for tp in group.of_user:
            records = sum(
                len(batch.types) - batch.types.count(GAP)
                for batch in group.batches[tp]
                if batch.by_user
            )
            if outcome.get(tp) is None:
                self.acknowledged_records += records
            else:
                self.refused_acknowledgements += records

    # For those who ask what happens…

    @property
    def since_poll_s(self) -> float | None:
        """Seconds since the last poll ended; 0 while one runs, None while no poll is due."""
        return self._watch.waited_s(
            self.client.clock.monotonic(), mark=self.poller.returned_records
        )

    @property
    def must_be_acknowledged(self) -> int:
        """How many returned records keep the next poll from returning others."""
        asks = self._config.is_explicit and self.locks is None
        return self.held.unacknowledged if asks else 0


def statistics_of(counters: Counters, engine: ShareEngine | None) -> "ShareConsumerStatistics":
    """Return what is assigned, buffered and held, and the counts.

    `engine` None: the consumer was not started, so everything is 0 or empty.
    """
    from aiokafka_lite.metrics.statistics import (  # noqa: PLC0415
        BufferedFetch,
        ShareConsumerStatistics,
    )

    buffered = [] if engine is None else list(engine.fetcher.buffer)
    usage = (0, 0) if engine is None else engine.client.network.usage()
    return ShareConsumerStatistics(
        assigned=() if engine is None else tuple(sorted(engine.membership.assigned.partitions)),
        buffered=tuple(
            BufferedFetch(fetch.topic_partition, fetch.next_offset, fetch.size_in_bytes)
            for fetch in buffered
        ),
        unread_bytes=sum(fetch.size_in_bytes for fetch in buffered),
        held_records=0 if engine is None else engine.held.unacknowledged,
        since_poll_s=None if engine is None else engine.since_poll_s,
        fetching_nodes=frozenset() if engine is None else engine.fetcher.fetching_nodes,
        network=counters.network(open_connections=usage[0], in_flight=usage[1]),
        fetches=counters.fetches,
        fetched_bytes=counters.fetched_bytes,
        returned_records=0 if engine is None else engine.poller.returned_records,
        acknowledged_records=0 if engine is None else engine.acknowledged_records,
        refused_acknowledgements=0 if engine is None else engine.refused_acknowledgements,
    )


__all__ = ["LEAST_S", "AcknowledgementCallback", "ShareEngine", "statistics_of"]
