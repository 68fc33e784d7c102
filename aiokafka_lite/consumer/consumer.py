"""Owns the consumer's public face: names, signatures and error texts are aiokafka's.

It checks arguments and the consumer's life, and hands the work to the parts behind it. Background
tasks never refer to it, so that an unclosed consumer is noticed by its `__del__`.
"""

import asyncio
import logging
import random
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Generic, Self

import anyio

from aiokafka_lite.arrow.record_columns import (
    USES_NATIVE_COLUMNS,
    RecordColumns,
    RecordColumnsBuilder,
)
from aiokafka_lite.arrow.record_schema import field_mask, require_pyarrow
from aiokafka_lite.broker_errors import for_code
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.client_config import DefaultInt
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.running_loop import running_loop
from aiokafka_lite.concurrency.waiting_calls import WaitingCalls
from aiokafka_lite.consumer.consumer_arguments import (
    AS_ARGUMENTS,
    check_partitions,
    checked_pattern,
    checked_topics,
    is_int_from,
    warn_about_group_options,
    warn_about_options_without_effect,
)
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.decoded_records import RecordIteration
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.consumer.offset_calls import OffsetCalls
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.leader_watch import why_unreadable
from aiokafka_lite.consumer.position.subscription_state import (
    FetchState,
    OffsetResetStrategy,
    PartitionState,
    SubscriptionMode,
    SubscriptionState,
)
from aiokafka_lite.consumer.record_poller import RecordPoller
from aiokafka_lite.consumer.stop_bounds import divide_stop_time
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    IllegalOperation,
    IllegalStateError,
    KafkaTimeoutError,
    RecordTooLargeError,
)
from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.model import KT, VT, ConsumerRecord, OffsetAndMetadata, TopicPartition
from aiokafka_lite.options.constructor import check_names, declare_options
from aiokafka_lite.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponseTopic,
)

if TYPE_CHECKING:
    from typing import Unpack

    import pyarrow as pa

    from aiokafka_lite.consumer.consumer_options import ConsumerOptions
    from aiokafka_lite.consumer.group.consumer_group import ConsumerGroup
    from aiokafka_lite.metrics.statistics import ConsumerStatistics

logger = logging.getLogger(__name__)

_NO_LIMIT = 2**31 - 1
_NO_ENDS: Mapping[TopicPartition, int] = MappingProxyType({})
_TO_CLOSE = "await its stop(), or use it as `async with consumer:`"


class ConsumerState(Enum):
    """Where a consumer stands in its life."""

    NEW = "not started"  # a start that failed comes back here
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"  # no more records; a listener may still commit
    STOPPED = "stopped"  # for good


class AIOKafkaConsumer(RecordIteration, OffsetCalls, Generic[KT, VT]):
    """Reads records from the partitions of Kafka topics.

        async with AIOKafkaConsumer("orders", bootstrap_servers="localhost:9092") as consumer:
            async for record in consumer:
                ...

    Consumers with the same `group_id` share the partitions of their topics, and start where the
    group has committed. Joining, heartbeats and rebalances run in the background; they do not wait
    for polls. Without a group, a consumer reads all partitions of its topics, or those given to
    `assign()`. The constructor does no I/O and needs no event loop.

    `fetch_max_bytes` limits one response to a fetch, `max_partition_fetch_bytes` one partition in
    it. Both limits are soft: the first batch always comes, so no record gets stuck. Keep them above
    the broker's `message.max.bytes`, or large batches come one at a time. Each node has at most
    `fetch_buffer_bytes` + `fetch_max_bytes` of fetched data that was not returned, and one oversize
    batch. That takes at most twice as much memory. `max_poll_records` limits what one poll returns,
    not what is fetched.

    `loop`, `api_version` and `consumer_timeout_ms` have no effect; `clock` and `rng` are for tests.
    docs/options.md describes the other options.

    Raises: KafkaConfigurationError, a ValueError, naming every wrong option at once.
    FeatureNotSupportedError, a kind of it, for an option whose feature comes with a later version.
    TypeError for topics that are no strings. Warns: UserWarning for options of groups without
    `group_id`, DeprecationWarning for options without effect.
    """

    def __init__(
        self,
        *topics: str,
        loop: asyncio.AbstractEventLoop | None = None,
        api_version: str | None = None,
        consumer_timeout_ms: int | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        **options: "Unpack[ConsumerOptions[KT, VT]]",
    ) -> None:
        warn_about_options_without_effect(loop, api_version, consumer_timeout_ms)
        check_names(self, AIOKafkaConsumer.__init__, ConsumerConfig, options)
        self._config = ConsumerConfig(**options)  # type: ignore[arg-type]  # a client_id of None
        warn_about_group_options(self._config.group_options_without_group)
        self._clock = clock if clock is not None else SYSTEM_CLOCK
        self._rng = rng
        self._state = ConsumerState.NEW
        self._signal = PollSignal(self._clock)
        self._counters = Counters()
        self._subscription = SubscriptionState(
            OffsetResetStrategy.from_option(self._config.auto_offset_reset)
        )
        self._poller: RecordPoller | None = None
        self._listener: ConsumerRebalanceListener | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting_calls = WaitingCalls(self._clock, _stopped_meanwhile)
        if topics:
            self._subscription.subscribe(checked_topics(topics, AS_ARGUMENTS))

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"<{name} client_id={self._config.client_id!r} {self._state.value}>"

    def __del__(self, _warn: Callable[..., None] = warnings.warn) -> None:
        # Absent when the constructor raised.
        poller = getattr(self, "_poller", None)
        if poller is None or self._state is ConsumerState.STOPPED:
            return
        _warn(f"Unclosed AIOKafkaConsumer {self!r}: {_TO_CLOSE}", ResourceWarning, source=self)
        poller.client.owner.close_soon()
        if self._loop is not None and not self._loop.is_closed():
            context = {"consumer": self, "message": "Unclosed AIOKafkaConsumer"}
            self._loop.call_exception_handler({**context, "remedy": _TO_CLOSE})

    @property
    def client(self) -> KafkaClient | None:
        """The cluster as this consumer sees it; None before `start()`."""
        return None if self._poller is None else self._poller.client

    # Life…

    async def start(self) -> None:
        """Connect, learn of the topics subscribed to, and with a group wait for an assignment.

        All or nothing: a start that fails leaves no task, socket or timer, and may be repeated.

        Raises: KafkaConnectionError naming every address tried and what happened there, within
        `request_timeout_ms`; InvalidTopicError or TopicAuthorizationFailedError at once. Without a
        group: UnknownTopicOrPartitionError or KafkaTimeoutError naming a topic that has no
        partitions within `default_api_timeout_ms`. With one: what the coordinator refuses for good,
        such as InvalidSessionTimeoutError or GroupAuthorizationFailedError; KafkaTimeoutError
        without an assignment within `default_api_timeout_ms`, or the rebalance timeout, if longer.
        IllegalStateError when called twice, ConsumerStoppedError when stopped before or meanwhile.
        Cancelled: as if it had failed.
        """
        if self._state is ConsumerState.STOPPED:
            raise ConsumerStoppedError(f"{self!r} cannot be started again; make a new one")
        if self._state is not ConsumerState.NEW:
            raise IllegalStateError(f"{self!r}: did you call start() twice?")
        self._loop = running_loop()
        self._state = ConsumerState.STARTING
        client = KafkaClient(
            self._config,
            clock=self._clock,
            rng=self._rng,
            name=f"consumer {self._config.client_id}",
            allow_auto_topic_creation=self._config.allow_auto_create_topics,
            observer=self._counters,
        )
        self._poller = RecordPoller(self._config, client, self._subscription, self._signal)
        try:
            await self._start(self._poller)
            self._not_stopped()
            self._state = ConsumerState.RUNNING
            self.decoded = self._poller.collector.decoded
        except BaseException as error:
            try:
                with anyio.CancelScope(shield=True):
                    await self._give_up(self._poller)
            finally:  # also when it is cancelled once more
                self._poller = None
                if not self._has_stopped():
                    self._state = ConsumerState.NEW
            if self._has_stopped():
                raise ConsumerStoppedError(f"{self!r} while it was starting") from error
            raise

    @staticmethod
    async def _give_up(poller: RecordPoller) -> None:
        try:
            if poller.group is not None:
                await poller.group.close(divide_stop_time(0), processed_all=False)
        finally:
            await poller.client.close()

    async def _start(self, poller: RecordPoller) -> None:
        client = poller.client
        client.metadata.add_listener(poller.follow)
        poller.set_topics_of_interest()
        await client.start()
        client.owner.add_failure_callback(poller.look_again)
        bound_s = self._config.default_api_timeout_ms / 1000
        if poller.group is None:
            await self._wait_for_topics(client, bound_s)
        else:
            self._raise_hopeless_topics(client.metadata.snapshot)
        poller.follow(client.metadata.snapshot)
        if poller.group is not None:
            poller.group.listeners.listener = self._listener
            poller.group.start()
            if self._subscription.is_subscribed:
                await poller.group.wait_for_assignment(max(bound_s, poller.group.join_timeout_s))

    async def _wait_for_topics(self, client: KafkaClient, bound_s: float) -> None:
        until_s = self._clock.monotonic() + bound_s
        for topic in sorted(self._subscription.topics):
            left_s = until_s - self._clock.monotonic()
            await client.metadata.wait_for_topic(topic, max(left_s, 0.0))

    def _raise_hopeless_topics(self, snapshot: MetadataSnapshot) -> None:
        """A group waits for topics that do not exist yet, but not for those that never will."""
        for topic in sorted(self._subscription.topics):
            said = snapshot.topic_error(topic)
            if said is not None and not said.retriable:
                raise said(f"topic {topic!r}: {said.description}")

    async def stop(self, timeout_ms: int = DefaultInt(30_000)) -> None:
        """Stop reading and close everything, within `timeout_ms` (a second at least; not given:
        `stop_timeout_ms`). When no broker of its group can be reached, it takes no more than five
        seconds. Idempotent.

        Calls that wait in other tasks raise ConsumerStoppedError, a pending `getmany` returns {}.
        Fetches on their way are given up. With a group, what was returned so far is committed if
        commits are automatic, `on_partitions_revoked` is called, and the group is left, by static
        members not. Fetch sessions are closed if the brokers can be reached. What fails meanwhile
        is logged.

        After the end of its event loop there is nothing left to close.

        Raises: IllegalStateError inside a rebalance listener, in tasks that it has made and not
        returned from, and in another event loop than that of start(), while that one runs.
        Cancelled: what was not committed is read again by the next owner; sockets and tasks still
        end.
        """
        await self._stop(timeout_ms, processed_all=True)

    async def _stop(self, timeout_ms: int, *, processed_all: bool) -> None:
        if isinstance(timeout_ms, DefaultInt):
            timeout_ms = self._config.stop_timeout_ms
        poller = self._poller
        if self._state in (ConsumerState.NEW, ConsumerState.STOPPED) or poller is None:
            self._state = ConsumerState.STOPPED
            return
        if poller.client.loop.has_ended:
            self._state = ConsumerState.STOPPED
            logger.warning("%r: its event loop has ended before stop()", self)
            return
        self._check_loop()
        group = poller.group
        if group is not None and group.listeners.is_caller:
            raise IllegalStateError(
                "stop() inside a rebalance listener would wait for itself: let the listener "
                "return, and stop the consumer afterwards"
            )
        if self._state is ConsumerState.STOPPING:
            await self._is_stopped(timeout_ms / 1000)
            return
        if self._state is ConsumerState.STARTING:
            self._state = ConsumerState.STOPPED
            poller.stop()
            await self._close_client(poller, timeout_ms / 1000)
            return
        self._state = ConsumerState.STOPPING
        poller.stop()
        self._waiting_calls.end()
        bounds = divide_stop_time(timeout_ms)
        began_s = self._clock.monotonic()
        unheard_s = 0.0
        try:
            async with deadline(self._clock, bounds.total_s):
                if group is not None:
                    await group.close(bounds, processed_all=processed_all)
                    unheard_s = group.offsets.unheard_s(began_s)
                elapsed_s = self._clock.monotonic() - began_s
                await poller.fetcher.close(bounds.sessions_s(elapsed_s, unheard_s))
        except TimeoutError:
            logger.warning("%r: its group or fetches did not end within %d ms", self, timeout_ms)
        finally:
            self._state = ConsumerState.STOPPED
            self._waiting_calls.end()  # those of a listener
            left_s = bounds.total_s - (self._clock.monotonic() - began_s)
            await self._close_client(poller, max(left_s, 1.0))
            self._signal.notify()

    async def _is_stopped(self, timeout_s: float) -> None:
        """Wait for another call of stop() to end, at most that long."""
        until_s = self._clock.monotonic() + timeout_s
        while self._state is ConsumerState.STOPPING and self._clock.monotonic() < until_s:
            await self._signal.wait(until_s)

    async def _close_client(self, poller: RecordPoller, timeout_s: float) -> None:
        try:
            async with deadline(self._clock, timeout_s):
                await poller.client.close()
        except TimeoutError:
            logger.warning("%r: the client did not close within %.1f s", self, timeout_s)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Shielded: a cancelled anyio scope around us would strike at every await of stop().
        with anyio.CancelScope(shield=True):
            if exc_type is None:
                await self.stop()
            else:  # what the newest poll returned may not be processed (B7)
                await self._stop(self._config.stop_timeout_ms, processed_all=False)

    def _has_stopped(self) -> bool:
        return self._state in (ConsumerState.STOPPING, ConsumerState.STOPPED)

    def _running(self) -> RecordPoller:
        """Return the engine. Raises IllegalStateError before start() and in another event loop,
        ConsumerStoppedError once stop() is called; a listener may use it before start() has
        returned, and while stop() runs.
        """
        self._check_loop()
        if self._poller is not None and (
            self._state is ConsumerState.RUNNING
            or (self._state is not ConsumerState.STOPPED and self._is_in_listener())
        ):
            return self._poller
        self._not_stopped()
        raise IllegalStateError(
            f"{self!r}: await its start() first, or use it as `async with consumer:`"
        )

    def _is_in_listener(self) -> bool:
        """Whether the caller is a rebalance listener, or a task made by one."""
        group = self._group_or_none()
        return group is not None and group.listeners.is_caller

    # What to read…

    def subscribe(
        self,
        topics: Iterable[str] = (),
        pattern: str | None = None,
        listener: ConsumerRebalanceListener | None = None,
    ) -> None:
        """Read `topics`, or those whose whole beginning matches the regular expression `pattern`
        (as `re.match` does), in place of the topics subscribed to before.

        With a group, this member's share of their partitions; it rejoins in the background, unless
        topics, pattern and listener are the same, and `listener` hears what comes and goes. Without
        one, all of their partitions. Topics that come into being, and partitions that a topic
        gains, are noticed with the metadata, at the latest after `metadata_max_age_ms`. Works
        before start().

        Raises: TypeError without topics, with both arguments, for topics that are no list of
        strings, or a listener of another type; InvalidTopicError for a name no topic can have;
        ValueError for a pattern that is no regular expression; IllegalStateError after assign(),
        or to change between topics and pattern;
        IllegalOperation for a listener without group_id; ConsumerStoppedError.
        """
        self._not_stopped()
        if not (topics or pattern):
            raise TypeError("You should provide either `topics` or `pattern`")
        if topics and pattern:
            raise TypeError("You can't provide both `topics` and `pattern`")
        if listener is not None and not isinstance(listener, ConsumerRebalanceListener):
            raise TypeError("listener should be an instance of ConsumerRebalanceListener")
        by_group = self._config.group_id is not None
        if listener is not None and not by_group:
            raise IllegalOperation("listener requires group_id: without one nothing is revoked")
        before = self._subscription.topics, self._subscription.pattern, self._listener
        if pattern is not None:
            self._subscription.subscribe_pattern(checked_pattern(pattern), by_group=by_group)
        else:
            self._subscription.subscribe(checked_topics(topics), by_group=by_group)
        self._listener = listener
        self._assignment_changed()
        group = self._group_or_none()
        if group is None:
            return
        group.listeners.listener = listener
        if (self._subscription.topics, self._subscription.pattern, listener) != before:
            group.membership.request_rejoin("the subscription has changed")

    def unsubscribe(self) -> None:
        """Let go of all topics and partitions, and of what is buffered of them.

        With a group, the listener hears of it and the group is left, in the background; nothing is
        committed. subscribe() and assign() are both open again. Raises: ConsumerStoppedError.
        """
        self._not_stopped()
        group, owned = self._group_or_none(), self._subscription.assignment
        was_subscribed = self._subscription.is_subscribed
        self._subscription.unsubscribe()
        if group is not None and was_subscribed:
            group.unsubscribed(owned)
        self._assignment_changed()

    def _group_or_none(self) -> "ConsumerGroup | None":
        return None if self._poller is None else self._poller.group

    def subscription(self) -> frozenset[str]:
        """Return the topics subscribed to; empty after assign()."""
        return self._subscription.topics

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read exactly these partitions; those that were assigned before keep their position.

        Raises: TypeError for anything but TopicPartitions, InvalidTopicError for a name no topic
        can have, IllegalStateError after subscribe(), ConsumerStoppedError.
        """
        self._not_stopped()
        wanted = list(partitions)
        check_partitions(wanted)
        if wanted:
            self._subscription.assign_from_user(wanted)
        elif self._subscription.is_subscribed:
            self._subscription.assign_from_user(())  # raises: the two ways do not mix
        else:
            self._subscription.unsubscribe()
        group = self._group_or_none()
        if group is not None:
            group.assigned_by_user()
        self._assignment_changed()

    def assignment(self) -> frozenset[TopicPartition]:
        """Return the partitions that are read; empty until the subscribed topics are known."""
        return self._subscription.assignment

    def _assignment_changed(self) -> None:
        if self._poller is not None:
            self._poller.assignment_changed()
            self._poller.follow(self._poller.client.metadata.snapshot)

    def _not_stopped(self) -> None:
        self._check_loop()
        if self._has_stopped():
            raise ConsumerStoppedError(f"{self!r} takes no more calls; make a new consumer")

    def _check_loop(self) -> None:
        if self._poller is not None and self._state is not ConsumerState.STOPPED:
            self._poller.client.loop.check()

    # Reading…

    async def getone(self, *partitions: TopicPartition) -> ConsumerRecord[KT, VT]:
        """Return the next record, of `partitions` only if any are named; wait for it without bound.

        Raises: ConsumerStoppedError when stopped before or meanwhile; IllegalStateError before
        start(), without any subscription or assignment, or for a partition that assign() was not
        given; one that the group has given to another member is waited for.
        NoOffsetForPartitionError, OffsetOutOfRangeError, until the user has sought any partition,
        and then when the others have nothing; TopicAuthorizationFailedError,
        UnknownTopicOrPartitionError;
        RecordDeserializationError, CorruptRecordException and RecordTooLargeError, which keep the
        position: `seek()` past the record to go on. The other partitions are read on meanwhile, and
        the error comes again when they have nothing. Cancelled: no record is lost; the position
        moves only with what is returned.
        """
        if not partitions:
            decoded = self.decoded
            if decoded is not None and (record := decoded.take()) is not None:
                return record
        poller = self._running()
        if partitions:
            self._check_readable(partitions)
        elif self._subscription.mode is SubscriptionMode.NONE:
            raise IllegalStateError(
                "nothing is subscribed or assigned, so that no record can come: subscribe() to "
                "topics or assign() partitions first"
            )
        return await poller.poll_for(partitions, poller.collector.collect_one, None)

    own_getone = getone

    async def getmany(
        self,
        *partitions: TopicPartition,
        timeout_ms: float = 0,
        max_records: int | None = None,
    ) -> dict[TopicPartition, list[ConsumerRecord[KT, VT]]]:
        """Return records by partition, each in offset order, of `partitions` only if any are named.

        Waits up to `timeout_ms` for the first record and returns what is there then: at most
        `max_records` (None: `max_poll_records`), the rest with the next polls. {} when there was
        none, or when the consumer is stopped meanwhile. With `timeout_ms=0` what is buffered is
        returned, and the next fetch is on its way.

        Raises: ValueError for `max_records` < 1 or a negative timeout; else as `getone`.
        Cancelled: no record is lost; a fetch on its way serves the next poll.
        """
        poller = self._running()
        if partitions:
            self._check_readable(partitions)
        limit = self._checked_limit(timeout_ms, max_records)
        return await poller.poll(partitions, limit, timeout_ms / 1000)

    async def getmany_arrow(
        self,
        *partitions: TopicPartition,
        timeout_ms: float = 0,
        max_records: int | None = None,
        max_bytes: int | None = None,
        columns: Iterable[str] | None = None,
        until: Mapping[TopicPartition, int] = _NO_ENDS,
    ) -> "pa.RecordBatch":
        """Return records of all partitions as one pyarrow.RecordBatch, 0 rows if there are none.

        Takes what `getmany` would, partition by partition, with no Python object for a record. The
        columns are topic, partition, offset, timestamp, timestamp_type, key, value and headers, or
        those of them that `columns` names; keys and values are the bytes that were sent. The batch
        has at most `max_records` rows (None: `max_poll_records`, which is small for a table) and
        ends with the record that reaches `max_bytes`, or at 2 GiB in one column.

        `until` names offsets to read to: a partition whose position has come there, or further, is
        paused, so that nothing behind is fetched for it; and when all of them have, the call
        returns at once, with no rows if there are none: the end of a log may hold only markers of
        transactions, or what compaction has left. Records behind such an offset may still come, as
        far as they were fetched together with those before.

        Raises: IllegalOperation with a deserializer; ImportError without pyarrow, before anything
        is taken; ValueError for a wrong number or column; IllegalStateError, with nothing taken,
        for an `until` of a partition that is not assigned, or not any more; else as `getmany`.
        Cancelled: as there.
        """
        require_pyarrow()
        taken = await self.getmany_columns(
            *partitions,
            timeout_ms=timeout_ms,
            max_records=max_records,
            max_bytes=max_bytes,
            columns=columns,
            until=until,
        )
        return taken.to_pyarrow()

    async def getmany_columns(
        self,
        *partitions: TopicPartition,
        timeout_ms: float = 0,
        max_records: int | None = None,
        max_bytes: int | None = None,
        columns: Iterable[str] | None = None,
        until: Mapping[TopicPartition, int] = _NO_ENDS,
    ) -> RecordColumns:
        """Return what `getmany_arrow` would, for libraries other than pyarrow.

        Polars, DuckDB, nanoarrow and others take it by the Arrow PyCapsule interface, without a
        copy. The native build needs no pyarrow for it, the pure one does.

        Raises, Cancelled: as `getmany_arrow`.
        """
        poller = self._running()
        self._check_readable(partitions)
        self._check_readable(until)
        if self._config.key_deserializer or self._config.value_deserializer:
            raise IllegalOperation(
                "Arrow columns hold the bytes that were sent, and this consumer has a "
                "deserializer; make one without key_deserializer and value_deserializer"
            )
        limit = self._checked_limit(timeout_ms, max_records)
        if max_bytes is not None and not is_int_from(1, max_bytes):
            raise ValueError(f"max_bytes={max_bytes!r} is not a positive int")
        builder = RecordColumnsBuilder(limit, max_bytes, fields=field_mask(columns))
        if not USES_NATIVE_COLUMNS:
            require_pyarrow()
        await poller.poll_columns(partitions, builder, timeout_ms / 1000, until)
        return builder.finish()

    def _checked_limit(self, timeout_ms: float, max_records: int | None) -> int:
        """Return how many records one poll may return. Raises ValueError."""
        if max_records is not None and not is_int_from(1, max_records):
            raise ValueError("`max_records` must be a positive Integer")
        if timeout_ms < 0:
            raise ValueError(f"timeout_ms={timeout_ms} is negative; use 0 not to wait")
        return max_records or self._config.max_poll_records or _NO_LIMIT

    def _check_readable(self, partitions: Collection[TopicPartition]) -> None:
        """Refuse partitions that no record can ever come from: only assign() brings others."""
        check_partitions(partitions)
        if not self._subscription.is_subscribed:
            for tp in partitions:
                self._subscription.assigned(tp)

    def __aiter__(self) -> Self:
        self._not_stopped()
        return self

    if TYPE_CHECKING:

        async def __anext__(self) -> ConsumerRecord[KT, VT]: ...

    async def next_by_getone(self) -> ConsumerRecord[KT, VT]:
        """Return the next record, by `getone`; the iteration ends when the consumer is stopped.

        RecordTooLargeError is logged, everything else is raised.
        """
        while True:
            try:
                return await self.getone()
            except ConsumerStoppedError:
                raise StopAsyncIteration from None
            except RecordTooLargeError as error:
                logger.error("iteration goes on after: %s", error)  # noqa: TRY400 - it says all

    def pause(self, *partitions: TopicPartition) -> None:
        """Return no records of `partitions` until resume(); what is buffered of them is kept.

        Raises: TypeError, IllegalStateError for a partition that is not assigned and in another
        event loop.
        """
        self._check_loop()
        check_partitions(partitions, "partitions must be TopicPartition namedtuples")
        for tp in partitions:
            self._subscription.pause(tp)

    def resume(self, *partitions: TopicPartition) -> None:
        """Undo pause(). Raises: as there."""
        self._check_loop()
        check_partitions(partitions, "partitions must be TopicPartition namedtuples")
        for tp in partitions:
            self._subscription.resume(tp)
        self._signal.notify()

    def paused(self) -> set[TopicPartition]:
        """Return the paused partitions."""
        return self._subscription.paused()

    # Positions…

    async def position(self, partition: TopicPartition) -> int:
        """Return the offset of the next record that will be returned, finding it if need be. While
        the group assigns the partitions of the topic anew, the outcome is waited for.

        Raises: IllegalStateError when the partition is not assigned, NoOffsetForPartitionError,
        KafkaTimeoutError after `default_api_timeout_ms`; as `getone` before start and after stop.
        Cancelled: the lookup goes on for the next call.
        """
        poller = self._running()
        check_partitions([partition])
        timeout_s = self._config.default_api_timeout_ms / 1000
        known = await poller.wait_for_positions(
            lambda: self._has_position(partition), timeout_s, reset_missing=(partition,)
        )
        if not known:
            snapshot = poller.client.metadata.snapshot
            reason = "its leader has not answered"
            if snapshot.leader(partition).node_id is None:
                reason = why_unreadable(partition, snapshot)
            raise KafkaTimeoutError(
                f"no position for {partition.topic}-{partition.partition} within {timeout_s:g} s: "
                f"{reason}; check the partition and its leader, or raise default_api_timeout_ms"
            )
        return self._subscription.assigned(partition).offset

    def _has_position(self, partition: TopicPartition) -> bool:
        """Raises IllegalStateError for a partition that is not assigned, and will not be soon."""
        state = self._subscription.get(partition)
        group = self._group_or_none()
        if state is None and group is not None and group.may_get(partition):
            return False
        return self._subscription.assigned(partition).position is not None

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Go on at `offset`; what is buffered of the partition is dropped. Works before start().

        With the leader epoch of an OffsetAndMetadata it is checked first that the log still holds
        what was read there (KIP-320). Raises: ValueError for anything but an int >= 0,
        IllegalStateError when the partition is not assigned, ConsumerStoppedError.
        """
        check_partitions([partition])
        self._not_stopped()
        epoch = -1
        if isinstance(offset, OffsetAndMetadata):
            epoch, offset = offset.leader_epoch, offset.offset
        if not is_int_from(0, offset):
            raise ValueError("Offset must be a positive integer")
        self._subscription.seek(partition, offset, epoch)
        self._subscription.leave_missing()
        self._position_changed({partition})

    async def seek_to_beginning(self, *partitions: TopicPartition) -> bool:
        """Go to the first record there is, of all assigned partitions if none is named.

        Returns whether the positions were found within `request_timeout_ms`; if not, the polls go
        on looking. Raises: TypeError, IllegalStateError for partitions not assigned; as `getone`
        before start and after stop. Cancelled: as if the time were over.
        """
        return await self._seek_by_reset(partitions, OffsetResetStrategy.EARLIEST)

    async def seek_to_end(self, *partitions: TopicPartition) -> bool:
        """Go behind the last record; with read_committed behind the last stable one. As above."""
        return await self._seek_by_reset(partitions, OffsetResetStrategy.LATEST)

    async def _seek_by_reset(
        self, partitions: tuple[TopicPartition, ...], strategy: OffsetResetStrategy
    ) -> bool:
        check_partitions(partitions)
        poller = self._running()
        wanted = set(self._assigned_or_all(partitions))
        for tp in wanted:
            self._subscription.await_reset(tp, strategy)
        self._subscription.leave_missing()
        self._position_changed(wanted)
        return await poller.wait_for_positions(
            lambda: not any(_awaits_reset(self._subscription.get(tp)) for tp in wanted),
            self._config.request_timeout_ms / 1000,
            reset_missing=(),
        )

    def _position_changed(self, partitions: Collection[TopicPartition]) -> None:
        if self._poller is not None:
            self._poller.buffer.discard(lambda tp: tp in partitions)
        self._signal.notify()

    # What was seen of a partition…

    def highwater(self, partition: TopicPartition) -> int | None:
        """Return the offset behind the last record all replicas have, as the newest fetch said.

        None until the partition was fetched. Raises: AssertionError when it is not assigned.
        """
        return self._assigned(partition).high_watermark

    def last_stable_offset(self, partition: TopicPartition) -> int | None:
        """Return the offset before which every transaction is decided. As `highwater`."""
        return self._assigned(partition).last_stable_offset

    def current_lag(self, partition: TopicPartition) -> int | None:
        """Return how many offsets lie between the position and the end that can be read: the high
        watermark, with read_committed the last stable offset. None while either is not known.

        Raises: AssertionError when it is not assigned. Source: KIP-695.
        """
        return self._assigned(partition).lag(read_committed=self._config.is_read_committed)

    def last_poll_timestamp(self, partition: TopicPartition) -> int | None:
        """Return when the newest fetch was answered (ms since the epoch). As `highwater`."""
        return self._assigned(partition).last_poll_timestamp_ms

    def _assigned(self, partition: TopicPartition) -> PartitionState:
        state = self._subscription.get(partition)
        if state is None:
            raise AssertionError("Partition is not assigned")
        return state

    def statistics(self) -> "ConsumerStatistics":
        """Return what is queued, free, buffered and on its way, and counts of what the consumer has
        done. Before start(): only the queue. Does not wait.
        """
        from aiokafka_lite.metrics.statistics import (  # noqa: PLC0415
            BufferedFetch,
            ConsumerStatistics,
        )

        counters = self._counters
        poller = self._poller
        buffered = [] if poller is None else list(poller.buffer)
        return ConsumerStatistics(
            queue=self._subscription.queue(),
            free=() if poller is None else tuple(poller.fetcher.free_partitions()),
            buffered=tuple(
                BufferedFetch(fetch.topic_partition, fetch.next_offset, fetch.size_in_bytes)
                for fetch in buffered
            ),
            unread_bytes=sum(fetch.size_in_bytes for fetch in buffered),
            fetching_nodes=frozenset()
            if poller is None
            else frozenset(fetch.node_id for fetch in poller.fetcher.pending_fetches),
            network=counters.network(),
            fetches=counters.fetches,
            fetched_bytes=counters.fetched_bytes,
            returned_records=0 if poller is None else poller.collector.returned_records,
            rebalances=counters.rebalances,
            commits=counters.commits,
        )

    # The cluster…

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the topic's partitions as far as they are known; None for an unknown topic."""
        if self._poller is None:
            return None
        known = self._poller.client.metadata.snapshot.partitions_for(topic)
        return None if known is None else set(known)

    async def topics(self) -> set[str]:
        """Return the topics of the cluster this client may see; internal ones only with
        `exclude_internal_topics=False`.

        Raises: KafkaTimeoutError after `default_api_timeout_ms`; as `getone` before start and
        after stop. Cancelled: nothing stays behind.
        """
        listed = await self._list_topics(None)
        return {
            topic.name
            for topic in listed
            if topic.name is not None
            and not topic.error_code
            and not (topic.is_internal and self._config.exclude_internal_topics)
        }

    async def list_partitions(self, *topics: str) -> dict[str, set[int]]:
        """Ask the cluster which partitions these topics have now, subscribed to or not.

        A topic that does not exist is left out, and not created. Raises: TypeError for anything
        but names; InvalidTopicError, TopicAuthorizationFailedError; else as `topics`. Cancelled: as
        there.
        """
        found: dict[str, set[int]] = {}
        for topic in await self._list_topics(checked_topics(topics, AS_ARGUMENTS)):
            error = for_code(topic.error_code)
            if topic.error_code and not error.retriable:
                raise error(f"topic {topic.name!r}: {error.description}")
            if topic.name is not None and topic.partitions:
                found[topic.name] = {each.partition_index for each in topic.partitions}
        return found

    async def _list_topics(self, names: Collection[str] | None) -> Sequence[MetadataResponseTopic]:
        """Return what a node says of these topics, or of all."""
        client = self._running().client
        asked = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        async with self._waiting_calls.one():
            response = await client.ask_until_answered(
                lambda: client.network.request_any(
                    MetadataRequest(topics=asked, allow_auto_topic_creation=False)
                ),
                self._config.default_api_timeout_ms / 1000,
                what="list of topics",
                remedy="check the connection to the brokers, or raise default_api_timeout_ms",
            )
        return response.topics


declare_options(AIOKafkaConsumer, ConsumerConfig)


def _stopped_meanwhile() -> ConsumerStoppedError:
    return ConsumerStoppedError("the consumer was stopped while this call waited for an answer")


def _awaits_reset(state: PartitionState | None) -> bool:
    return state is not None and state.fetch_state is FetchState.AWAIT_RESET


__all__ = ["AIOKafkaConsumer", "ConsumerState"]
