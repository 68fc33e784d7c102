"""Owns the consumer's public face: names, signatures and error texts are aiokafka's.

It checks arguments and delegates to the parts behind it. Background tasks never refer to it, so
that an unclosed consumer is noticed by its `__del__`.
"""

import asyncio
import logging
import random
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Generic, Literal, NoReturn, Self, overload
from uuid import UUID

from aiokafka_lite.checks.offset_arguments import CommitListener, OffsetsToCommit
from aiokafka_lite.checks.quoted import kind_of, quoted
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.client_config import DefaultInt
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.shared_options import SharedClient, host_and_options
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.client_loop import refuse_pickling
from aiokafka_lite.concurrency.life import LifeState
from aiokafka_lite.consumer.consumer_arguments import (
    AS_ARGUMENTS,
    check_operation,
    check_server_pattern,
    checked_partitions,
    checked_pattern,
    checked_time,
    checked_timeout_s,
    checked_topics,
    int_from,
    warn_about_options_without_effect,
)
from aiokafka_lite.consumer.consumer_config import ConsumerConfig, GroupMembershipOperation
from aiokafka_lite.consumer.consumer_engine import ConsumerEngine, statistics_of
from aiokafka_lite.consumer.consumer_life import ConsumerLife
from aiokafka_lite.consumer.fetch.decoded_records import RecordIteration
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.consumer.listed_topics import names_in, partitions_in
from aiokafka_lite.consumer.offset_calls import EARLIEST, LATEST, OffsetCalls, Tenures
from aiokafka_lite.consumer.offset_reset import AtTimestamp
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.subscription_state import (
    OffsetResetStrategy,
    PartitionState,
    SubscriptionState,
)
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    IllegalOperation,
    IllegalStateError,
    RecordTooLargeError,
)
from aiokafka_lite.metrics.counters import Counters
from aiokafka_lite.model import (
    KT,
    VT,
    ConsumerGroupMetadata,
    ConsumerRecord,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    OffsetSpec,
    SubscriptionPattern,
    TopicPartition,
)
from aiokafka_lite.options.constructor import check_names, declare_options
from aiokafka_lite.private_reads import with_private_reads

if TYPE_CHECKING:
    from typing import Unpack

    import pyarrow as pa

    from aiokafka_lite.arrow.record_columns import RecordColumns
    from aiokafka_lite.client import AIOKafkaClient
    from aiokafka_lite.consumer.consumer_options import ConsumerOptions
    from aiokafka_lite.metrics.explanation import Explanation
    from aiokafka_lite.metrics.statistics import ConsumerStatistics

logger = logging.getLogger(__name__)

_NO_LIMIT = 2**31 - 1
_MAX_OFFSET = 2**63 - 1
_NONE_NAMED: frozenset[TopicPartition] = frozenset()
_OF_ONE_TYPE = {TopicPartition}
_NO_ENDS: Mapping[TopicPartition, int] = MappingProxyType({})
_TO_CLOSE = "await its stop(), or use it as `async with consumer:`"


@with_private_reads(
    "consumer",
    "_client _closed _coordinator _fetcher _loop _source_traceback _group_id _group_instance_id"
    " _heartbeat_interval_ms _session_timeout_ms _rebalance_timeout_ms _max_poll_interval_ms"
    " _retry_backoff_ms _request_timeout_ms _auto_offset_reset _enable_auto_commit"
    " _auto_commit_interval_ms _partition_assignment_strategy _key_deserializer"
    " _value_deserializer _fetch_min_bytes _fetch_max_bytes _fetch_max_wait_ms"
    " _max_partition_fetch_bytes _max_poll_records _exclude_internal_topics _isolation_level"
    " _client_rack _check_crcs",
)
class AIOKafkaConsumer(RecordIteration, Generic[KT, VT]):
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

    `client` is an AIOKafkaClient whose connections the consumer shares; its options are those of
    the connections. Fetches and the group have connections of their own. `loop`, `api_version` and
    `consumer_timeout_ms` have no effect, nor have options of groups without `group_id`; `clock` and
    `rng` are for tests. docs/options.md describes the other options.

    Raises: KafkaConfigurationError, a ValueError, naming every wrong option at once.
    TypeError for topics that are no strings. Warns: DeprecationWarning for `loop` and
    `api_version`, as aiokafka does.
    """

    # With places for all that it sets, an instance has no dictionary until a program sets more.
    # A step of `async for` then need not look there for a `getone`. Interpreters from 3.12 on keep
    # the place of a method only for such instances.
    __slots__ = (
        "__orig_class__",
        "__weakref__",
        "_config",
        "_counters",
        "_life",
        "_listener",
        "_signal",
        "_subscription",
    )

    if TYPE_CHECKING:  # of `with_private_reads`
        _client: AIOKafkaClient
        _closed: bool
        _group_id: str | None

    def __init__(
        self,
        *topics: str,
        loop: asyncio.AbstractEventLoop | None = None,
        api_version: str | None = None,
        consumer_timeout_ms: int | None = None,  # noqa: ARG002 - polls are woken when data arrives
        clock: Clock | None = None,
        rng: random.Random | None = None,
        client: SharedClient | None = None,
        **options: "Unpack[ConsumerOptions[KT, VT]]",
    ) -> None:
        warn_about_options_without_effect(loop, api_version)
        check_names(self, AIOKafkaConsumer.__init__, ConsumerConfig, options)
        host, given = host_and_options(self, client, options)
        self._config = ConsumerConfig(**given)
        clock = clock if clock is not None else SYSTEM_CLOCK
        self._signal = PollSignal(clock)
        self._counters = Counters()
        self._subscription = SubscriptionState(
            OffsetResetStrategy.from_option(self._config.auto_offset_reset)
        )
        self._listener: ConsumerRebalanceListener | None = None
        self._life = ConsumerLife(
            self._config,
            self._subscription,
            self._signal,
            clock=clock,
            rng=rng,
            counters=self._counters,
            name=type(self).__name__,
            host=host,
        )
        if topics:
            self._subscription.subscribe(checked_topics(topics, AS_ARGUMENTS))

    def __repr__(self) -> str:
        life = getattr(self, "_life", None)  # absent when the constructor raised
        return f"<{type(self).__name__}, not made>" if life is None else repr(life)

    def __del__(self, _warn: Callable[..., None] = warnings.warn) -> None:
        # Absent when the constructor raised.
        life: ConsumerLife | None = getattr(self, "_life", None)
        if life is None or life.engine is None or life.state is LifeState.STOPPED:
            return
        if life.engine.client.loop.is_of_parent:
            return
        _warn(f"Unclosed AIOKafkaConsumer {self!r}: {_TO_CLOSE}", ResourceWarning, source=self)
        life.engine.client.owner.close_soon()
        if life.loop is not None and not life.loop.is_closed():
            context = {"consumer": self, "message": "Unclosed AIOKafkaConsumer"}
            life.loop.call_exception_handler({**context, "remedy": _TO_CLOSE})

    def __reduce__(self) -> NoReturn:
        refuse_pickling(self)

    @property
    def _engine(self) -> ConsumerEngine | None:
        return self._life.engine

    @property
    def kafka_client(self) -> KafkaClient | None:
        """The connections and the metadata of this consumer; None before `start()`. Not in
        aiokafka.
        """
        return None if self._engine is None else self._engine.client

    @property
    def client(self) -> "AIOKafkaClient":
        """The same under aiokafka's names: metadata, brokers, health checks."""
        from aiokafka_lite.client import AIOKafkaClient  # noqa: PLC0415 - few programs ask for it

        name = type(self).__name__
        return AIOKafkaClient.of(self._config, lambda: self.kafka_client, name)

    # Life…

    async def start(self) -> None:
        """Connect, learn of the topics subscribed to, and with a group wait for an assignment.

        A record that is sent after `start()` has returned is read, also with "latest": the end of
        each log is asked for before. That takes no longer than three seconds. Then the log names
        the partitions whose leader has not answered. They are asked for further, without a poll,
        as they are after `subscribe()`, `assign()` and each rebalance. With a group, `start()` also
        waits three seconds for topics that are being created, and the log names those that did not
        come.

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
        engine = await self._life.start(self._listener)
        self._decoded = engine.collector.decoded

    async def stop(
        self,
        timeout_ms: int = DefaultInt(30_000),
        *,
        group_membership_operation: GroupMembershipOperation = "default",
    ) -> None:
        """Stop reading and close everything, within `timeout_ms` (a second at least; not given:
        `stop_timeout_ms`). When no broker of its group can be reached, it takes no more than five
        seconds. Idempotent.

        Calls that wait in other tasks raise ConsumerStoppedError, a pending `getmany` returns {}.
        Fetches on their way are given up. With a group, what was returned so far is committed if
        commits are automatic, `on_partitions_revoked` is called, and the group is left. Fetch
        sessions are closed if the brokers can be reached. What fails meanwhile is logged.

        A static member keeps its place in the group until its session times out. With
        `group_membership_operation="leave_group"` it leaves, too. With "remain_in_group" no member
        leaves: the group gives its partitions to others after the session timeout only (KIP-1092).

        After the end of its event loop there is nothing left to close.

        Raises: ValueError for another operation; IllegalStateError inside a rebalance listener, in
        tasks that it has made and not returned from, and in another event loop than that of
        start(), while that one runs.
        Cancelled: what was not committed is read again by the next owner; the group is left, and
        sockets and tasks end, all the same.
        """
        check_operation(group_membership_operation)
        if isinstance(timeout_ms, DefaultInt):
            timeout_ms = self._config.stop_timeout_ms
        await self._life.stop(timeout_ms, processed_all=True, operation=group_membership_operation)

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
        with anyio_shield():
            if exc_type is None:
                await self.stop()
            else:  # what the newest poll returned may not be processed (B7)
                await self._life.stop(self._config.stop_timeout_ms, processed_all=False)

    def is_healthy(self) -> bool:
        """Say whether the consumer runs and can reach a broker, for a readiness probe.

        False before start() and after stop(), after a background task has failed, and while no
        broker can be reached. A rebalance does not matter. A client that has no open connection
        looks for a broker in the background, and the next call tells. Does not wait. Not in
        aiokafka. Raises: IllegalStateError in another event loop or thread.
        """
        engine = self._engine
        if engine is None or self._life.state is not LifeState.RUNNING:
            return False
        return engine.client.is_healthy()

    async def client_instance_id(self, timeout_ms: int | None = None) -> UUID:
        """Return the id under which the brokers' metrics know this client (KIP-714). Not in
        aiokafka.

        It waits for the id at most `timeout_ms`; None: default_api_timeout_ms. Raises:
        UnsupportedVersionError if no connected broker takes metrics; KafkaTimeoutError;
        IllegalStateError with enable_metrics_push=False, and before start(); ValueError for a
        negative timeout. Cancelled: nothing stays behind.
        """
        return await self._life.running().client.metrics_push.instance_id(timeout_ms)

    # What to read…

    def subscribe(
        self,
        topics: Iterable[str] = (),
        pattern: str | SubscriptionPattern | None = None,
        listener: ConsumerRebalanceListener | None = None,
    ) -> None:
        """Read `topics`, or those whose whole beginning matches the regular expression `pattern`
        (as `re.match` does), in place of the topics subscribed to before. A `SubscriptionPattern`
        is matched by the broker, with `group_protocol="consumer"`.

        With a group, this member's share of their partitions; it rejoins in the background, unless
        topics, pattern and listener are the same, and `listener` hears what comes and goes. Without
        one, all of their partitions, and `listener` is never called. Topics that come into being,
        and partitions that a topic gains, are noticed with the metadata, at the latest after
        `metadata_max_age_ms`. Works before start().

        Raises: TypeError without topics, with both arguments, for topics that are no list of
        strings, or a listener of another type; InvalidTopicError for a name no topic can have;
        ValueError for a pattern that is no regular expression; IllegalOperation for a
        SubscriptionPattern where members assign; IllegalStateError after assign(),
        or to change between topics and pattern; ConsumerStoppedError.
        """
        self._life.check_not_stopped()
        if not (topics or pattern):
            raise TypeError("You should provide either `topics` or `pattern`")
        if topics and pattern:
            raise TypeError("You can't provide both `topics` and `pattern`")
        if listener is not None and not isinstance(listener, ConsumerRebalanceListener):
            raise TypeError("listener should be an instance of ConsumerRebalanceListener")
        by_group = self._config.group_id is not None
        before = self._subscribed()
        if isinstance(pattern, SubscriptionPattern):
            check_server_pattern(pattern, self._config)
            self._subscription.subscribe_server_pattern(pattern.pattern)
        elif pattern is not None:
            self._subscription.subscribe_pattern(checked_pattern(pattern), by_group=by_group)
        else:
            self._subscription.subscribe(checked_topics(topics), by_group=by_group)
        self._listener = listener
        engine = self._engine
        if engine is None:
            return
        engine.subscription_changed()
        if engine.group is not None:
            engine.group.subscribed(listener, has_changed=self._subscribed() != before)

    def _subscribed(self) -> tuple[object, ...]:
        """Return what makes a subscription another one."""
        subscription = self._subscription
        patterns = subscription.pattern, subscription.server_pattern
        return subscription.topics, *patterns, self._listener

    def unsubscribe(self) -> None:
        """Let go of all topics and partitions, and of what is buffered of them.

        With a group, the listener hears of it and the group is left, in the background; nothing is
        committed. subscribe() and assign() are both open again. After stop() it only forgets them.
        """
        self._life.check_loop()
        if self._life.state is LifeState.STOPPING:
            return  # stop() lets go of everything, after its last commit
        engine, owned = self._engine, self._subscription.assignment
        was_subscribed = self._subscription.is_subscribed
        self._subscription.unsubscribe()
        if engine is None or self._life.has_stopped:
            return
        if engine.group is not None and was_subscribed:
            engine.group.unsubscribed(owned)
        engine.subscription_changed()

    def subscription(self) -> frozenset[str]:
        """Return the topics subscribed to; empty after assign()."""
        return self._subscription.topics

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read exactly these partitions; those that were assigned before keep their position.

        Raises: TypeError for anything but TopicPartitions, InvalidTopicError for a name no topic
        can have, IllegalStateError after subscribe(), ConsumerStoppedError. An empty list lets go
        of them, as `unsubscribe`, after stop(), too.
        """
        wanted = checked_partitions(partitions)
        has_ended = self._life.state is LifeState.STOPPED
        if wanted or not has_ended:
            self._life.check_not_stopped()
        if wanted or self._subscription.is_subscribed:
            self._subscription.assign_from_user(wanted)  # raises if it is subscribed
        else:
            self._subscription.unsubscribe()
        engine = self._engine
        if engine is None or has_ended:
            return
        if engine.group is not None:
            engine.group.assigned_by_user()
        engine.subscription_changed()

    def incremental_assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these partitions, too; the others go on undisturbed. One that is assigned already
        keeps its position. Not in aiokafka. Raises: as `assign`.
        """
        self._change_assignment(checked_partitions(partitions), ())

    def incremental_unassign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these partitions no more; the others go on undisturbed. Not in aiokafka.

        Raises: as `assign`; IllegalStateError, with nothing changed, for a partition that is not
        assigned.
        """
        gone = checked_partitions(partitions)
        for tp in gone:
            self._subscription.assigned(tp)
        self._change_assignment((), gone)

    def _change_assignment(
        self, added: Collection[TopicPartition], gone: Collection[TopicPartition]
    ) -> None:
        """Change some partitions of the assignment, which costs what these are."""
        subscription, engine = self._subscription, self._engine
        self._life.check_not_stopped()
        subscription.change_from_user(added, gone)
        if engine is None:
            return
        if engine.group is not None:
            engine.group.assigned_by_user()
        engine.partitions_changed(added, gone)

    def assignment(self) -> frozenset[TopicPartition]:
        """Return the partitions that are read; empty until the subscribed topics are known."""
        return self._subscription.assignment

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
            decoded = self._decoded
            if decoded is not None and (record := decoded.take()) is not None:
                return record
        engine = self._life.running()
        named = self._named(partitions)
        if not named and self._subscription.is_empty:
            raise IllegalStateError(
                "nothing is subscribed or assigned, so that no record can come: subscribe() to "
                "topics or assign() partitions first"
            )
        return await engine.poller.poll_one(named)

    _own_getone = getone

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
        engine = self._life.running()
        named = self._named(partitions)
        timeout_s, limit = checked_timeout_s(timeout_ms), self._checked_limit(max_records)
        return await engine.poller.poll(named, limit, timeout_s)

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
        has at most `max_records` rows (None: `max_poll_records`, as in any poll) and
        ends with the record that reaches `max_bytes`, or at 2 GiB in one column.

        `until` names offsets to read to: a partition whose position has come there, or further, is
        paused, so that nothing behind is fetched for it; and when all of them have, the call
        returns at once, with no rows if there are none: the end of a log may hold only markers of
        transactions, or what compaction has left. Records behind such an offset may still come, as
        far as they were fetched together with those before.

        Raises: IllegalOperation with a deserializer; ImportError without pyarrow, before anything
        is taken; ValueError for a wrong number or column; IllegalStateError, with nothing taken,
        for an `until` of a partition that is not assigned, or not any more; else as `getmany`.
        Cancelled: nothing is lost, the next poll returns it.
        """
        from aiokafka_lite.arrow.record_schema import require_pyarrow  # noqa: PLC0415 - columns only

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
    ) -> "RecordColumns":
        """Return what `getmany_arrow` would, for libraries other than pyarrow.

        Polars, DuckDB, nanoarrow and others take it by the Arrow PyCapsule interface, without a
        copy. The native build needs no pyarrow for it, the pure one does.

        Raises: as `getmany_arrow`. Cancelled: as `getmany_arrow`.
        """
        # For consumers of columns alone. The first import of pyarrow takes longer by far.
        from aiokafka_lite.arrow import record_columns, record_schema  # noqa: PLC0415

        engine = self._life.running()
        named = self._named(partitions)
        self._named(until)
        if self._config.key_deserializer or self._config.value_deserializer:
            raise IllegalOperation(
                "Arrow columns hold the bytes that were sent, and this consumer has a "
                "deserializer; make one without key_deserializer and value_deserializer"
            )
        timeout_s, limit = checked_timeout_s(timeout_ms), self._checked_limit(max_records)
        if max_bytes is not None and (max_bytes := int_from(1, given := max_bytes)) is None:
            raise ValueError(f"max_bytes={quoted(given)} is not a positive int")
        fields = record_schema.field_mask(columns)
        builder = record_columns.RecordColumnsBuilder(limit, max_bytes, fields=fields)
        if not record_columns.USES_NATIVE_COLUMNS:
            record_schema.require_pyarrow()
        await engine.poller.poll_columns(named, builder, timeout_s, until)
        return builder.finish()

    def _checked_limit(self, max_records: int | None) -> int:
        """Return how many records one poll may return. Raises: ValueError."""
        if max_records is not None and (max_records := int_from(1, max_records)) is None:
            raise ValueError("`max_records` must be a positive Integer")
        return min(max_records or self._config.max_poll_records or _NO_LIMIT, _NO_LIMIT)

    def _named(self, partitions: Collection[TopicPartition]) -> frozenset[TopicPartition]:
        """Return the partitions as a set, which polls look into for each buffered fetch. Refuse
        those that no record can ever come from: only assign() brings others.
        """
        if not partitions:
            return _NONE_NAMED
        subscription = self._subscription
        if {*map(type, partitions)} == _OF_ONE_TYPE:
            named = frozenset(partitions)
            if subscription.has_all(named):
                return named
        checked = checked_partitions(partitions)
        if not subscription.is_subscribed:
            for tp in checked:
                subscription.assigned(tp)
        return frozenset(checked)

    def __aiter__(self) -> Self:
        self._life.check_not_stopped()
        return self

    if TYPE_CHECKING:

        async def __anext__(self) -> ConsumerRecord[KT, VT]: ...

    async def _next_by_getone(self) -> ConsumerRecord[KT, VT]:
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
        self._life.check_loop()
        text = "partitions must be TopicPartition namedtuples"
        for tp in checked_partitions(partitions, text):
            self._subscription.pause(tp)

    def resume(self, *partitions: TopicPartition) -> None:
        """Undo pause(). Raises: as `pause`."""
        self._life.check_loop()
        text = "partitions must be TopicPartition namedtuples"
        for tp in checked_partitions(partitions, text):
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
        engine = self._life.running()
        (partition,) = checked_partitions([partition])
        return await engine.offsets.position(partition)

    def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None:
        """Go on at `offset`; what is buffered of the partition is dropped. Works before start().

        With the leader epoch of an OffsetAndMetadata it is checked first that the log still holds
        what was read there (KIP-320). Raises: ValueError for anything but an int >= 0,
        IllegalStateError when the partition is not assigned, ConsumerStoppedError.
        """
        (partition,) = checked_partitions([partition])
        self._life.check_not_stopped()
        epoch = -1
        if isinstance(offset, OffsetAndMetadata):
            epoch, offset = offset.leader_epoch, offset.offset
        if (number := int_from(0, offset)) is None:
            raise ValueError("Offset must be a positive integer")
        if number > _MAX_OFFSET:
            raise ValueError(
                f"offset={quoted(number)} is beyond the last one there can be, {_MAX_OFFSET}"
            )
        self._subscription.seek(partition, number, epoch)
        self._subscription.leave_missing()
        if self._engine is not None:
            self._engine.poller.drop_buffered({partition})

    async def seek_to_beginning(self, *partitions: TopicPartition) -> bool:
        """Go to the first record there is, of all assigned partitions if none is named.

        Returns whether the positions were found within `request_timeout_ms`; if not, the polls go
        on looking. Raises: TypeError, IllegalStateError for partitions not assigned; as `getone`
        before start and after stop. Cancelled: as if the time were over.
        """
        wanted = checked_partitions(partitions)
        offsets = self._life.running().offsets
        return await offsets.seek_by_reset(wanted, OffsetResetStrategy.EARLIEST)

    async def seek_to_end(self, *partitions: TopicPartition) -> bool:
        """Go behind the last record; with read_committed behind the last stable one. Returns,
        Raises: as `seek_to_beginning`. Cancelled: as `seek_to_beginning`.
        """
        wanted = checked_partitions(partitions)
        offsets = self._life.running().offsets
        return await offsets.seek_by_reset(wanted, OffsetResetStrategy.LATEST)

    async def seek_to_timestamp(self, timestamp_ms: int, *partitions: TopicPartition) -> bool:
        """Go to the first record at or after a time (ms since 1970), or to the end without one.

        All assigned partitions move if none is named. Not in aiokafka.

        Returns, Cancelled: as `seek_to_beginning`. Raises: ValueError for what is no time; else as
        `seek_to_beginning`.
        """
        when = AtTimestamp(checked_time(timestamp_ms))
        wanted = checked_partitions(partitions)
        return await self._life.running().offsets.seek_by_reset(wanted, when)

    async def seek_to_committed(
        self, *partitions: TopicPartition
    ) -> dict[TopicPartition, int | None]:
        """Go on where the group has committed, with all assigned partitions if none is named.

        Returns the offsets; a partition with None had nothing committed and stays where it was.
        Raises: TypeError, IllegalStateError for partitions not assigned; as `committed`.
        Cancelled: no position has changed.
        """
        wanted = checked_partitions(partitions)
        return await self._of_group().seek_to_committed(wanted, self.seek)

    # Offsets of the group…

    async def commit(self, offsets: OffsetsToCommit | None = None) -> None:
        """Store in the group how far was read: the positions of all assigned partitions, with what
        the newest poll returned, or the given `offsets` (the next offset to read, as an int, with a
        note as (int, str), or an OffsetAndMetadata). With `enable_auto_offset_store=False`, what
        `store_offsets()` named takes the place of the positions.

        The leader epoch goes with them (KIP-320). Background commits are over before. In a
        rebalance listener without partitions there is nothing to store, and nothing is raised.

        Raises: CommitFailedError when the group has given the partitions to others, or this member
        was not in time; RebalanceInProgressError while it assigns them anew, commit again after the
        next poll; KafkaTimeoutError after `default_api_timeout_ms`; OffsetMetadataTooLargeError,
        GroupAuthorizationFailedError, TopicAuthorizationFailedError; UnknownTopicIdError for
        offsets of a topic that was deleted and created again since. ValueError or TypeError for
        malformed offsets; IllegalOperation without group_id; IllegalStateError for partitions not
        assigned, of which PartitionRevokedError is also a CommitFailedError: the group has given
        one away, or given it back after others had it, since its records were returned; as `getone`
        before start and after stop, which ends a call that waits.
        Cancelled: the offsets may be stored or not, as after a stop meanwhile.
        """
        await self._of_group().commit(offsets)

    def commit_async(
        self, offsets: OffsetsToCommit | None = None, callback: CommitListener | None = None
    ) -> None:
        """Store offsets in the background, without waiting and without a second attempt.

        `callback(offsets, error)` is called with the outcome, error None for success; callbacks are
        called in the order of the commits, and before a later `commit()` returns. Without
        one a failure is logged. Raises: as `commit` for what is wrong at once.
        """
        self._of_group().commit_async(offsets, callback)

    def store_offsets(self, offsets: OffsetsToCommit) -> None:
        """Mark as done what comes before `offsets` (as for `commit`); does not wait.

        The next commit stores it: `commit()`, an automatic one, and those before partitions are
        revoked and at the end. A later call replaces the offset of a partition, and a partition
        that goes takes its mark with it. Needs `enable_auto_offset_store=False`, with which nothing
        else counts as done. Not in aiokafka; as librdkafka's call of this name.

        Raises: IllegalStateError, with nothing marked, for partitions that are not assigned, of
        which PartitionRevokedError says what it says for `commit`, and without that option;
        ValueError or TypeError for malformed offsets; IllegalOperation without group_id; as
        `getone` before start and after stop.
        """
        self._of_group().store(offsets)

    def consumed_offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return the positions of all assigned partitions, behind the records of the newest poll,
        for a producer that commits them in a transaction.

        Raises: IllegalOperation without group_id; as `getone` before start and after stop.
        """
        return self._of_group().consumed()

    @overload
    async def committed(
        self, partition: TopicPartition, metadata: Literal[False] = False
    ) -> int | None: ...

    @overload
    async def committed(
        self, partition: TopicPartition, metadata: Literal[True]
    ) -> OffsetAndMetadata | None: ...

    async def committed(
        self, partition: TopicPartition, metadata: bool = False
    ) -> int | OffsetAndMetadata | None:
        """Return the offset that the group has stored for the partition, assigned or not; None if
        there is none. With `metadata=True` an OffsetAndMetadata. Asks the coordinator each time,
        and waits for transactions that hold the offset (KIP-447).

        Raises: IllegalOperation without group_id; KafkaTimeoutError after `default_api_timeout_ms`;
        GroupAuthorizationFailedError, TopicAuthorizationFailedError; as `getone` before start and
        after stop. Cancelled: nothing stays behind.
        """
        (partition,) = checked_partitions([partition])
        return await self._of_group().committed(partition, metadata=metadata)

    async def _committed_of(
        self, partitions: Collection[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """Return what the group has stored for these partitions, by one request.

        Raises: as `committed`. Cancelled: nothing stays behind.
        """
        return await self._of_group().committed_of(partitions)

    def group_metadata(self) -> ConsumerGroupMetadata:
        """Return the consumer's identity in its group, for a producer that commits its offsets.

        The generation is -1 while the consumer has none. After it has lost its membership, the id
        is still the lost one, which the coordinator refuses. Source: KIP-447.

        Raises: IllegalOperation without group_id; as `getone` before start.
        """
        return self._of_group().metadata()

    def _tenures(self, partitions: Iterable[TopicPartition]) -> Tenures:
        """As `OffsetCalls.tenures`."""
        return self._of_group().tenures(partitions)

    def _goes_on(
        self, committer: ConsumerGroupMetadata, tenures: Tenures
    ) -> ConsumerGroupMetadata | None:
        """As `OffsetCalls.goes_on`."""
        return self._of_group().goes_on(committer, tenures)

    def _log_changes(self, tenures: Tenures) -> dict[TopicPartition, int]:
        """As `OffsetCalls.log_changes`."""
        return self._of_group().log_changes(tenures)

    def _offsets_refused(
        self, committer: ConsumerGroupMetadata, refusal: BaseException | None
    ) -> None:
        """Take over the answer to offsets that a producer sent in the name of `committer`."""
        self._of_group().refused(committer, refusal)

    def processing(self) -> AbstractContextManager[None]:
        """Hold rebalances back while a batch is processed, as in `with consumer.processing():`.

        A rebalance that begins inside the block waits for its end, before anything is committed
        and the listener is called. It waits no longer than the rebalance timeout, less ten seconds
        or half of it. When the block ends without an error, what the polls have returned counts as
        processed, so that automatic commits store it. Do not poll inside: the partitions of an
        eager member return nothing while a rebalance waits. Not in aiokafka.

        Raises: IllegalOperation without group_id; as `getone` before start and after stop.
        """
        return self._of_group().processing()

    def enforce_rebalance(self, reason: str = "enforced by the application") -> None:
        """Let the group assign its partitions anew; does not wait (KIP-568, KIP-800).

        The coordinator gets the first 255 characters of `reason`, and the log 100 of them.

        Raises: as `group_metadata`; IllegalStateError without a subscription; TypeError for a
        reason that is no str.
        """
        offsets = self._of_group()
        if not self._subscription.is_subscribed:
            raise IllegalStateError("Not subscribed to any topics")
        if not isinstance(reason, str):
            raise TypeError(f"reason={kind_of(reason)} is no str; say why in a few words")
        offsets.request_rejoin(reason)

    def _of_group(self) -> OffsetCalls:
        """Return the calls that need a group. Raises: IllegalOperation without group_id."""
        if self._config.group_id is None:
            raise IllegalOperation("Requires group_id: give the consumer one")
        return self._life.running().offsets

    # Offsets of the leaders…

    async def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """Return the first offset at or after each time (ms since the epoch); None where there is
        none, or the log's format knows no times. Partitions need not be assigned.

        Raises: ValueError for negative times, TypeError; KafkaTimeoutError naming partitions and
        reasons after `default_api_timeout_ms`, or `request_timeout_ms` for those that do not exist;
        TopicAuthorizationFailedError; as `getone` before
        start and after stop. Cancelled: nothing stays behind.
        """
        return await self._life.running().offsets.for_times(timestamps)

    async def list_offsets(
        self, offsets: Mapping[TopicPartition, OffsetSpec | int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """Return an offset of each partition, and the time of the record there.

        A partition names an OffsetSpec, or a time (ms since 1970): the first record at or after it.
        None where there is no such record. Partitions need not be assigned. Not in aiokafka.

        With read_committed, OffsetSpec.LATEST is behind the last stable record, and no record
        behind it is found.

        Raises: ValueError for what is neither; UnsupportedVersionError for an OffsetSpec that a
        leader does not know; else as `offsets_for_times`. Cancelled: nothing stays behind.
        Source: KIP-734, KIP-405, KIP-1005, KIP-1023.
        """
        return await self._life.running().offsets.by_spec(offsets)

    async def beginning_offsets(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, int]:
        """Return the first offset of each partition, which need not be assigned.

        Raises: KafkaTimeoutError naming partitions and reasons after `default_api_timeout_ms`, or
        `request_timeout_ms` for those that do not exist; TopicAuthorizationFailedError; as `getone`
        before start and after stop.
        Cancelled: nothing stays behind.
        """
        return await self._life.running().offsets.at_end(partitions, EARLIEST)

    async def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the offset behind the last record of each partition; with read_committed behind
        the last stable one. Raises: as `beginning_offsets`. Cancelled: as `beginning_offsets`.
        """
        return await self._life.running().offsets.at_end(partitions, LATEST)

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
        watermark, with read_committed the last stable offset. None while either is not known;
        negative for a position beyond the high watermark.

        Raises: AssertionError when it is not assigned. Source: KIP-695.
        """
        return self._assigned(partition).lag(read_committed=self._config.is_read_committed)

    def current_lead(self, partition: TopicPartition) -> int | None:
        """Return how many offsets lie between the beginning of the log and the position. None while
        either is not known. Near 0, retention is about to delete what was not read yet.

        Raises: AssertionError when it is not assigned. Java: records-lead. Not in aiokafka.
        """
        return self._assigned(partition).lead

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
        return statistics_of(self._subscription, self._counters, self._engine)

    def explain(self) -> "tuple[Explanation, ...]":
        """Return why nothing comes, or what is on its way: first what concerns the whole consumer,
        then a value for each assigned partition. `str()` of each is a sentence.

        Asks no broker. Does not wait.
        """
        from aiokafka_lite.consumer.fetch_explanation import explain_consumer  # noqa: PLC0415

        return explain_consumer(self._life.state, self._config, self._subscription, self._engine)

    # The cluster…

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the topic's partitions as far as they are known; None for an unknown topic."""
        if self._engine is None:
            return None
        known = self._engine.client.metadata.snapshot.partitions_for(topic)
        return None if known is None else set(known)

    async def topics(self) -> set[str]:
        """Return the topics of the cluster this client may see; internal ones only with
        `exclude_internal_topics=False`.

        Raises: KafkaTimeoutError after `default_api_timeout_ms`; as `getone` before start and
        after stop. Cancelled: nothing stays behind.
        """
        listed = await self._life.running().list_topics(None)
        return names_in(listed, exclude_internal=self._config.exclude_internal_topics)

    async def list_partitions(self, *topics: str) -> dict[str, set[int]]:
        """Ask the cluster which partitions these topics have now, subscribed to or not.

        A topic that does not exist is left out, and not created. Raises: TypeError for anything
        but names; InvalidTopicError, TopicAuthorizationFailedError; else as `topics`. Cancelled: as
        there.
        """
        checked = checked_topics(topics, AS_ARGUMENTS)
        return partitions_in(await self._life.running().list_topics(checked))


declare_options(AIOKafkaConsumer, ConsumerConfig)


__all__ = ["AIOKafkaConsumer"]
