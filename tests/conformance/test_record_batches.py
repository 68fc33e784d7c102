"""Our record batches against Apache Kafka's, aiokafka's and kafka-python's, both ways.

`java_batches.json` was written by `JavaBatches.java` beside it, with the MemoryRecords of
Kafka 4.3.1.
"""

import json
import struct
import warnings
from pathlib import Path

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder as AiokafkaLegacyBuilder
from aiokafka.record.memory_records import MemoryRecords as AiokafkaRecords

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.batch_header import assign_offsets
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.record.control_record import ControlRecordType, build_control_batch
from tests.support.record_batches import validate_batch

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # kafka-python's way of reading its resources
    from kafka import codec as kafka_python_codecs
    from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder
    from kafka.record.legacy_records import LegacyRecordBatchBuilder as KafkaPythonLegacyBuilder
    from kafka.record.memory_records import MemoryRecords as KafkaPythonRecords

JAVA = {
    name: bytes.fromhex(batch)
    for name, batch in json.loads(
        (Path(__file__).parent / "java_batches.json").read_text(encoding="utf-8")
    ).items()
}
START = 1_700_000_000_000


def the_records():
    """The twenty records of JavaBatches.java: (timestamp, key, value, headers)."""
    records = []
    for i in range(20):
        headers = (("trace", b"abc"), ("none", None), ("ü", b"")) if i == 3 else ()
        key = None if i % 5 == 4 else b"key-%d" % i
        value = None if i % 7 == 6 else b"value-%d-" % i * i
        records.append((START + i * 1000 - (5000 if i == 10 else 0), key, value, headers))
    return records


RECORDS = the_records()
# Beyond the tables of both twins: large fields, negative and far timestamps, a name of many bytes.
HARD_RECORDS = [
    (5, b"", b"", ()),
    (4, b"k" * 64, b"v" * 63, ()),
    (-(2**40), b"k" * 8_191, b"v" * 8_192, ()),
    (2**45, None, b"v" * 70_000, (("n" * 200, b"x" * 9_000), ("", None))),
    *((5 + i * 7, b"%d" % i, None, ()) for i in range(300)),
]


def build(records, compression=CompressionType.NONE, **options):
    builder = RecordBatchBuilder(bytearray(1 << 20), compression=compression, **options)
    for index, record in enumerate(records):
        assert builder.append(*record) == index
    return builder


def read(data, fetch_offset=0):
    cursor = RecordCursor(data, topic="t", partition=0, fetch_offset=fetch_offset)
    records = []
    while not cursor.exhausted:
        records += cursor.take(7)
    return records


def fields(records):
    return [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in records]


def expected(records, base_offset=0):
    return [(base_offset + index, *record) for index, record in enumerate(records)]


# Apache Kafka…


@pytest.mark.parametrize("codec", [c.name.lower() for c in CompressionType])
def test_batches_of_java_are_read(codec):
    assert fields(read(JAVA[f"v2_{codec}"])) == expected(RECORDS, 100)
    header = validate_batch(JAVA[f"v2_{codec}"])
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (77, 3, 40)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
@pytest.mark.parametrize("magic", [0, 1])
def test_message_sets_of_java_are_read(magic, codec):
    records = read(JAVA[f"v{magic}_{codec}"])
    assert [(r.offset, r.timestamp, r.key, r.value) for r in records] == [
        (offset, timestamp if magic else -1, key, value)
        for offset, timestamp, key, value, _ in expected(RECORDS, 100)
    ]
    assert {r.timestamp_type for r in records} == {0 if magic else -1}


def test_fetch_offset_within_a_wrapper_of_java_is_kept_to():
    for name in ("v0_gzip", "v1_lz4", "v1_none", "v2_zstd"):
        assert [r.offset for r in read(JAVA[name], fetch_offset=115)] == [115, 116, 117, 118, 119]


def test_ours_is_javas_byte_for_byte():
    builder = build(RECORDS, is_transactional=True)
    builder.stamp(77, 3, 40)
    batch = bytearray(builder.wire())
    assign_offsets(batch, 100, 5)
    assert batch == JAVA["v2_none"]


@pytest.mark.parametrize("control", ControlRecordType)
def test_our_markers_are_javas_byte_for_byte(control):
    assert (
        build_control_batch(
            control,
            base_offset=200,
            producer_id=77,
            producer_epoch=3,
            timestamp_ms=1_700_000_000_123,
            leader_epoch=5,
            coordinator_epoch=2,
        )
        == JAVA[f"marker_{control.name.lower()}"]
    )


# aiokafka and kafka-python…


def aiokafka_builder(codec):
    return AiokafkaBuilder(2, codec, False, -1, -1, -1, 1 << 22)


def kafka_python_builder(codec):
    return KafkaPythonBuilder(2, codec, False, -1, -1, -1, 1 << 22)


def require(codec, witness):
    """Skip where kafka-python has no library for the codec; aiokafka always has one."""
    checks = {1: "has_gzip", 2: "has_snappy", 3: "has_lz4", 4: "has_zstd"}
    if codec == 0 or not witness.__module__.startswith("kafka"):
        return
    if not getattr(kafka_python_codecs, checks[codec])():
        pytest.skip(f"kafka-python has no library for {CompressionType(codec).name} here")


def read_by(witness, batch):
    records = witness(bytes(batch))
    found = []
    while records.has_next():
        found += records.next_batch()
    return fields(found)


WITNESSES = pytest.mark.parametrize("witness", [AiokafkaRecords, KafkaPythonRecords])
CODECS = pytest.mark.parametrize("codec", CompressionType)


@WITNESSES
@CODECS
@pytest.mark.parametrize("records", [RECORDS, HARD_RECORDS], ids=["plain", "hard"])
def test_ours_is_read_by_others(codec, records, witness):
    require(codec, witness)
    builder = build(records, codec)
    assert fields(read(builder.wire())) == expected(records)
    assert read_by(witness, builder.wire()) == expected(records)


@pytest.mark.parametrize("make", [aiokafka_builder, kafka_python_builder])
@CODECS
@pytest.mark.parametrize("records", [RECORDS, HARD_RECORDS], ids=["plain", "hard"])
def test_others_are_read_by_us(codec, records, make):
    require(codec, KafkaPythonBuilder if make is kafka_python_builder else AiokafkaBuilder)
    builder = make(codec)
    for index, (timestamp, key, value, headers) in enumerate(records):
        assert builder.append(index, timestamp, key, value, list(headers)) is not None
    assert fields(read(bytes(builder.build()))) == expected(records)


@pytest.mark.parametrize("make", [AiokafkaLegacyBuilder, KafkaPythonLegacyBuilder])
@pytest.mark.parametrize(
    ("magic", "codec"),  # neither writes lz4 with magic 0; Java's batches above do
    [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3)],
)
def test_message_sets_of_others_are_read_by_us(magic, codec, make):
    require(codec, make)
    builder = make(magic, codec, 1 << 20)
    for index, (timestamp, key, value, _) in enumerate(RECORDS):
        builder.append(index, timestamp, key, value)
    message_set = bytearray(builder.build())
    if magic == 1 and codec:  # the broker gives a wrapper the offset of its last message
        struct.pack_into(">q", message_set, 0, len(RECORDS) - 1)
    assert [(r.offset, r.timestamp, r.key, r.value) for r in read(message_set)] == [
        (index, timestamp if magic else -1, key, value)
        for index, (timestamp, key, value, _) in enumerate(RECORDS)
    ]


@WITNESSES
def test_batches_in_a_row_are_read_alike(witness):
    data = JAVA["v2_none"] + JAVA["v2_gzip"] + JAVA["v2_lz4"][:-1]  # the last one is partial
    assert fields(read(data)) == expected(RECORDS, 100)  # the second repeats the offsets
    assert read_by(witness, data)[:20] == expected(RECORDS, 100)
