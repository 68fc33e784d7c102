"""Judges by the log and the acks alone whether a producer's acks are true.

Plain functions. Each checks one rule for the sent records and the log of their topic, which another
client has read. It returns its complaints as sentences; without any the rule was kept.
"""

import itertools
import operator
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass

from aiokafka_lite.errors import KafkaError

Log = Mapping[int, Mapping[int, int]]
"""The number of a record by partition and offset, the offsets ascending."""


@dataclass(slots=True)
class Sent:
    """One sent record. Its moments are in seconds of one clock."""

    number: int
    partition: int
    sent_s: float
    done_s: float | None = None
    offset: int | None = None
    """The place that the ack names; None without an ack, or if the record failed."""
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of records, in all and by outcome."""

    sent: int = 0
    acked: int = 0
    failed: int = 0
    duplicates: int = 0
    lost: int = 0
    """Records that were acknowledged but are not where the ack says."""

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(*map(operator.add, astuple(self), astuple(other)))


def tally(sent: Sequence[Sent], log: Log) -> Tally:
    """Count the records by outcome."""
    return Tally(
        sent=len(sent),
        acked=sum(1 for each in sent if each.offset is not None),
        failed=sum(1 for each in sent if each.error is not None),
        duplicates=len(written_twice(log)),
        lost=len(not_where_acked(sent, log)),
    )


def tally_of_copy(source: Log, copy: Log) -> Tally:
    """Count the records that the copy of a topic lacks or has more than once."""
    numbers = {number for each in copy.values() for number in each.values()}
    lost = sum(1 for each in source.values() for number in each.values() if number not in numbers)
    return Tally(duplicates=len(written_twice(copy)), lost=lost)


def without_outcome(sent: Iterable[Sent]) -> list[str]:
    """Each record is acknowledged or fails."""
    return [f"{each.number} has no outcome" for each in sent if each.done_s is None]


def not_where_acked(sent: Iterable[Sent], log: Log) -> list[str]:
    """An acknowledged record is in the log, where its ack says."""
    return [
        f"{each.number} was acknowledged as {each.partition}@{each.offset}, where there is "
        f"{log.get(each.partition, {}).get(each.offset)}"
        for each in sent
        if each.offset is not None and log.get(each.partition, {}).get(each.offset) != each.number
    ]


def written_twice(log: Log) -> list[str]:
    """No record is in the log twice, acknowledged or not."""
    counts = Counter(number for numbers in log.values() for number in numbers.values())
    return [
        f"{number} is in the log {count} times" for number, count in counts.items() if count > 1
    ]


def out_of_order(log: Log) -> list[str]:
    """Records of a partition are in the log in the order of sending, acknowledged or not."""
    return [
        f"in partition {partition} {second} comes after {first}"
        for partition, numbers in log.items()
        for first, second in itertools.pairwise(numbers.values())
        if second < first
    ]


def unclear_failures(sent: Iterable[Sent], bound_s: float) -> list[str]:
    """A failed record has a KafkaError, within the bound."""
    found = []
    for each in sent:
        if each.error is None or each.done_s is None:
            continue
        if not isinstance(each.error, KafkaError) or len(str(each.error)) < 20:
            found.append(f"{each.number} failed with {each.error!r}")
        if each.done_s - each.sent_s > bound_s:
            found.append(
                f"{each.number} failed after {each.done_s - each.sent_s:.2f} s, "
                f"the bound is {bound_s:.2f} s: {each.error!r}"
            )
    return found


def all_complaints(sent: Sequence[Sent], log: Log, bound_s: float) -> list[str]:
    """Return the complaints of all rules."""
    return [
        *without_outcome(sent),
        *not_where_acked(sent, log),
        *written_twice(log),
        *out_of_order(log),
        *unclear_failures(sent, bound_s),
    ]


def unlike_source(source: Log, copy: Log) -> list[str]:
    """A copy made exactly once has the records of its source, in their order, partition by
    partition.
    """
    found = written_twice(copy)
    for partition in sorted(source.keys() | copy.keys()):
        expected = list(source.get(partition, {}).values())
        copied = list(copy.get(partition, {}).values())
        if copied != expected:
            place = sum(
                1 for _ in itertools.takewhile(_is_pair, zip(expected, copied, strict=False))
            )
            found.append(
                f"partition {partition} has {len(expected)} records, its copy {len(copied)}; from "
                f"the {place}th on {expected[place : place + 5]} became {copied[place : place + 5]}"
            )
    return found


def _is_pair(pair: tuple[int, int]) -> bool:
    return pair[0] == pair[1]


# The figures…


def seconds_to_resume(sent: Sequence[Sent], since_s: float, partitions: int) -> float | None:
    """Return the seconds from `since_s` until each partition had an ack of a later record.

    None if a partition had none.
    """
    later = itertools.takewhile(lambda each: each.sent_s > since_s, reversed(sent))
    resumed: dict[int, float] = {}
    for each in later:
        if each.offset is not None and each.done_s is not None:
            resumed[each.partition] = min(each.done_s, resumed.get(each.partition, each.done_s))
    return max(resumed.values()) - since_s if len(resumed) == partitions else None


def longest_gap(sent: Iterable[Sent]) -> float:
    """Return the longest time in which a partition had no ack."""
    moments: dict[int, list[float]] = defaultdict(list)
    for each in sent:
        if each.partition not in moments:
            moments[each.partition].append(each.sent_s)
        if each.offset is not None and each.done_s is not None:
            moments[each.partition].append(each.done_s)
    return max(
        (
            later - earlier
            for each in moments.values()
            for earlier, later in itertools.pairwise(sorted(each))
        ),
        default=0.0,
    )


def slowest_ack(sent: Iterable[Sent]) -> float:
    """Return the longest time from sending to the ack."""
    return max(
        (each.done_s - each.sent_s for each in sent if each.offset is not None and each.done_s),
        default=0.0,
    )
