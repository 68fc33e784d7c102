"""Decisions about offsets alone: their JSON, ranges, splits, limits, and lost records.

An offset is always the next one to read, as in the checkpoints of Spark's own Kafka source. This
file reads and writes their JSON. Does not wait.
"""

import json
import math
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final, Self
from uuid import UUID

from aiokafka_lite.checks.value_checks import is_int
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition, names_of

EARLIEST: Final = -2
LATEST: Final = -1
"""Numbers that stand for the start or end of the log in a user's offsets."""

_OFFSETS_EXAMPLE: Final = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
_PARTITIONS_EXAMPLE: Final = '{"topicA":[0,1],"topicB":[0,1]}'


_MARK: Final = "@"
"""Stands between a topic and its id, and before and behind a topic with epochs. No topic's name
has it."""


class Offsets(dict[TopicPartition, int]):
    """An offset (or a time) for each partition, and what tells its log from another (2c-10).

    In the JSON these are entries without partitions: an id is `"topicA@ID":{}`, and leader epochs
    are `"@topicA@0-2:7,3:5":{}`. Spark's own source reads nothing from them. They count in the JSON
    alone: without them, offsets are equal.
    """

    topic_ids: Mapping[str, str] = MappingProxyType({})
    """By topic, its id."""
    epochs: Mapping[TopicPartition, int] = MappingProxyType({})
    """A leader epoch of the log that has the records before the offset, and none later than that of
    the offset's answer. Where that epoch ends, another log begins."""

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read `{"topic":{"0":123}}`. Raises: ValueError for anything else."""
        try:
            return cls.from_nested(json.loads(text))
        except ValueError:
            raise ValueError(f"expected e.g. {_OFFSETS_EXAMPLE}, got {text}") from None

    @classmethod
    def from_nested(cls, nested: object) -> Self:
        """Convert such JSON from Python objects. Raises: ValueError for anything else."""
        offsets = cls()
        ids: dict[str, str] = {}
        epochs: dict[TopicPartition, int] = {}
        for topic, parts in _items(nested):
            name, mark, told = topic.partition(_MARK)
            if mark and name:
                ids[name] = told
                continue
            if mark:
                epochs.update(_epochs(*told.split(_MARK, 1)))
                continue
            for partition, offset in _items(parts):
                if not (partition.isdecimal() and is_int(offset)):
                    raise ValueError(
                        f"{partition!r}: {offset!r} is not a partition with its offset"
                    )
                offsets[TopicPartition(topic, int(partition))] = offset
        return offsets.of_logs(ids, epochs)

    def of_logs(self, topic_ids: Mapping[str, str], epochs: Mapping[TopicPartition, int]) -> Self:
        """Return these offsets with the ids and the epochs of their logs, as far as they are there.

        An epoch below 0 is not known.
        """
        made = type(self)(self)
        made.topic_ids = {tp.topic: topic_ids[tp.topic] for tp in self if tp.topic in topic_ids}
        made.epochs = {tp: epochs[tp] for tp in self if epochs.get(tp, -1) >= 0}
        return made

    def with_others(self, *others: Mapping[TopicPartition, int]) -> Self:
        """Return these offsets, and others in their place. Each takes along what tells its log."""
        made, ids, epochs = type(self)(self), dict(self.topic_ids), dict(self.epochs)
        for each in others:
            made.update(each)
            for tp in each:
                epochs.pop(tp, None)
            if isinstance(each, Offsets):
                ids.update(each.topic_ids)
                epochs.update(each.epochs)
        return made.of_logs(ids, epochs)

    def to_nested(self) -> dict[str, dict[str, int]]:
        """Return the Python objects for such JSON, with topics and partitions in order."""
        nested: dict[str, dict[str, int]] = {}
        for topic, partition in sorted(self):
            nested.setdefault(topic, {})[str(partition)] = self[TopicPartition(topic, partition)]
        for topic, topic_id in sorted(self.topic_ids.items()):
            nested[f"{topic}{_MARK}{topic_id}"] = {}
        for topic, told in _epoch_texts(self.epochs):
            nested[f"{_MARK}{topic}{_MARK}{told}"] = {}
        return nested

    def to_json(self) -> str:
        """Return the JSON, compact, like Spark's own source in its checkpoints."""
        return json.dumps(self.to_nested(), separators=(",", ":"))


def _epoch_texts(epochs: Mapping[TopicPartition, int]) -> Iterator[tuple[str, str]]:
    """Yield each topic with its epochs: neighbours that share one stand together, as `0-2:7`."""
    for topic, group in groupby(sorted(epochs), key=lambda tp: tp.topic):
        runs: list[list[int]] = []
        for tp in group:
            if runs and runs[-1][1:] == [tp.partition - 1, epochs[tp]]:
                runs[-1][1] = tp.partition
            else:
                runs.append([tp.partition, tp.partition, epochs[tp]])
        told = (f"{a}:{epoch}" if a == b else f"{a}-{b}:{epoch}" for a, b, epoch in runs)
        yield topic, ",".join(told)


def _epochs(topic: str, told: str = "") -> Iterator[tuple[TopicPartition, int]]:
    """Read such epochs. Raises: ValueError for anything else."""
    for run in told.split(","):
        partitions, _, epoch = run.partition(":")
        first, _, last = partitions.partition("-")
        numbers = (first, last or first, epoch)
        if not all(each.isdecimal() for each in numbers):
            raise ValueError(f"{run!r} is not a partition with its leader epoch")
        for partition in range(int(first), int(numbers[1]) + 1):
            yield TopicPartition(topic, partition), int(epoch)


def id_text(topic_id: UUID) -> str:
    """Return the id of a topic as Kafka writes it."""
    return urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")


def made_anew(before: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Return the topics that have another id now: they were deleted and created again."""
    return {topic for topic in before.keys() & now.keys() if before[topic] != now[topic]}


def partitions_from_json(text: str) -> tuple[TopicPartition, ...]:
    """Read `{"topic":[0,1]}`, in order. Raises: ValueError for anything else."""
    found: set[TopicPartition] = set()
    try:
        for topic, parts in _items(json.loads(text)):
            found.update(TopicPartition(topic, partition) for partition in _numbers(parts))
    except ValueError:
        raise ValueError(f"expected e.g. {_PARTITIONS_EXAMPLE}, got {text}") from None
    return tuple(sorted(found))


def _items(found: object) -> Iterable[tuple[str, Any]]:
    if not isinstance(found, dict):
        raise ValueError(f"{found!r} is not a JSON object")  # noqa: TRY004 - of wrong JSON
    return found.items()


def _numbers(parts: object) -> list[int]:
    if not (isinstance(parts, list) and all(is_int(each) and each >= 0 for each in parts)):
        raise ValueError(f"{parts!r} is not a list of partitions")
    return parts


# Ranges…


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """The records of a partition from `start` up to `end`, exclusive."""

    topic: str
    partition: int
    start: int
    end: int
    epoch: int = field(default=-1, compare=False)
    """A leader epoch of the log that has the end; -1: not known."""

    @property
    def topic_partition(self) -> TopicPartition:
        return TopicPartition(self.topic, self.partition)

    @property
    def size(self) -> int:
        """How many offsets it has. With compaction and markers there are fewer records."""
        return self.end - self.start

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition} from {self.start} to {self.end}"


@dataclass(frozen=True, slots=True)
class RangePlan:
    """The ranges to read, and a sentence for each range that cannot be read any more."""

    ranges: tuple[OffsetRange, ...]
    losses: tuple[str, ...]


def plan_ranges(
    start: Mapping[TopicPartition, int],
    end: Mapping[TopicPartition, int],
    earliest: Mapping[TopicPartition, int],
    renewed: Iterable[str] = (),
    cut: Mapping[TopicPartition, int] = MappingProxyType({}),
) -> RangePlan:
    """Return the ranges between two offsets of a stream.

    `earliest` has the first offsets of partitions that are in `end` but not in `start`. These are
    new, and are read from there. A partition that `earliest` lacks has gone meanwhile. `renewed`
    are topics that were deleted and created again; `start` has none of their partitions. `cut` are
    the offsets where logs go on that lack what was before their start.
    """
    losses = [made_again(topic) for topic in sorted(renewed)]
    gone = sorted(start.keys() - end.keys())
    if gone:
        losses.append(gone_partitions(gone))
    new = end.keys() - start.keys()
    for tp in sorted(new & earliest.keys()):
        if earliest[tp]:
            losses.append(
                f"added partition {names_of([tp])} starts from {earliest[tp]} instead of 0, "
                f"{earliest[tp]} records may have been missed"
            )
    vanished = sorted(new - earliest.keys())
    if vanished:
        losses.append(f"{names_of(vanished)} came and went, some data may have been missed")
    begin = {**earliest, **start, **{tp: max(at, earliest.get(tp, at)) for tp, at in cut.items()}}
    epochs = end.epochs if isinstance(end, Offsets) else {}
    ranges = []
    for tp in sorted(end.keys() & begin.keys()):
        if end[tp] < begin[tp]:
            losses.append(
                f"partition {names_of([tp])}'s offset was changed from {begin[tp]} to {end[tp]}, "
                "some data may have been missed: was the topic deleted and created again?"
            )
        elif end[tp] > begin[tp]:
            ranges.append(OffsetRange(*tp, begin[tp], end[tp], epochs.get(tp, -1)))
    return RangePlan(tuple(ranges), tuple(losses))


def gone_partitions(partitions: Iterable[TopicPartition]) -> str:
    """Return the sentence about partitions that are not there any more."""
    return f"{names_of(sorted(partitions))} are gone, some data may have been missed"


def made_again(topic: str) -> str:
    """Return the sentence about a topic that is another one by now."""
    return f"topic {topic} was deleted and created again, some data may have been missed"


def cut_log(tp: TopicPartition, at: int, offset: int) -> str:
    """Return the sentence about a log that a new leader has cut before an offset."""
    return (
        f"partition {names_of([tp])}'s log was cut at {at}, before offset {offset}, by a new leader"
        " that lacked the records behind it (an unclean election), some data may have been missed"
    )


def split_ranges(
    ranges: Iterable[OffsetRange],
    min_partitions: int | None = None,
    max_records: int | None = None,
) -> list[OffsetRange]:
    """Cut ranges so that none exceeds `max_records`, and there are about `min_partitions`.

    Empty ranges are left out. `min_partitions` is a hint, as in Spark's own source. Large ranges
    are cut in proportion, small ones stay whole, and rounding may give some more or fewer.
    """
    whole = [each for each in ranges if each.size > 0]
    if max_records is not None:
        whole = [
            piece for each in whole for piece in _cut(each, math.ceil(each.size / max_records))
        ]
    if min_partitions is None or len(whole) >= min_partitions:
        return whole
    total = sum(each.size for each in whole)
    small = [each for each in whole if _share(each.size, total, min_partitions) == 1]
    left = max(min_partitions - len(small), 1)
    total -= sum(each.size for each in small)
    kept = set(small)
    return [
        piece
        for each in whole
        for piece in _cut(each, 1 if each in kept else _share(each.size, total, left))
    ]


def _share(size: int, total: int, parts: int) -> int:
    """Return how many of the parts a range of that size gets; halves are rounded up."""
    return max((2 * size * parts + total) // (2 * total), 1)


def _cut(whole: OffsetRange, parts: int) -> Iterator[OffsetRange]:
    """Yield up to that many pieces of nearly equal size, none of them empty."""
    parts = min(parts, whole.size)
    start, size = whole.start, whole.size
    for part in range(parts):
        end = start + size // (parts - part)
        size -= end - start
        yield replace(whole, start=start, end=end)
        start = end


def group_ranges(ranges: Iterable[OffsetRange], least: int | None) -> list[tuple[OffsetRange, ...]]:
    """Return the ranges of each task: neighbours together, until a task has `least` offsets.

    Without `least` each task has one range. It depends on nothing but offsets and options, because
    a batch that comes again must have the same tasks.
    """
    tasks: list[tuple[OffsetRange, ...]] = []
    open_: list[OffsetRange] = []
    for each in ranges:
        open_.append(each)
        if least is None or sum(part.size for part in open_) >= least:
            tasks.append(tuple(open_))
            open_ = []
    if open_:
        tasks.append(tuple(open_))
    return tasks


# Limits of a trigger…


def backlog(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> int:
    """Return how many offsets lie between. A partition whose end is before its start counts 0."""
    return sum(max(offset - start.get(tp, 0), 0) for tp, offset in end.items())


def rate_limit(
    limit: int, start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]
) -> Offsets:
    """Return the end offsets for about `limit` offsets, shared in proportion to the backlogs.

    Every partition with a backlog advances by at least one, so that none starves. `start` has all
    partitions of `end`. A missing one counts as being at its end.
    """
    sizes = {tp: max(offset - start.get(tp, offset), 0) for tp, offset in end.items()}
    total = sum(sizes.values())
    if not total:
        return Offsets(end)
    limited = Offsets()
    for tp, offset in end.items():
        if not sizes[tp]:
            limited[tp] = offset
            continue
        share = max(limit * sizes[tp] // total, 1)
        limited[tp] = min(start[tp] + share, offset)
    return limited


__all__ = [
    "EARLIEST",
    "LATEST",
    "OffsetRange",
    "Offsets",
    "RangePlan",
    "backlog",
    "cut_log",
    "gone_partitions",
    "group_ranges",
    "id_text",
    "made_again",
    "made_anew",
    "partitions_from_json",
    "plan_ranges",
    "rate_limit",
    "split_ranges",
]
