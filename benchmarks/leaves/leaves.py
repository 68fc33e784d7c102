"""Measures the leaves without a network: records, checksums and codecs, messages,
schemas; four tables.

The figure is the CPU of this process. The contenders take turns within each round.
"""

from collections.abc import Iterator

from benchmarks.leaves.contest import Samples
from benchmarks.leaves.leaf_bytes import byte_rows
from benchmarks.leaves.leaf_messages import message_rows
from benchmarks.leaves.leaf_records import PURE_DECODE, record_rows
from benchmarks.leaves.leaf_schemas import schema_rows
from benchmarks.report.progress import Steps
from benchmarks.report.results import Figure, Table

ROWS = 29
"""How many rows all tables have."""
NS, US = 1e9, 1e6
CONDITIONS = "CPU in one process, contenders in turn, {rounds} rounds. "
OF_RECORDS = (
    "8-byte key, 100-byte value; decode: batches of 8,800 records into consumer records, CRC "
    "checked; build: batches of 16 KB. Pure Python is measured in a process of its own."
)
OF_BYTES = "Bytes of record batches, each client's default level (see Clients)."
OF_MESSAGES = "Fetch version 11, Produce version 8: the newest aiokafka has."
OF_SCHEMAS = "A record of four fields whose schema is known, in Confluent's wire format."
TARGETS = {(PURE_DECODE, "aiokafka"): 0.8, (PURE_DECODE, "kafka-python"): 2.5}


def measure(steps: Steps, *, rounds: int) -> list[Table]:
    """Measure all four tables."""
    steps.expect(ROWS)
    said = CONDITIONS.format(rounds=rounds)
    records = _figures(record_rows(100, rounds), NS, steps)
    data = _figures(byte_rows(rounds), US, steps)
    messages = _figures(message_rows(rounds), US, steps)
    schemas = _figures(schema_rows(rounds), US, steps)
    return [
        Table("leaf-records", "Records", "ns/record", said + OF_RECORDS, records, TARGETS),
        Table("leaf-bytes", "Checksum and codecs", "µs/MiB", said + OF_BYTES, data),
        Table("leaf-messages", "Messages", "µs/message", said + OF_MESSAGES, messages),
        Table("leaf-schemas", "Schemas", "µs/record", said + OF_SCHEMAS, schemas),
    ]


def _figures(rows: Iterator[tuple[str, Samples]], unit: float, steps: Steps) -> list[Figure]:
    found = []
    for row, samples in rows:
        steps.begin(f"leaves: {row}")
        found += [
            Figure(row, client, [value * unit for value in taken])
            for client, taken in samples.items()
        ]
        steps.done()
    return found
