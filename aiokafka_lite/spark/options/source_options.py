"""The options of a read with `kafka-lite`.

Names, defaults and precedence are those of Spark's own Kafka connector. The parsed options travel
to planners and executors, so they hold plain values only. Does not wait.
"""

import re
from collections.abc import Mapping
from dataclasses import field, replace
from enum import Enum
from typing import Any, Final

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.offsets import EARLIEST, LATEST, Offsets, partitions_from_json
from aiokafka_lite.spark.options.given_options import GivenOptions, duration_ms
from aiokafka_lite.spark.options.kafka_keys import SOURCE_KEYS, boolean, warn_once
from aiokafka_lite.spark.options.sealed_properties import (
    SECURITY,
    SealedProperties,
    client_arguments,
)
from aiokafka_lite.spark.options.token_options import TOKEN_OPTIONS, token_mechanism

_CHOICES: Final = ("subscribe", "subscribePattern", "assign")
_TRIGGER: Final = (
    "maxOffsetsPerTrigger",
    "maxBytesPerTrigger",
    "minOffsetsPerTrigger",
    "maxTriggerDelay",
)
_ENDING: Final = ("endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets")
SOURCE_OPTIONS: Final = (
    *_CHOICES,
    *_TRIGGER,
    *_ENDING,
    *("startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets"),
    *("startingOffsetsByTimestampStrategy", "commitGroupId"),
    *("failOnDataLoss", "kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries"),
    *("fetchOffset.retryIntervalMs", "minPartitions", "maxRecordsPerPartition", "includeHeaders"),
    *("minOffsetsPerTask", "topicIds", "ignoreMissingPartitions"),
    *("groupIdPrefix", "offsetPollIntervalMs", "maxBatchBytes", "maxBatchRows", "pushdown"),
    *TOKEN_OPTIONS,
    "topic",  # an option of the sink; one set of options may serve both sides
    *("delivery", "transactionalIdPrefix", "transactionTimeoutMs", "txnAppId", "txnVersion"),
)
_MAX_BATCH_BYTES: Final = 1 << 30


class Place(Enum):
    """Where a read begins or ends, in the words of the options."""

    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"
    OFFSETS = "offsets by partition"
    TIMESTAMP = "one timestamp"
    TIMESTAMPS = "timestamps by partition"


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetLimit:
    """A place, with the values it needs."""

    place: Place
    by_partition: Offsets = field(default_factory=Offsets)
    """Offsets, -2 for earliest and -1 for latest, or timestamps (ms)."""
    timestamp_ms: int = 0
    latest_if_none: bool = False
    """Begin at the end if all records are older. Otherwise that is an error."""

    @property
    def is_fixed(self) -> bool:
        """Whether it means the same offsets each time, as far as they still exist.

        The earliest offset moves, too, but only past records that cannot be read any more.
        """
        if self.place is Place.OFFSETS:
            return LATEST not in self.by_partition.values()
        return self.place is Place.EARLIEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The partitions of a read: of topics, of topics that match a pattern, or named ones."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: tuple[TopicPartition, ...] = ()

    def has(self, tp: TopicPartition) -> bool:
        """Return whether a partition belongs to it, if it exists."""
        if self.pattern is not None:
            return re.search(self.pattern, tp.topic) is not None
        return tp.topic in self.topics or tp in self.partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """The options of a read."""

    client: dict[str, object]
    """Arguments of AIOKafkaConsumer; Java's security properties are one of them, sealed."""
    selection: Selection
    starting: OffsetLimit
    ending: OffsetLimit
    """In a stream it is always the latest offset."""
    fail_on_data_loss: bool = True
    poll_timeout_ms: int = 120_000
    """How long a task waits for the next record of its range."""
    fetch_offset_retries: int = 3
    """How often the planner asks before it gives up."""
    fetch_offset_retry_interval_ms: int = 1000
    min_partitions: int | None = None
    max_records_per_partition: int | None = None
    min_offsets_per_task: int | None = None
    """A task reads several ranges until it has this many offsets; None: one range."""
    topic_ids: bool = False
    """A stream's offsets have topic ids and leader epochs, by which logs that have changed show."""
    ignore_missing_partitions: bool = False
    """Whether `assign` may name partitions that do not exist, which are then left out."""
    include_headers: bool = False
    max_offsets_per_trigger: int | None = None
    max_bytes_per_trigger: int | None = None
    """About how many bytes a batch has: keys, values and headers without compression."""
    min_offsets_per_trigger: int | None = None
    max_trigger_delay_ms: int = 900_000
    commit_group_id: str | None = None
    offset_poll_interval_ms: int = 100
    """The shortest time between two questions of a stream for offsets.

    Spark asks an idle stream a hundred times a second.
    """
    max_batch_bytes: int = 4 << 20
    max_batch_rows: int = 50_000
    pushdown: bool = False
    token_mechanism: str | None = None
    """With a mechanism, executors log in by a delegation token that the planner gets."""

    def with_security(self, security: SealedProperties | None) -> "SourceOptions":
        """Return the options with other security properties; None: without any."""
        client = {name: value for name, value in self.client.items() if name != SECURITY}
        if security is not None:
            client[SECURITY] = security
        return replace(self, client=client)

    @classmethod
    def parse(cls, options: Mapping[str, str], *, streaming: bool) -> "SourceOptions":
        """Read the options of a batch or a stream.

        Raises: KafkaConfigurationError, a ValueError, with all faults.
        """
        return _SourceParser(options, streaming=streaming).parse()

    @staticmethod
    def check(options: Mapping[str, str]) -> None:
        """Raise KafkaConfigurationError with the faults that a batch and a stream would have."""
        _SourceParser(options, streaming=None).parse()


def _consumer_config(client: dict[str, Any]) -> object:
    # Executors also have options, but never check them. So they do not need this import.
    from aiokafka_lite.consumer.consumer_config import ConsumerConfig  # noqa: PLC0415

    return ConsumerConfig(**client_arguments(client))


class _SourceParser(GivenOptions):
    def __init__(self, options: Mapping[str, str], *, streaming: bool | None) -> None:
        """`streaming` is None before it is known: faults of one kind are none then."""
        super().__init__(options, "source")
        self._streaming = streaming

    def parse(self) -> SourceOptions:
        client, faults = SOURCE_KEYS.arguments(self.given)
        self.faults += faults
        selection = self._selection()
        starting = self._starting()
        ending = self._ending()
        self._check_limits(starting, ending)
        numbers = self._numbers()
        fail_on_data_loss = self._flag("failOnDataLoss", default=True)
        include_headers = self._flag("includeHeaders", default=False)
        pushdown = self._flag("pushdown", default=False)
        topic_ids = self._flag("topicIds", default=False)
        ignore_missing = self._flag("ignoreMissingPartitions", default=False)
        group = self.text("commitGroupId") or None
        if starting.place is Place.COMMITTED and group is None:
            self.fault("startingOffsets=committed needs commitGroupId, the group that committed")
        if "groupIdPrefix" in self:
            warn_once("without effect in kafka-lite, which reads without a group: groupIdPrefix")
        mechanism = token_mechanism(self, client)
        self.check_client(_consumer_config, client)
        self.warn_of_unknown(SOURCE_OPTIONS)
        self.raise_faults()
        return SourceOptions(
            client=client,
            selection=selection,
            starting=starting,
            ending=ending,
            fail_on_data_loss=fail_on_data_loss,
            include_headers=include_headers,
            pushdown=pushdown,
            topic_ids=topic_ids,
            ignore_missing_partitions=ignore_missing,
            commit_group_id=group,
            token_mechanism=mechanism,
            **numbers,
        )

    def _flag(self, name: str, *, default: bool) -> bool:
        found = self.optional(name, boolean, "true or false")
        return default if found is None else found

    def _numbers(self) -> dict[str, int]:
        """Return the given numbers, by their names in SourceOptions."""
        found = {
            "poll_timeout_ms": self.number("kafkaConsumer.pollTimeoutMs", 1),
            "fetch_offset_retries": self.number("fetchOffset.numRetries", 1),
            "fetch_offset_retry_interval_ms": self.number("fetchOffset.retryIntervalMs", 0),
            "min_partitions": self.number("minPartitions", 1, 2**31 - 1),
            "max_records_per_partition": self.number("maxRecordsPerPartition", 1),
            "min_offsets_per_task": self.number("minOffsetsPerTask", 1),
            "max_offsets_per_trigger": self.number("maxOffsetsPerTrigger", 1),
            "max_bytes_per_trigger": self.number("maxBytesPerTrigger", 1),
            "min_offsets_per_trigger": self.number("minOffsetsPerTrigger", 1),
            "max_trigger_delay_ms": self.optional(
                "maxTriggerDelay", duration_ms, "a time such as 30s or 15m"
            ),
            "offset_poll_interval_ms": self.number("offsetPollIntervalMs", 0),
            "max_batch_bytes": self.number("maxBatchBytes", 1, _MAX_BATCH_BYTES),
            "max_batch_rows": self.number("maxBatchRows", 1, 2**31 - 1),
        }
        low, high = found["min_offsets_per_trigger"], found["max_offsets_per_trigger"]
        if low is not None and high is not None and low > high:
            self.fault(f"minOffsetsPerTrigger={low} is higher than maxOffsetsPerTrigger={high}")
        if found["min_partitions"] is not None and found["min_offsets_per_task"] is not None:
            self.fault(
                f"minPartitions={found['min_partitions']} asks for more tasks, and"
                f" minOffsetsPerTask={found['min_offsets_per_task']} for fewer; leave one out"
            )
        if self._streaming is False:
            ignored = [name for name in _TRIGGER if name in self]
            if ignored:
                warn_once(f"ignored in batch queries: {', '.join(ignored)}")
        return {name: value for name, value in found.items() if value is not None}

    def _selection(self) -> Selection:
        chosen = [name for name in _CHOICES if name in self]
        if len(chosen) != 1:
            how_many = "one" if not chosen else "only one"
            self.fault(f"{how_many} of the options {', '.join(_CHOICES)} must be specified")
            return Selection()
        text = self.text(chosen[0]) or ""
        if chosen[0] == "subscribe":
            topics = [name.strip() for name in text.split(",") if name.strip()]
            if not topics:
                self.fault(f"no topics to subscribe to: option subscribe is {text!r}")
            return Selection(topics=tuple(dict.fromkeys(topics)))
        if chosen[0] == "assign":
            return Selection(partitions=self._assigned(text))
        if not text:
            self.fault("option subscribePattern is empty")
        try:
            re.compile(text)
        except re.error as error:
            self.fault(
                f"option subscribePattern={text!r} is not a Python regular expression: {error}"
            )
        return Selection(pattern=text)

    def _assigned(self, text: str) -> tuple[TopicPartition, ...]:
        try:
            partitions = partitions_from_json(text)
        except ValueError as error:
            self.fault(f"option assign: {error}")
            return ()
        if not partitions:
            self.fault(f"no partitions to assign: option assign is {text!r}")
        return partitions

    def _starting(self) -> OffsetLimit:
        default = Place.LATEST if self._streaming else Place.EARLIEST
        limit = self._limit("starting", default)
        strategy = self.text("startingOffsetsByTimestampStrategy")
        if strategy is not None and strategy.lower() not in ("error", "latest"):
            self.fault(
                f"option startingOffsetsByTimestampStrategy={strategy!r} is neither error nor"
                " latest"
            )
        if limit.place in (Place.TIMESTAMP, Place.TIMESTAMPS):
            return OffsetLimit(
                place=limit.place,
                by_partition=limit.by_partition,
                timestamp_ms=limit.timestamp_ms,
                latest_if_none=strategy is not None and strategy.lower() == "latest",
            )
        return limit

    def _ending(self) -> OffsetLimit:
        if self._streaming:
            for name in _ENDING:
                if name in self:
                    self.fault(f"option {name} is not valid in streaming queries, which go on")
            return OffsetLimit(place=Place.LATEST)
        limit = self._limit("ending", Place.LATEST)
        if limit.place is Place.COMMITTED:
            self.fault("option endingOffsets=committed is not known: it is latest, or JSON")
        return limit

    def _limit(self, side: str, default: Place) -> OffsetLimit:
        """Return the place by the first of the three options that is present."""
        one, by_time, by_offset = (
            f"{side}Timestamp",
            f"{side}OffsetsByTimestamp",
            f"{side}Offsets",
        )
        if one in self:
            timestamp = self.number(one, 0)
            return OffsetLimit(place=Place.TIMESTAMP, timestamp_ms=timestamp or 0)
        if by_time in self:
            times = self._offsets(by_time)
            if any(time < 0 for time in times.values()):
                self.fault(f"option {by_time} has a time before 1970: {times.to_json()}")
            return OffsetLimit(place=Place.TIMESTAMPS, by_partition=times)
        text = self.text(by_offset)
        if text is None:
            return OffsetLimit(place=default)
        if text.lower() in ("earliest", "latest", "committed"):
            return OffsetLimit(place=Place(text.lower()))
        offsets = self._offsets(by_offset)
        if any(offset < EARLIEST for offset in offsets.values()):
            self.fault(f"option {by_offset} has an offset below -2: {offsets.to_json()}")
        return OffsetLimit(place=Place.OFFSETS, by_partition=offsets)

    def _offsets(self, name: str) -> Offsets:
        text = self.text(name) or ""
        try:
            return Offsets.from_json(text)
        except ValueError as error:
            self.fault(f"option {name}: {error}")
            return Offsets()

    def _check_limits(self, starting: OffsetLimit, ending: OffsetLimit) -> None:
        if self._streaming is not False:
            return
        if starting.place is Place.LATEST:
            self.fault("the starting offset can't be latest for batch queries on Kafka")
        if ending.place is Place.EARLIEST:
            self.fault("the ending offset can't be earliest for batch queries on Kafka")
        if starting.place is Place.OFFSETS:
            self._check_none(starting, LATEST, "startingOffsets", "latest")
        if ending.place is Place.OFFSETS:
            self._check_none(ending, EARLIEST, "endingOffsets", "earliest")
        if starting.place is ending.place and starting.by_partition and ending.by_partition:
            self._check_order(starting.by_partition, ending.by_partition)

    def _check_none(self, limit: OffsetLimit, number: int, name: str, word: str) -> None:
        for tp, offset in sorted(limit.by_partition.items()):
            if offset == number:
                self.fault(
                    f"{name} for {tp.topic}-{tp.partition} can't be {word} for batch queries on"
                    " Kafka"
                )

    def _check_order(self, starting: Offsets, ending: Offsets) -> None:
        if starting.keys() != ending.keys():
            self.fault(
                f"starting and ending offsets have different partitions: {starting.to_json()} and"
                f" {ending.to_json()}"
            )
        for tp in sorted(starting.keys() & ending.keys()):
            if 0 <= ending[tp] < starting[tp]:
                self.fault(
                    f"{tp.topic}-{tp.partition} starts at {starting[tp]}, behind its end"
                    f" {ending[tp]}"
                )


__all__ = ["SOURCE_OPTIONS", "OffsetLimit", "Place", "Selection", "SourceOptions"]
