"""Decodes and builds batches of records, by ours, aiokafka's and kafka-python's, on the same bytes.

Decoding checks the checksum and ends with a list of consumer records. Building begins with key and
value as bytes and ends with the finished batch.

`python -m benchmarks.leaves.leaf_records ROUNDS CLIENT...` prints two rows of this build as JSON.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from aiokafka.record.default_records import DefaultRecordBatch as AiokafkaBatch
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from aiokafka.structs import ConsumerRecord as AiokafkaRecord

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.batch_reader import RecordCursor
from benchmarks.leaves import kafka_python_parts
from benchmarks.leaves.contest import Contender, Samples, measure

RECORDS = 8_800
"""About 1 MiB at the default value size, like the response to a fetch."""
POLL = 500
BATCH_BYTES = 16_384
CLIENTS = ("aiokafka-lite", "aiokafka", "kafka-python")
PURE_DECODE = "decode, pure Python"
TIMESTAMP = 1_700_000_000_000
KEY = b"key-0001"
HEADERS = (("trace", b"00-4bf92f3577b34da6-01"), ("source", b"billing"), ("attempt", b"1"))


def values(size: int) -> list[bytes]:
    return [
        (b'{"id": %d, "name": "customer %d", ' % (i, i)).ljust(size, b"x") for i in range(RECORDS)
    ]


def build_ours(contents: list[bytes], codec: int, headers: Any = ()) -> bytes:
    size = sum(map(len, contents)) + RECORDS * 150
    builder = RecordBatchBuilder(bytearray(size), compression=CompressionType(codec))
    for index, value in enumerate(contents):
        builder.append(TIMESTAMP + index // 3, KEY, value, headers)
    builder.stamp(1, 0, 0)
    return bytes(builder.wire())


# Decoding…


def decode_ours(data: bytes) -> int:
    cursor = RecordCursor(data, topic="t", partition=0, fetch_offset=0)
    found = 0
    while records := cursor.take(POLL):
        found += len(records)
    return found


def decode_with(batch_class: Any, record_of: Callable[[Any], Any], data: bytes) -> int:
    """Decode a batch into a peer's own records, then convert these into the user's."""
    batch = batch_class(data)
    if not batch.validate_crc():
        raise ValueError("wrong checksum")
    found = 0
    chunk = []
    for record in batch:
        chunk.append(record_of(record))
        if len(chunk) == POLL:
            found += POLL
            chunk = []
    return found + len(chunk)


def aiokafka_record(r: Any) -> Any:
    sizes = len(r.key), len(r.value)
    return AiokafkaRecord(
        "t", 0, r.offset, r.timestamp, r.timestamp_type, r.key, r.value, None, *sizes, r.headers
    )


def kafka_python_record(r: Any) -> Any:
    return kafka_python_parts.ConsumerRecord(
        "t",
        0,
        -1,
        r.offset,
        r.timestamp,
        r.timestamp_type,
        r.key,
        r.value,
        r.headers,
        None,
        len(r.key),
        len(r.value),
        -1,
    )


def decode_aiokafka(data: bytes) -> int:
    return decode_with(AiokafkaBatch, aiokafka_record, data)


def decode_kafka_python(data: bytes) -> int:
    return decode_with(kafka_python_parts.DefaultRecordBatch, kafka_python_record, data)


# Building…


def encode_ours(contents: list[bytes], codec: int) -> int:
    buffer = bytearray(BATCH_BYTES)  # the producer's pool provides it
    position = batches = 0
    while position < len(contents):
        builder = RecordBatchBuilder(buffer, compression=CompressionType(codec))
        append = builder.append
        while position < len(contents):
            if append(TIMESTAMP, KEY, contents[position]) is None:
                break
            position += 1
        builder.stamp(1, 0, batches)
        builder.wire()
        batches += 1
    return position


def encode_with(builder_class: Any, contents: list[bytes], codec: int) -> int:
    position = batches = 0
    while position < len(contents):
        builder = builder_class(2, codec, False, 1, 0, batches, BATCH_BYTES)
        append = builder.append
        offset = 0
        while position < len(contents):
            if append(offset, TIMESTAMP, KEY, contents[position], []) is None:
                break
            position += 1
            offset += 1
        builder.build()
        batches += 1
    return position


def encode_aiokafka(contents: list[bytes], codec: int) -> int:
    return encode_with(AiokafkaBuilder, contents, codec)


def encode_kafka_python(contents: list[bytes], codec: int) -> int:
    return encode_with(kafka_python_parts.DefaultRecordBatchBuilder, contents, codec)


# Decoding and building…


def decoders(data: bytes) -> dict[str, Contender]:
    """Return the functions that decode these bytes into users' records."""
    return {
        "aiokafka-lite": partial(decode_ours, data),
        "aiokafka": partial(decode_aiokafka, data),
        "kafka-python": partial(decode_kafka_python, data),
    }


def builders(contents: list[bytes], codec: int) -> dict[str, Contender]:
    """Return the functions that build batches of these values."""
    return {
        "aiokafka-lite": partial(encode_ours, contents, codec),
        "aiokafka": partial(encode_aiokafka, contents, codec),
        "kafka-python": partial(encode_kafka_python, contents, codec),
    }


def record_rows(value_bytes: int, rounds: int) -> Iterator[tuple[str, Samples]]:
    """Measure row by row; seconds per record."""
    contents = values(value_bytes)
    for codec in CompressionType:
        data = build_ours(contents, codec)
        yield f"decode, {codec.name.lower()}", measure(decoders(data), rounds)
    data = build_ours(contents, 0, HEADERS)
    yield "decode, 3 headers", measure(decoders(data), rounds)
    pure = in_a_pure_process(rounds)
    yield PURE_DECODE, pure["decode"]
    for codec in CompressionType:
        yield f"build, {codec.name.lower()}", measure(builders(contents, codec), rounds)
    yield "build, pure Python", pure["build"]


def of_this_build(rounds: int, clients: Sequence[str] = CLIENTS) -> dict[str, Samples]:
    """Measure `decode` and `build` without compression; seconds per record."""
    contents = values(100)
    data = build_ours(contents, 0)
    contests = {"decode": decoders(data), "build": builders(contents, 0)}
    return {
        leaf: measure({name: contenders[name] for name in clients}, rounds)
        for leaf, contenders in contests.items()
    }


def in_a_pure_process(rounds: int, clients: Sequence[str] = CLIENTS) -> dict[str, Samples]:
    """Measure the same in a pure process: beside native parts the pure twins are slower."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.leaves.leaf_records", str(rounds), *clients],
        env={**os.environ, "AIOKAFKA_LITE_PURE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, Samples] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    print(json.dumps(of_this_build(int(sys.argv[1]), sys.argv[2:])))
