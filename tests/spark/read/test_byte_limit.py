"""A limit in bytes becomes one in offsets, by what some records weigh."""

import pytest

from aiokafka_lite.errors import NodeNotReadyError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.offsets import OffsetRange, Offsets
from aiokafka_lite.spark.read.byte_limit import SAMPLES, VALID_S, ByteLimit
from aiokafka_lite.testing.fake_clock import FakeClock


class Records:
    """Weighs what it is told to; counts the looks."""

    def __init__(self, **weights: float | Exception | None) -> None:
        self.weights = weights
        self.looks: list[str] = []

    def weigh(self, part: OffsetRange) -> float | None:
        self.looks.append(part.topic)
        found = self.weights.get(part.topic)
        if isinstance(found, Exception):
            raise found
        return found


def at(**offsets: int) -> Offsets:
    return Offsets({TopicPartition(topic, 0): offset for topic, offset in offsets.items()})


def test_backlogs_are_weighed_by_their_sizes() -> None:
    records = Records(a=10.0, b=100.0, c=5.0)
    limit = ByteLimit(1000, records.weigh, FakeClock())
    # 90 offsets of 10 bytes and 10 of 100 are 19 bytes each; c has none.
    assert limit.offsets(at(a=0, b=5, c=7), at(a=90, b=15, c=7)) == 1000 // 19
    assert records.looks == ["a", "b"]


def test_there_is_always_one_offset() -> None:
    limit = ByteLimit(1, Records(a=1e6).weigh, FakeClock())
    assert limit.offsets(at(a=0), at(a=5)) == 1
    nothing = ByteLimit(7, Records(a=0.0).weigh, FakeClock())
    assert nothing.offsets(at(a=0), at(a=5)) == 7


async def test_a_partition_is_looked_at_once_in_a_while() -> None:
    clock = FakeClock()
    records = Records(a=10.0)
    limit = ByteLimit(100, records.weigh, clock)
    for _ in range(3):
        assert limit.offsets(at(a=0), at(a=50)) == 10
    records.weights["a"] = 20.0
    await clock.advance(VALID_S)
    assert limit.offsets(at(a=0), at(a=50)) == 5
    assert len(records.looks) == 2


def test_what_was_not_looked_at_weighs_as_much_as_the_rest() -> None:
    topics = {f"t{number:02}": 10 + number for number in range(SAMPLES + 4)}
    records = Records(**dict.fromkeys(topics, 10.0))
    limit = ByteLimit(100, records.weigh, FakeClock())
    assert limit.offsets(at(**dict.fromkeys(topics, 0)), at(**topics)) == 10
    assert records.looks == sorted(topics, reverse=True)[:SAMPLES]  # the largest first


def test_without_any_answer_an_offset_has_a_kilobyte(caplog: pytest.LogCaptureFixture) -> None:
    records = Records(a=NodeNotReadyError("not now"), b=None)
    limit = ByteLimit(10_240, records.weigh, FakeClock())
    assert limit.offsets(at(a=0, b=0), at(a=50, b=50)) == 10
    assert "the size of a-0 from 0 to 50 is not known" in caplog.text
    records.weights["b"] = 20.0
    assert limit.offsets(at(a=0, b=0), at(a=50, b=50)) == 512
