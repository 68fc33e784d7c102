"""What real Kafkas have kept of compacted logs, read from compacted_logs.json.

`record_compacted_logs.py` beside it writes that file.
"""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_header import BatchHeader, parse_header
from aiokafka_lite.record.memory_records import iter_batches
from aiokafka_lite.testing.broker import EmbeddedBroker

LEVELS: Final = ("read_uncommitted", "read_committed")
Line = tuple[int, int, str, str]
"""Offset, time, key and value, as Java's console consumer prints them."""


@dataclass(frozen=True)
class Fetched:
    """One answer of Fetch."""

    offset: int
    """The requested one."""
    aborted: list[tuple[int, int]]
    records: bytes


@dataclass(frozen=True)
class CompactedLog:
    """The log of one topic."""

    name: str
    log_start: int
    last_stable: int
    high_watermark: int
    fetches: list[Fetched]
    java: dict[str, list[Line]]

    def end(self, level: str) -> int:
        """Return the offset behind all that consumers of this isolation level read."""
        return self.last_stable if level == "read_committed" else self.high_watermark

    def fetched(self, level: str) -> list[Fetched]:
        """Return the answers that consumers of this isolation level get."""
        return [each for each in self.fetches if each.offset < self.end(level)]

    def headers(self) -> Iterator[BatchHeader]:
        """Yield the headers of all batches."""
        for fetched in self.fetches:
            yield from (parse_header(batch.view) for batch in iter_batches(fetched.records))

    def store(self, broker: EmbeddedBroker) -> TopicPartition:
        """Make a topic of a broker with these very batches."""
        tp = TopicPartition(self.name, 0)
        broker.create_topic(self.name)
        for fetched in self.fetches:
            broker.append(tp, fetched.records, keep_offsets=True)
        if self.log_start:
            broker.delete_records(tp, self.log_start)
        return tp


def _read() -> Iterator[CompactedLog]:
    path = Path(__file__).with_name("compacted_logs.json")
    for told in json.loads(path.read_text(encoding="utf-8")):
        cut = "-cut" if told["is_cut"] else ""
        yield CompactedLog(
            f"{told['release']}-v{told['transactions']}-{told['codec'] or 'plain'}"
            f"-{told['delete_retention_ms']}{cut}",
            told["log_start"],
            told["last_stable"],
            told["high_watermark"],
            [
                Fetched(
                    each["offset"],
                    [(producer_id, first) for producer_id, first in each["aborted"]],
                    base64.b64decode(each["records"]),
                )
                for each in told["fetches"]
            ],
            {level: [tuple(line) for line in lines] for level, lines in told["java"].items()},
        )


LOGS: Final = tuple(_read())


def line(record: Any) -> Line:
    """Return a record in the form of Java's console consumer."""
    texts = ("null" if each is None else each.decode() for each in (record.key, record.value))
    return (record.offset, record.timestamp, *texts)


__all__ = ["LEVELS", "LOGS", "CompactedLog", "Fetched", "Line", "line"]
