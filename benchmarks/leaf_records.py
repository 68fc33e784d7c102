"""Nanoseconds per record to decode and to build a batch.

Ours, aiokafka's and kafka-python's, on the same bytes.

    python benchmarks/leaf_records.py [--json] [--value-size 100] [--rounds 15]

Decoding ends with consumer records in a list, checksum checked; building begins with key and value
as bytes and ends with the finished batch. Process time, best of the rounds; the clients take turns
within each round.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from aiokafka.record.default_records import DefaultRecordBatch as AiokafkaBatch
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from aiokafka.structs import ConsumerRecord as AiokafkaRecord

from aiokafka_lite.codec.crc32c import USES_C
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import libraries
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.batch_reader import RecordCursor

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # kafka-python's way of reading resources
    from kafka.consumer.fetcher import ConsumerRecord as KafkaPythonRecord
    from kafka.record.default_records import DefaultRecordBatch as KafkaPythonBatch
    from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder

RECORDS = 8_800
"""About 1 MiB at the default value size: what a fetch brings."""
POLL = 500
BATCH_BYTES = 16_384
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
    """The two peers decode a batch into records of their own, then make the user's out of them."""
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
    return KafkaPythonRecord(
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
    return decode_with(KafkaPythonBatch, kafka_python_record, data)


# Building…


def encode_ours(contents: list[bytes], codec: int) -> int:
    buffer = bytearray(BATCH_BYTES)  # pooled by the producer
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
    return encode_with(KafkaPythonBuilder, contents, codec)


# Measuring…

Contender = Callable[[], int]


def measure(contenders: dict[str, Contender], rounds: int) -> dict[str, float | None]:
    """Return ns per record of each; None for a peer without a library for the codec."""
    best: dict[str, float | None] = {}
    for name, run in contenders.items():
        try:
            run()
            best[name] = sys.float_info.max
        except Exception:  # noqa: BLE001  a peer without the codec raises its own kind of error
            best[name] = None
    for _ in range(rounds):
        for name, run in contenders.items():
            sofar = best[name]
            if sofar is None:
                continue
            start = time.process_time()
            records = run()
            best[name] = min(sofar, (time.process_time() - start) * 1e9 / records)
    return best


def table(value_size: int, rounds: int) -> dict[str, dict[str, float | None]]:
    contents = values(value_size)
    rows: dict[str, dict[str, float | None]] = {}
    for codec in CompressionType:
        data = build_ours(contents, codec)
        rows[f"decode {codec.name.lower()}"] = measure(
            {
                "aiokafka-lite": partial(decode_ours, data),
                "aiokafka": partial(decode_aiokafka, data),
                "kafka-python": partial(decode_kafka_python, data),
            },
            rounds,
        )
    data = build_ours(contents, 0, HEADERS)
    rows["decode none, 3 headers"] = measure(
        {
            "aiokafka-lite": partial(decode_ours, data),
            "aiokafka": partial(decode_aiokafka, data),
            "kafka-python": partial(decode_kafka_python, data),
        },
        rounds,
    )
    for codec in CompressionType:
        rows[f"build {codec.name.lower()}"] = measure(
            {
                "aiokafka-lite": partial(encode_ours, contents, codec),
                "aiokafka": partial(encode_aiokafka, contents, codec),
                "kafka-python": partial(encode_kafka_python, contents, codec),
            },
            rounds,
        )
    return rows


def show(rows: dict[str, dict[str, float | None]], value_size: int, rounds: int) -> None:
    twin = RecordBatchBuilder.__module__.rpartition(".")[2]
    crc = "C" if USES_C else "Python"
    print(f"CPython {sys.version.split()[0]}, {twin}, crc32c in {crc}, {libraries()}")
    print(f"8-byte key, {value_size}-byte value; ns per record, best of {rounds} rounds")
    print(f"{'':24}" + "".join(f"{name:>15}" for name in next(iter(rows.values()))))
    for label, row in rows.items():
        cells = ("-" if ns is None else f"{ns:,.0f}" for ns in row.values())
        print(f"{label:24}" + "".join(f"{cell:>15}" for cell in cells))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, not a table")
    parser.add_argument("--value-size", type=int, default=100, metavar="BYTES")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    rows = table(options.value_size, options.rounds)
    if options.json:
        print(json.dumps({"value_size": options.value_size, "ns_per_record": rows}))
    else:
        show(rows, options.value_size, options.rounds)


if __name__ == "__main__":
    main()
