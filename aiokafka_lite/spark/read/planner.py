"""Asks the brokers for the driver: which partitions exist, and their offsets.

Every question ends after some attempts, and after a minute at most. It waits, in the loop of
`worker`.
"""

import logging
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.errors import (
    CommitFailedError,
    KafkaTimeoutError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.kafka_error import KafkaError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition, names_of
from aiokafka_lite.spark.offsets import EARLIEST, LATEST, OffsetRange, Offsets, made_anew
from aiokafka_lite.spark.options.consumer_arguments import consumer_arguments
from aiokafka_lite.spark.options.source_options import OffsetLimit, Place, Selection, SourceOptions
from aiokafka_lite.spark.process.worker import Worker, worker
from aiokafka_lite.spark.read.offset_client import OffsetClient

if TYPE_CHECKING:
    from aiokafka_lite.consumer.consumer import AIOKafkaConsumer

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_Client: TypeAlias = "OffsetClient | AIOKafkaConsumer[Any, Any]"

_TOTAL_MS: Final = 60_000
_COMMIT_S: Final = 5.0
"""The limit of a commit, which is for information only, and delays a batch."""
_SAMPLE_MS: Final = 1000
_SAMPLE_ROWS: Final = 1000
_SAMPLE_BYTES: Final = 256 << 10
"""How many bytes of a partition are sampled to estimate the size of its records."""


class Planner:
    """Asks the brokers, for one source. Its methods block."""

    def __init__(self, options: SourceOptions, find_worker: Callable[[], Worker] = worker) -> None:
        self._options = options
        self._find_worker = find_worker
        attempt_ms = _TOTAL_MS // options.fetch_offset_retries
        given = options.client.get("default_api_timeout_ms", attempt_ms)
        assert isinstance(given, int)
        self._arguments = {
            **consumer_arguments(options),
            "default_api_timeout_ms": max(min(attempt_ms, given), 1),
        }

        self.topic_ids: dict[str, str] = {}
        """By name, the ids of topics at the last questions; brokers before 2.8 know none."""

    # The source's questions…

    def resolve(self, limit: OffsetLimit, *, is_start: bool) -> Offsets:
        """Return the present offset of each partition for a limit.

        Raises: ValueError for a limit that names unknown partitions, or for a time after the newest
        record; KafkaError naming the topic or the brokers when they do not answer.
        """
        group = self._options.commit_group_id if limit.place is Place.COMMITTED else None
        return self._ask(
            lambda client: _resolve(client, self._options, limit, is_start), group_id=group
        )

    def latest(self) -> Offsets:
        """Return the ends of all partitions; with read_committed, the ends of decided transactions.

        Raises: as `resolve`.
        """
        return self.resolve(OffsetLimit(place=Place.LATEST), is_start=False)

    def latest_after(self, known: Offsets) -> Offsets:
        """Return the same as `latest`, but not before the known offsets.

        A broker that has just become leader may not know them yet, so this asks again. A topic
        that was created again may end anywhere.
        """
        for _ in range(self._options.fetch_offset_retries):
            found = self.latest()
            renewed = made_anew(known.topic_ids, self.topic_ids)
            behind = {
                tp
                for tp, offset in known.items()
                if found.get(tp, offset) < offset and tp.topic not in renewed
            }
            if not behind:
                break
            logger.warning(
                "%s end before offsets that were seen earlier; asking again", sorted(behind)
            )
            self.wait(self._options.fetch_offset_retry_interval_ms / 1000)
        return found

    def ends(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """Return the ends of these partitions. Raises: as `resolve`."""
        wanted = list(partitions)
        return self._ask(lambda client: _ends(client, wanted))

    def earliest(self, partitions: Iterable[TopicPartition]) -> Offsets:
        """Return the first offsets of these partitions, without partitions that do not exist.

        Raises: as `resolve`.
        """
        wanted = set(partitions)
        if not wanted:
            return Offsets()

        async def ask(client: _Client) -> Offsets:
            there = await _existing(client, {tp.topic for tp in wanted})
            return _as_offsets(await client.beginning_offsets(wanted & there))

        return self._ask(ask)

    def epoch_ends(self, epochs: Mapping[TopicPartition, int]) -> dict[TopicPartition, int | None]:
        """Return the offset behind each leader epoch; None in a log that knows no such epoch.

        A partition is missing whose broker does not tell (before Kafka 2.3). Raises: as `resolve`.
        """

        async def ask(client: _Client) -> dict[TopicPartition, int | None]:
            assert isinstance(client, OffsetClient)
            return await client.epoch_ends(epochs)

        return self._ask(ask)

    def first_as_young(self, partitions: Iterable[TopicPartition], timestamp_ms: int) -> Offsets:
        """Return each partition's first offset whose record is not older than the time.

        If all records are older, it is the partition's end. Raises: as `resolve`.
        """
        wanted = list(partitions)

        async def ask(client: _Client) -> Offsets:
            found = await client.offsets_for_times(dict.fromkeys(wanted, timestamp_ms))
            ends = await client.end_offsets(wanted)
            return Offsets({tp: ends[tp] if at is None else at.offset for tp, at in found.items()})

        return self._ask(ask)

    def weigh(self, part: OffsetRange) -> float | None:
        """Return the bytes per offset, by the first records of a range.

        None if it has no records, or none came within a second. Raises: KafkaError, after one
        attempt.
        """

        async def ask() -> float | None:
            async with self._consumer(None) as consumer:
                return await _weigh(consumer, part)

        return self._find_worker().run(ask)

    def committed(self, group_id: str, partitions: Iterable[TopicPartition]) -> Offsets:
        """Return a group's committed offsets, without partitions that have none.

        Raises: KafkaError.
        """
        wanted = set(partitions)

        async def ask() -> Offsets:
            async with self._consumer(group_id) as consumer:
                return await _stored(consumer, wanted)

        return self._find_worker().run(ask)

    def commit(self, group_id: str, offsets: Offsets) -> None:
        """Commit offsets for a group, with one attempt of some seconds.

        Raises: KafkaError; it says so if the group has members of its own.
        """

        async def ask() -> None:
            async with self._consumer(group_id) as consumer:
                consumer.assign(offsets)
                for tp, offset in offsets.items():  # or their positions are asked for
                    consumer.seek(tp, offset)
                await consumer.commit(
                    {
                        tp: OffsetAndMetadata(at, "", leader_epoch=offsets.epochs.get(tp, -1))
                        for tp, at in offsets.items()
                    }
                )

        async def bounded() -> None:
            async with deadline(SYSTEM_CLOCK, _COMMIT_S):
                await ask()

        try:
            self._find_worker().run(bounded)
        except CommitFailedError as error:
            raise KafkaError(
                f"the group {group_id} has members of its own; choose another commitGroupId"
            ) from error
        except TimeoutError:
            raise KafkaTimeoutError(
                f"the coordinator of the group {group_id} has not answered for {_COMMIT_S:g} s"
            ) from None

    def wait(self, delay_s: float) -> None:
        """Wait this long; 0 or less returns at once."""
        if delay_s > 0:
            self._find_worker().run(lambda: SYSTEM_CLOCK.sleep(delay_s))

    # How the questions are asked…

    @property
    def _clients(self) -> Any:
        return self._find_worker().clients

    def _consumer(
        self, group_id: str | None
    ) -> "AbstractAsyncContextManager[AIOKafkaConsumer[Any, Any]]":
        """Lend a consumer, for what only a consumer can do."""
        # Most streams never need its modules.
        from aiokafka_lite.consumer.consumer import AIOKafkaConsumer  # noqa: PLC0415

        arguments = self._arguments
        if group_id is not None:
            arguments = {**arguments, "group_id": group_id, "enable_auto_commit": False}
        lent: AbstractAsyncContextManager[Any] = self._clients.lend(AIOKafkaConsumer, arguments)
        return lent

    def _ask(
        self, question: Callable[[_Client], Awaitable[_T]], *, group_id: str | None = None
    ) -> _T:
        return self._find_worker().run(lambda: self._attempts(question, group_id))

    async def _attempts(
        self, question: Callable[[_Client], Awaitable[_T]], group_id: str | None
    ) -> _T:
        options = self._options
        error: Exception = KafkaTimeoutError(f"no answer within {_TOTAL_MS} ms")
        try:
            async with deadline(SYSTEM_CLOCK, _TOTAL_MS / 1000):
                for attempt in range(1, options.fetch_offset_retries + 1):
                    if attempt > 1:
                        await SYSTEM_CLOCK.sleep(options.fetch_offset_retry_interval_ms / 1000)
                    try:
                        return await self._attempt(question, group_id)
                    except KafkaError as raised:
                        error = raised
                        if not raised.retriable:
                            raise
                        logger.warning("attempt %d to find offsets: %s", attempt, raised)
        except TimeoutError as timeout:
            raise self._gave_up(error) from timeout
        raise self._gave_up(error) from error

    async def _attempt(
        self, question: Callable[[_Client], Awaitable[_T]], group_id: str | None
    ) -> _T:
        if group_id is not None:
            async with self._consumer(group_id) as consumer:
                return await question(consumer)
        async with self._clients.lend(OffsetClient, self._arguments) as client:
            answer = await question(client)
            self.topic_ids |= client.topic_ids
            return answer

    def _gave_up(self, error: Exception) -> KafkaError:
        servers = self._options.client["bootstrap_servers"]
        return KafkaError(
            f"the offsets of {_named(self._options.selection)} on {servers} could not be found: "
            f"{error}; check kafka.bootstrap.servers and the topic, or raise"
            " fetchOffset.numRetries"
        )


def _named(selection: Selection) -> str:
    if selection.pattern is not None:
        return f"topics like {selection.pattern!r}"
    return ", ".join(sorted({*selection.topics, *(tp.topic for tp in selection.partitions)}))


async def _partitions(
    client: _Client, selection: Selection, *, may_lack: bool, needs_all: bool
) -> set[TopicPartition]:
    """Return the present selection.

    With `may_lack` a topic may have gone, as long as another one is there. With `needs_all` each
    partition that the user named has to exist.

    Raises: UnknownTopicOrPartitionError naming topics or partitions.
    """
    if selection.pattern is not None:
        pattern = re.compile(selection.pattern)
        topics = {name for name in await client.topics() if pattern.search(name)}
        return await _existing(client, topics)
    topics = {*selection.topics, *(tp.topic for tp in selection.partitions)}
    found = await _existing(client, topics)
    missing = sorted(topics - {tp.topic for tp in found})
    if missing and may_lack and found:
        logger.warning("%s is not there any more, and is left out", ", ".join(missing))
    elif missing:
        raise UnknownTopicOrPartitionError(f"there is no topic {', '.join(missing)}")
    if not selection.partitions:
        return found
    lacking = sorted(set(selection.partitions) - found)
    if lacking and needs_all:
        counts = Counter(tp.topic for tp in found)
        there = ", ".join(f"{topic} has {counts[topic]}" for topic in sorted(topics))
        raise UnknownTopicOrPartitionError(
            f"there is no partition {names_of(lacking)}: {there}; correct the option assign, or"
            " set ignoreMissingPartitions=true to read the others"
        )
    return found & set(selection.partitions)


async def _existing(client: _Client, topics: set[str]) -> set[TopicPartition]:
    if not topics:
        return set()
    listed = await client.list_partitions(*topics)
    return {TopicPartition(topic, each) for topic, parts in listed.items() for each in parts}


async def _resolve(
    client: _Client, options: SourceOptions, limit: OffsetLimit, is_start: bool
) -> Offsets:
    may_lack = not is_start and not options.fail_on_data_loss
    needs_all = is_start and not options.ignore_missing_partitions
    partitions = await _partitions(
        client, options.selection, may_lack=may_lack, needs_all=needs_all
    )
    if limit.place is Place.EARLIEST:
        return _as_offsets(await client.beginning_offsets(partitions))
    if limit.place is Place.LATEST:
        return await _ends(client, partitions)
    if limit.place is Place.COMMITTED:
        return await _committed(client, partitions)
    if limit.place is Place.OFFSETS:
        _check_same(limit.by_partition, partitions)
        return await _with_ends(client, limit.by_partition)
    times = Offsets(dict.fromkeys(partitions, limit.timestamp_ms))
    if limit.place is Place.TIMESTAMPS:
        times = limit.by_partition
        _check_same(times, partitions)
    return await _at_times(client, times, limit, is_start=is_start)


async def _ends(client: _Client, partitions: Iterable[TopicPartition]) -> Offsets:
    return _as_offsets(await client.end_offsets(partitions))


def _as_offsets(found: Mapping[TopicPartition, int]) -> Offsets:
    return found if isinstance(found, Offsets) else Offsets(found)


async def _committed(client: _Client, partitions: Iterable[TopicPartition]) -> Offsets:
    """Return the group's committed offsets.

    A partition without one gets its first offset, so that no record is missed.
    """
    wanted = set(partitions)
    assert not isinstance(client, OffsetClient), "groups are asked by a consumer"
    found = Offsets(dict.fromkeys(wanted, EARLIEST)).with_others(await _stored(client, wanted))
    return await _with_ends(client, found)


async def _stored(
    consumer: "AIOKafkaConsumer[Any, Any]", partitions: set[TopicPartition]
) -> Offsets:
    """Return a group's committed offsets, by one request, without partitions that have none."""
    found = await consumer._committed_of(partitions) if partitions else {}
    stored = {tp: at for tp, at in found.items() if at is not None}
    epochs = {tp: at.leader_epoch for tp, at in stored.items()}
    return Offsets({tp: at.offset for tp, at in stored.items()}).of_logs({}, epochs)


async def _with_ends(client: _Client, offsets: Offsets) -> Offsets:
    """Return the offsets with real ones in place of -2 and -1."""
    first = [tp for tp, offset in offsets.items() if offset == EARLIEST]
    last = [tp for tp, offset in offsets.items() if offset == LATEST]
    return offsets.with_others(
        await client.beginning_offsets(first), await client.end_offsets(last)
    )


async def _at_times(
    client: _Client, times: Offsets, limit: OffsetLimit, *, is_start: bool
) -> Offsets:
    found = Offsets()
    for tp, at in (await client.offsets_for_times(times)).items():
        if at is not None:
            found[tp] = at.offset
        elif is_start and not limit.latest_if_none:
            raise ValueError(
                f"no offset of {tp.topic}-{tp.partition} matches the timestamp {times[tp]}: all"
                " records are older; set startingOffsetsByTimestampStrategy to latest to begin at"
                " the end then"
            )
        else:
            found[tp] = LATEST
    return await _with_ends(client, found)


async def _weigh(consumer: "AIOKafkaConsumer[Any, Any]", part: OffsetRange) -> float | None:
    tp = part.topic_partition
    consumer.assign([tp])
    try:
        consumer.seek(tp, part.start)
        batch = await consumer.getmany_arrow(
            tp,
            timeout_ms=_SAMPLE_MS,
            max_records=_SAMPLE_ROWS,
            max_bytes=_SAMPLE_BYTES,
            columns=["key", "value", "headers"],
            until={tp: part.end},
        )
        span = await consumer.position(tp) - part.start
    finally:
        consumer.assign([])
    return int(batch.nbytes) / span if batch.num_rows and span > 0 else None


def _check_same(named: Offsets, there: set[TopicPartition]) -> None:
    if named.keys() != there:
        raise ValueError(
            "if offsets or timestamps are named, they must be for all partitions (-1 is latest, -2"
            f" earliest); named are {named.to_json()}, and there are"
            f" {names_of(sorted(there))}"
        )


__all__ = ["Planner"]
