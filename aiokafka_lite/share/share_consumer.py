"""Owns the public face of share consumers: it checks arguments and delegates to the parts.

Background tasks never refer to it, so that an unclosed consumer is noticed by its `__del__`.
"""

import logging
import random
import warnings
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Generic, NoReturn, Self

from aiokafka_lite.checks.offset_arguments import checked_topic_partition
from aiokafka_lite.checks.quoted import kind_of, quoted
from aiokafka_lite.checks.value_checks import check_callback, text_of_faults, whole
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.client_config import DefaultInt
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.shared_options import SharedClient, host_and_options
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.client_loop import refuse_pickling
from aiokafka_lite.concurrency.life import LifeState
from aiokafka_lite.consumer.consumer_arguments import (
    AS_ARGUMENTS,
    checked_timeout_s,
    checked_topics,
    int_from,
)
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    IllegalArgumentError,
    IllegalStateError,
    KafkaConfigurationError,
    KafkaError,
)
from aiokafka_lite.model import KT, VT, AcknowledgeType, ConsumerRecord, TopicPartition
from aiokafka_lite.options.constructor import check_names, declare_options
from aiokafka_lite.share.share_config import REFUSED, ShareConsumerConfig, refused
from aiokafka_lite.share.share_engine import AcknowledgementCallback, ShareEngine, statistics_of
from aiokafka_lite.share.share_life import ShareLife

if TYPE_CHECKING:
    from typing import Unpack

    from aiokafka_lite.metrics.explanation import Explanation
    from aiokafka_lite.metrics.statistics import ShareConsumerStatistics
    from aiokafka_lite.share.share_options import ShareConsumerOptions

logger = logging.getLogger(__name__)

_TO_CLOSE = "await its stop(), or use it as `async with consumer:`"


class AIOKafkaShareConsumer(Generic[KT, VT]):
    """Takes records from Kafka topics as from a queue, together with the others of its share group.

        async with AIOKafkaShareConsumer(
            "orders", bootstrap_servers="localhost:9092", group_id="billing"
        ) as consumer:
            async for record in consumer:
                ...

    A partition has no single owner: its leader gives each record to one member, and locks it until
    the member acknowledges it. A record whose lock ends is delivered again, as long as the group's
    `share.delivery.count.limit` allows. The group has no offsets to seek to, and no order.

    In implicit mode, the next `getmany()`, `getone()` or `commit()` accepts what was returned. In
    explicit mode each record is acknowledged by `acknowledge()`. The group's configs decide the
    rest: where it starts, how long locks last, and which records of transactions it sees.

    It needs brokers with share groups: Kafka 4.2, or 4.1 with the feature share.version. The
    constructor does no I/O and needs no event loop. `client` is an AIOKafkaClient whose connections
    it shares; its options are those of the connections. docs/options.md describes the options.

    Raises: KafkaConfigurationError, a ValueError, naming every wrong option at once, and options of
    other consumers. TypeError for topics that are no strings, and for unknown options.
    """

    def __init__(
        self,
        *topics: str,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        client: SharedClient | None = None,
        **options: "Unpack[ShareConsumerOptions[KT, VT]]",
    ) -> None:
        faults = refused(options)
        if faults:
            raise KafkaConfigurationError(text_of_faults(type(self).__name__, faults))
        for name in REFUSED:  # has a default that was handed on
            options.pop(name, None)  # type: ignore[misc]
        check_names(self, AIOKafkaShareConsumer.__init__, ShareConsumerConfig, options)
        host, given = host_and_options(self, client, options)
        self._config = ShareConsumerConfig(**given)
        names = checked_topics(topics, AS_ARGUMENTS)
        self._life = ShareLife(
            self._config,
            clock=clock if clock is not None else SYSTEM_CLOCK,
            rng=rng,
            name=type(self).__name__,
            host=host,
        )
        self._life.topics = frozenset(names)

    def __repr__(self) -> str:
        life = getattr(self, "_life", None)  # absent when the constructor raised
        return f"<{type(self).__name__}, not made>" if life is None else repr(life)

    def __del__(self, _warn: Callable[..., None] = warnings.warn) -> None:
        life: ShareLife | None = getattr(self, "_life", None)
        if life is None or life.engine is None or life.state is LifeState.STOPPED:
            return
        if life.engine.client.loop.is_of_parent:
            return
        name = type(self).__name__
        _warn(f"Unclosed {name} {self!r}: {_TO_CLOSE}", ResourceWarning, source=self)
        life.engine.client.owner.close_soon()

    def __reduce__(self) -> NoReturn:
        refuse_pickling(self)

    @property
    def kafka_client(self) -> KafkaClient | None:
        """The connections and the metadata of this consumer; None before `start()`."""
        return None if self._life.engine is None else self._life.engine.client

    # Life…

    async def start(self) -> None:
        """Connect, and join the share group if there is a subscription.

        All or nothing: a start that fails leaves no task, socket or timer, and may be repeated.

        Raises: KafkaConnectionError naming every address tried; InvalidTopicError or
        TopicAuthorizationFailedError; UnsupportedVersionError if the brokers have no share groups;
        GroupIdNotFound for the id of a group of another kind; other refusals of the coordinator;
        KafkaTimeoutError after `default_api_timeout_ms`. IllegalStateError when called twice,
        ConsumerStoppedError when stopped before or meanwhile. Cancelled: as if it had failed.
        """
        await self._life.start()

    async def stop(self, timeout_ms: int = DefaultInt(30_000)) -> None:
        """Send what was acknowledged, release all other records at once, leave the group and close
        everything, within `timeout_ms` (a second at least; not given: `stop_timeout_ms`).
        Idempotent.

        In implicit mode, what the last poll returned is released, too; `commit()` accepts it. Calls
        that wait in other tasks raise ConsumerStoppedError, a pending `getmany` returns {}. What
        fails meanwhile is logged.

        Raises: IllegalStateError in another event loop than that of start(), while that one runs.
        Cancelled: brokers release the records when the connections have ended.
        """
        is_default = isinstance(timeout_ms, DefaultInt)
        await self._life.stop(self._config.stop_timeout_ms if is_default else timeout_ms)

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
            await self.stop()

    def is_healthy(self) -> bool:
        """Say whether the consumer runs and can reach a broker, for a readiness probe.

        False before start() and after stop(), after a background task has failed, and while no
        broker can be reached. Whether it is in its group does not matter. A client that has no open
        connection looks for a broker in the background, and the next call tells. Does not wait.
        Raises: IllegalStateError in another event loop or thread.
        """
        engine = self._life.engine
        if engine is None or self._life.state is not LifeState.RUNNING:
            return False
        return engine.client.is_healthy()

    # What to read…

    def subscribe(self, topics: Iterable[str]) -> None:
        """Read `topics`, in place of the topics subscribed to before. Works before start().

        Raises: TypeError without topics, or for topics that are no list of strings;
        InvalidTopicError for a name no topic can have; ConsumerStoppedError.
        """
        self._life.check_not_stopped()
        names = frozenset(checked_topics(topics))
        if not names:
            raise TypeError("subscribe() needs topics; unsubscribe() lets go of all")
        self._subscribe(names)

    def unsubscribe(self) -> None:
        """Let go of all topics: send what was acknowledged, release all other records, and leave
        the group, in the background. After stop() there is nothing left to let go of.
        """
        self._life.check_loop()
        if self._life.has_stopped:
            return
        self._subscribe(frozenset())

    def _subscribe(self, topics: frozenset[str]) -> None:
        self._life.topics = topics
        if self._life.engine is not None:
            self._life.engine.subscription_changed()

    def subscription(self) -> frozenset[str]:
        """Return the topics subscribed to."""
        return self._life.topics

    # Reading…

    async def getmany(
        self, timeout_ms: float = 0, max_records: int | None = None
    ) -> dict[TopicPartition, list[ConsumerRecord[KT, VT]]]:
        """Return records by partition, each in offset order and with its `delivery_count`.

        Waits up to `timeout_ms` for the first record and returns what is there then: at most
        `max_records`; None: `max_poll_records`, and with `share_acquire_mode="batch_optimized"` the
        rest of the last batch. {} when there was none, or when the consumer is stopped meanwhile.

        Sends what was acknowledged; in implicit mode it accepts what the last call returned.

        Raises: IllegalStateError in explicit mode, with nothing lost, while returned records are
        not acknowledged; before start(), without a subscription, and while another task waits here.
        ValueError for `max_records` < 1 or a negative timeout. RecordDeserializationError, after
        the records before it were returned: `acknowledge_offset()` goes past it; in implicit mode
        the record is released. CorruptRecordException, after which the batch is released. What the
        coordinator or a leader refuses, such as GroupAuthorizationFailedError.
        Cancelled: nothing is lost; what was acquired comes with the next call.
        """
        engine = self._readable()
        if max_records is not None and (max_records := int_from(1, given := max_records)) is None:
            raise ValueError(f"max_records={quoted(given)}: give an int of at least 1, or None")
        return await engine.poll(max_records, checked_timeout_s(timeout_ms))

    async def getone(self) -> ConsumerRecord[KT, VT]:
        """Return the next record; wait for it without bound.

        Raises: as `getmany`; ConsumerStoppedError when stopped before or meanwhile. Cancelled: as
        `getmany`.
        """
        found = await self._readable().poll(1, None)
        for records in found.values():
            return records[0]
        raise ConsumerStoppedError("the consumer was stopped while a record was waited for")

    def __aiter__(self) -> Self:
        self._life.running()
        return self

    async def __anext__(self) -> ConsumerRecord[KT, VT]:
        """Return the next record, by `getone()`; the iteration ends when the consumer stops."""
        try:
            return await self.getone()
        except ConsumerStoppedError:
            raise StopAsyncIteration from None

    def _readable(self) -> ShareEngine:
        engine = self._life.running()
        if not self._life.topics:
            raise IllegalStateError(
                "nothing is subscribed, so that no record can come: subscribe() to topics first"
            )
        return engine

    # Acknowledging…

    def acknowledge(
        self,
        record: ConsumerRecord[KT, VT],
        type: AcknowledgeType = AcknowledgeType.ACCEPT,  # noqa: A002 - Java's name
    ) -> None:
        """Say what becomes of a record that the last poll returned; the next `getmany()`,
        `getone()` or `commit()` sends it. The last call for a record counts. Does not wait.

        Raises: IllegalStateError in implicit mode, and for a record that is not held;
        ValueError for an unknown type; ConsumerStoppedError.
        """
        given: object = record
        try:
            place = record.topic, record.partition, record.offset
        except AttributeError:
            raise IllegalArgumentError(
                f"{kind_of(given)} is no record; give one that getmany() or getone() returned, or "
                "call acknowledge_offset(topic, partition, offset)"
            ) from None
        self.acknowledge_offset(place[0], place[1], place[2], type)

    def acknowledge_offset(
        self,
        topic: str,
        partition: int,
        offset: int,
        type: AcknowledgeType = AcknowledgeType.ACCEPT,  # noqa: A002 - Java's name
    ) -> None:
        """Do the same by coordinates, as those of a RecordDeserializationError. Does not wait.

        Raises: as `acknowledge`.
        """
        engine = self._life.running()
        if not self._config.is_explicit:
            raise IllegalStateError(
                "records are accepted by the next getmany(), getone() or commit(); to acknowledge "
                "them one by one, set share_acknowledgement_mode='explicit'"
            )
        tp = checked_topic_partition(TopicPartition(topic, partition))
        if type.__class__ is not AcknowledgeType:  # such as its number
            type = AcknowledgeType(type)  # noqa: A001
        engine.held.acknowledge(tp, whole(offset), type)

    async def commit(
        self, timeout_ms: int | None = None
    ) -> dict[TopicPartition, KafkaError | None]:
        """Send what was acknowledged, in implicit mode all that was returned, and return the
        outcome per partition: None, or what became of it.

        Records whose lock had ended get InvalidRecordStateError: they are delivered again. Without
        an answer within `timeout_ms` (None: `default_api_timeout_ms`) it is a KafkaTimeoutError.

        Raises: IllegalStateError before start(); ConsumerStoppedError. Cancelled: it is sent all
        the same.
        """
        engine = self._life.running()
        if timeout_ms is None:
            timeout_ms = self._config.default_api_timeout_ms
        async with self._life.waiting_calls.one():
            return await engine.commit(timeout_ms / 1000)

    def set_acknowledgement_commit_callback(self, callback: AcknowledgementCallback | None) -> None:
        """Call `callback({partition: offsets}, error)` when brokers have answered what was
        acknowledged; `error` is None if they have taken it. None: call nothing.

        It is called in the event loop and must not wait; what it raises is logged.
        """
        self._life.check_not_stopped()
        check_callback("callback", callback)
        self._life.callback = callback

    def acquisition_lock_timeout_ms(self) -> int | None:
        """Return for how long records are locked, as brokers say; None before the first fetch."""
        engine = self._life.engine
        return None if engine is None else engine.fetcher.lock_timeout_ms

    # What it does…

    def statistics(self) -> "ShareConsumerStatistics":
        """Return what is assigned, buffered and held, and counts of what the consumer has done.
        Before start(): nothing. Does not wait.
        """
        return statistics_of(self._life.counters, self._life.engine)

    def explain(self) -> "tuple[Explanation, ...]":
        """Return why nothing comes, or what is on its way: first what concerns the whole consumer,
        then a value for each assigned partition. `str()` of each is a sentence.

        Asks no broker. Does not wait.
        """
        from aiokafka_lite.share.share_explanation import explain_share_consumer  # noqa: PLC0415

        return explain_share_consumer(self._life.state, self._life.topics, self._life.engine)


declare_options(AIOKafkaShareConsumer, ShareConsumerConfig)


__all__ = ["AIOKafkaShareConsumer"]
