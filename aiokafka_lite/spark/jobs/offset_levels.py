"""Compares sets of offsets in Spark: which offsets are in one set and not in another, or twice.

The range of each set is given. Sets become runs of consecutive offsets. The level of a set rises by
one at the start of a run and falls behind its end. Between two such points nothing changes. So the
comparison works on runs instead of offsets.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from aiokafka_lite.model import TopicPartition

LEVELS: Final = {
    "gone": "before the log begins",
    "inside": "in the log, from its begin to its end",
    "decided": "before the first transaction that has not ended",
    "written": "records of the topic, those of aborted transactions too",
    "committed": "records of the topic, without those",
    "expected": "records of the topic that the archive has to have",
    "archived": "records of the archive, possibly twice",
    "due": "before the offset the archive has come to",
}
"""The sets, by name."""


Level = Mapping[TopicPartition, tuple[int, int]]
"""A range in each partition: its first offset, and the offset behind its last."""


def counted(
    spark: Any, ranges: Mapping[str, Level], sets: Sequence[tuple[Any, Iterable[str]]]
) -> Any:
    """Return a row of `COUNTS` for each partition that occurs in the sets or ranges.

    Sets are tables with topic, partition and offset, and with the names of their levels.
    """
    events = _known(spark, ranges)
    if sets:
        rows, *others = [
            frame.selectExpr("topic", "partition", "offset", f"{number} AS number")
            for number, (frame, _) in enumerate(sets)
        ]
        for each in others:
            rows = rows.unionAll(each)
        levels = [set(names) for _, names in sets]
        events = events.unionAll(_events(spark.sql(_RUNS, rows=rows), levels))
    return spark.sql(_COUNTED, events=events)


def _known(spark: Any, ranges: Mapping[str, Level]) -> Any:
    """Return the events of ranges."""
    rows = []
    for name, level in ranges.items():
        for tp, (start, end) in sorted(level.items()):
            for at, step in ((start, 1), (end, -1)):
                steps = ", ".join(f"{step if each == name else 0}L" for each in LEVELS)
                rows.append(f"('{tp.topic}', {tp.partition}, {at}L, {steps})")
    names = ", ".join(["topic", "partition", "at", *LEVELS])
    # Written as SQL it is part of the plan, and needs no Python job.
    return spark.sql(f"SELECT * FROM VALUES {', '.join(rows)} AS known({names})")  # noqa: S608 - ours


def _events(runs: Any, levels: Sequence[set[str]]) -> Any:
    """Return where levels rise and fall: `at` an offset, by 1 or -1."""
    steps = []
    for name in LEVELS:
        mine = [str(number) for number, names in enumerate(levels) if name in names]
        step = f"if(number IN ({', '.join(mine)}), event.step, 0L)" if mine else "0L"
        steps.append(f"{step} AS {name}")
    both = "explode(array(struct(first AS at, 1L AS step), struct(last + 1 AS at, -1L AS step)))"
    events = runs.selectExpr("topic", "partition", "number", f"{both} AS event")
    return events.selectExpr("topic", "partition", "event.at AS at", *steps)


_RUNS: Final = """
WITH buckets AS (
  SELECT topic, partition, number, sort_array(collect_list(offset)) AS offsets
  FROM {rows} GROUP BY topic, partition, number, offset div 65536
), ends AS (
  SELECT topic, partition, number,
    filter(offsets, (each, i) -> NOT (get(offsets, i - 1) <=> each - 1)) AS first,
    filter(offsets, (each, i) -> NOT (get(offsets, i + 1) <=> each + 1)) AS last
  FROM buckets
), runs AS (
  SELECT topic, partition, number, explode(arrays_zip(first, last)) AS run FROM ends
)
SELECT topic, partition, number, run.first, run.last FROM runs
"""
"""Runs of consecutive offsets. A repeated offset begins a run of its own, which overlaps.

Offsets are sorted as arrays in buckets, so that a shuffle moves eight bytes per record.
"""

COUNTS: Final = {
    "records": ("size", "written"),
    "holes": ("size", "hole"),
    "hole_ranges": ("1", "hole AND NOT hole_before"),
    "narrow_holes": ("1", "hole AND size = 1 AND NOT hole_before AND NOT hole_behind"),
    "aborted": ("size", "written AND NOT committed AND decided"),
    "archived": ("size * archived", "archived > 0"),
    "duplicates": ("size * (archived - 1)", "archived > 1"),
    "missing": ("size", "expected AND archived = 0 AND due"),
    "pending": ("size", "expected AND archived = 0 AND NOT due"),
    "compacted": ("size", "archived > 0 AND inside AND NOT expected"),
    "expired": ("size", "archived > 0 AND gone"),
    "unknown": ("size", "archived = 0 AND gone AND due AND at >= first_archived"),
    "beyond": ("size", "archived > 0 AND NOT gone AND NOT inside"),
}
"""What is counted: the contribution of a stretch of offsets, and the stretches it applies to."""

_UPTO: Final = "(PARTITION BY topic, partition ORDER BY at ROWS UNBOUNDED PRECEDING)"
_ORDER: Final = "(PARTITION BY topic, partition ORDER BY at)"
_WHOLE: Final = "(PARTITION BY topic, partition)"
_YES_OR_NO: Final = [name for name in LEVELS if name not in ("archived", "due")]
_SUMS: Final = [
    f"coalesce(sum({adds}) FILTER (WHERE {where}), 0) AS {name}"
    for name, (adds, where) in COUNTS.items()
]

_COUNTED: Final = f"""
WITH steps AS (
  SELECT topic, partition, at, {", ".join(f"sum({each}) AS {each}" for each in LEVELS)}
  FROM {{events}} GROUP BY topic, partition, at
), stretches AS (
  SELECT topic, partition, at, lead(at) OVER {_ORDER} - at AS size,
    {", ".join(f"sum({each}) OVER {_UPTO} > 0 AS {each}" for each in _YES_OR_NO)},
    sum(archived) OVER {_UPTO} AS archived,
    sum(due) OVER {_UPTO} > 0
      OR coalesce(at < max(if(archived < 0, at, NULL)) OVER {_WHOLE}, false) AS due,
    min(if(archived > 0, at, NULL)) OVER {_WHOLE} AS first_archived
  FROM steps
), holes AS (
  SELECT *, inside AND NOT written AS hole FROM stretches
), flagged AS (
  SELECT *, lag(hole, 1, false) OVER {_ORDER} AS hole_before,
    lead(hole, 1, false) OVER {_ORDER} AS hole_behind
  FROM holes
)
SELECT topic, partition,
  {", ".join(_SUMS)},
  min(at) FILTER (WHERE {COUNTS["missing"][1]}) AS first_missing,
  min(at) FILTER (WHERE {COUNTS["duplicates"][1]}) AS first_duplicate
FROM flagged GROUP BY topic, partition ORDER BY topic, partition
"""  # noqa: S608 - made of the names above

__all__ = ["COUNTS", "LEVELS", "Level", "counted"]
