"""Judges records, however they were sent and whatever happened meanwhile.

Written once at most, in the partition that was named or that the key's hash says, in the order of
the calls; there, if the sender was told so; and everybody was told in time.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aiokafka_lite.model import RecordMetadata
from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from tests.adversity.producer.producer_schedules import DELIVERY_TIMEOUT_MS, MAX_BLOCK_MS
from tests.adversity.producer.send_calls import NUMBER_SIZE, Made, Way

ROUNDING_S = 0.001


class Written(NamedTuple):
    """The log of a partition, or what readers see of it; a topic that was deleted had another."""

    topic: str
    partition: int
    records: list[tuple[int, int]]
    """(offset, record's number) in their order."""

    @classmethod
    def of(cls, topic: str, partition: int, records: Iterable[tuple[int, bytes]]) -> "Written":
        """Return what records, as (offset, value), say."""
        numbers = [(offset, int(value[:NUMBER_SIZE])) for offset, value in records]
        return cls(topic, partition, numbers)


def judge_logs(
    made: Sequence[Made], logs: Sequence[Written], counts: dict[str, set[int]], *, in_order: bool
) -> None:
    """Each record is where it belongs, once, and behind what was called before it.

    `counts`: how many partitions a topic has had. `in_order`: also calls that overlap have kept
    their order.
    """
    by_number = {number: each for each in made for number in each.numbers}
    for log in logs:
        numbers = [number for _, number in log.records]
        twice = [number for number, count in Counter(numbers).items() if count > 1]
        assert not twice, f"written twice to {log.topic}-{log.partition}: {twice}"
        for number in numbers:
            _judge_place(number, by_number[number], log, counts)
        _judge_order(numbers, by_number, log, in_order=in_order)


def _judge_place(number: int, made: Made, log: Written, counts: dict[str, set[int]]) -> None:
    call = made.call
    assert call.topic == log.topic, f"{number} is in {log.topic}"
    if call.partition is not None or call.way is Way.BATCH:
        assert (call.partition or 0) == log.partition, f"{number} is in partition {log.partition}"
    elif call.key is not None:
        hashed = murmur2(call.key) & 0x7FFFFFFF
        right = {hashed % count for count in counts[log.topic]}
        assert log.partition in right, f"{number} is in partition {log.partition}, not {right}"


def _judge_order(
    numbers: list[int], by_number: dict[int, Made], log: Written, *, in_order: bool
) -> None:
    for at, number in enumerate(numbers):
        made = by_number[number]
        for before in numbers[:at]:
            earlier = by_number[before]
            if earlier is made:
                is_right = before < number
            else:
                is_right = not _precedes(made, earlier, in_order=in_order)
            assert is_right, f"{before} overtook {number} in {log.topic}-{log.partition}"


def _precedes(first: Made, second: Made, *, in_order: bool) -> bool:
    """Return whether the records of `first` have to be before those of `second`."""
    if first.began >= second.began:
        return False
    if first.ended is not None and first.ended < second.began:
        return True
    # send_nowait() waits for nobody; what is left of many records is behind who came meanwhile.
    return in_order and not first.is_bulk and second.call.way is not Way.NOWAIT


def judge_acknowledged(made: Sequence[Made], logs: Sequence[Written]) -> None:
    """Each record whose ack says that it is written is in the log."""
    places = {
        (log.topic, log.partition, number): {
            offset for other, offset in _offsets(logs, log, number)
        }
        for log in logs
        for _, number in log.records
    }
    there = {(topic, number) for topic, _, number in places}
    for each in made:
        for number, fate in each.fates.items():
            if isinstance(fate, RecordMetadata):
                offsets = places.get((each.call.topic, fate.partition, number), set())
                assert offsets, f"{number} is lost"
                assert fate.offset == -1 or fate.offset in offsets, f"{number}: offset"
            elif fate is None:
                assert (each.call.topic, number) in there, f"{number} is lost"


def _offsets(logs: Sequence[Written], like: Written, number: int) -> Iterable[tuple[Written, int]]:
    for log in logs:
        if (log.topic, log.partition) == (like.topic, like.partition):
            yield from ((log, offset) for offset, found in log.records if found == number)


def judge_refused(made: Sequence[Made], logs: Sequence[Written]) -> None:
    """What a call refused, or a cancelled one has not queued, is nowhere."""
    there = {number for log in logs for _, number in log.records}
    for each in made:
        never_sent = {n for n, fate in each.fates.items() if "never sent" in str(fate)}
        if each.is_refused:
            never_sent |= set(each.numbers)
        assert not never_sent & there, f"{never_sent & there} were written all the same"


def judge_answers(made: Sequence[Made]) -> None:
    """Each call and each record has one outcome, in time."""
    for each in made:
        assert each.ended_at_s is not None, f"no end: {each}"
        waited_s = each.ended_at_s - each.began_at_s
        waits = len(each.numbers) if each.is_bulk else 1
        waits += each.call.way is Way.ARROW  # for the topic's partitions, before its first row
        limit_s = MAX_BLOCK_MS / 1000 * waits + ROUNDING_S
        if each.call.way is Way.AND_WAIT:
            limit_s += DELIVERY_TIMEOUT_MS / 1000
        assert waited_s <= limit_s, f"waited {waited_s} s: {each}"
        if each.error is None:
            assert each.told_at_s is not None, f"no answer: {each}"
            took_s = each.told_at_s - each.ended_at_s
            limit_s = DELIVERY_TIMEOUT_MS / 1000 + ROUNDING_S
            assert took_s <= limit_s, f"told after {took_s} s: {each}"
            if each.call.way in (Way.SEND, Way.NOWAIT, Way.BATCH):
                assert len(each.calls_back) == 1, f"called back {len(each.calls_back)}x: {each}"


__all__ = ["Written", "judge_acknowledged", "judge_answers", "judge_logs", "judge_refused"]
