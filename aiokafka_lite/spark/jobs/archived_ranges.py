"""The offsets in each file of an archive, so that a batch opens only the files it needs.

An archive is asked once. Spark leaves out files by a condition on `_metadata.file_path`, before it
opens any. Within a file it leaves out what Parquet's statistics exclude.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.offsets import Offsets


@dataclass(frozen=True, slots=True)
class FileRange:
    """The rows that a file has of a partition: none lies outside of these offsets."""

    path: str
    tp: TopicPartition
    first: int
    behind: int
    rows: int = 0


def read_ranges(spark: Any, frame: Any) -> list[FileRange]:
    """Return the ranges of all files that the rows of an archive come from."""
    rows = frame.selectExpr("_metadata.file_path AS path", "topic", "partition", "offset")
    text = (
        "SELECT path, topic, partition, min(offset) AS first, max(offset) + 1 AS behind,"
        " count(*) AS rows FROM {rows} GROUP BY path, topic, partition"
    )
    return [
        FileRange(path, TopicPartition(topic, partition), first, behind, count)
        for path, topic, partition, first, behind, count in spark.sql(text, rows=rows).collect()
    ]


def extent(ranges: Iterable[FileRange]) -> tuple[Offsets, Offsets]:
    """Return the first offset of each partition, and the offset behind its last."""
    start, end = Offsets(), Offsets()
    for each in ranges:
        start[each.tp] = min(start.get(each.tp, each.first), each.first)
        end[each.tp] = max(end.get(each.tp, each.behind), each.behind)
    return start, end


def files_between(ranges: Iterable[FileRange], start: Offsets, end: Offsets) -> set[str]:
    """Return the files that may have rows from `start` to `end`."""
    return {
        each.path
        for each in ranges
        if each.tp in end and max(each.first, start[each.tp]) < min(each.behind, end[each.tp])
    }


def rows_reaching_before(ranges: Iterable[FileRange], end: Offsets) -> Offsets:
    """Return how many rows the files have that begin before these offsets, by partition.

    Files do not change. So it stays the same for what was read up to there, unless others come with
    the same offsets.
    """
    found = Offsets(dict.fromkeys(end, 0))
    for each in ranges:
        if each.first < end.get(each.tp, each.first):
            found[each.tp] += each.rows
    return found


__all__ = ["FileRange", "extent", "files_between", "read_ranges", "rows_reaching_before"]
