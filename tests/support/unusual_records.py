"""Records that Kafka stores and a producer seldom makes, for tests of what passes records on."""

from typing import Any, Final

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.testing.broker import EmbeddedBroker

Fields = tuple[int, bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]
"""Timestamp in ms, key, value and headers."""

ANY_TIME: Final = {"message.timestamp.after.max.ms": str(2**63 - 1)}
"""Settings of a topic that takes the year 9999; by default Kafka takes an hour ahead."""
UNUSUAL: Final[dict[str, Fields]] = {
    "no timestamp": (-1, b"k", b"v", ()),
    "a moment before 1970": (-7, b"k", b"v", ()),
    "the year 1": (-62_135_596_800_000, b"k", b"v", ()),
    "1970": (0, b"k", b"v", ()),
    "the year 10000": (253_402_300_800_000, b"k", b"v", ()),
    "neither key nor value": (5, None, None, ()),
    "an empty key and value": (6, b"", b"", ()),
    "no key": (7, None, b"v", ()),
    "a deletion": (8, b"k", None, ()),
    "repeated, empty and null headers": (9, b"k", b"v", (("h", b"1"), ("h", None), ("", b""))),
    "nothing at all": (-1, None, None, ()),
    "nothing but headers": (-1, None, None, (("h", None),)),
}
KINDS: Final = [*UNUSUAL]


def put(broker: EmbeddedBroker, tp: TopicPartition, *records: Fields) -> None:
    """Append records as one batch."""
    builder = RecordBatchBuilder(bytearray(1 << 16))
    for record in records:
        assert builder.append(*record) is not None
    builder.seal()
    broker.append(tp, builder.wire())


def fields_of(broker: EmbeddedBroker, tp: TopicPartition) -> list[Fields]:
    """Return what is stored in a partition."""
    return [fields(record) for record in broker.log(tp).records()]


def fields(record: Any) -> Fields:
    """Return the fields of a record that a copy keeps."""
    return record.timestamp, record.key, record.value, tuple(record.headers)


__all__ = ["KINDS", "UNUSUAL", "Fields", "fields", "fields_of", "put"]
