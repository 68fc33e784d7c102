"""Sets of offsets are compared exactly: holes, doubles, what is missing and what is too much."""

from typing import Any

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.offset_levels import COUNTS, counted

T0, T1, T2 = (TopicPartition("t", number) for number in range(3))


def table(spark: Any, offsets: dict[TopicPartition, list[int]]) -> Any:
    rows = ", ".join(
        f"('{tp.topic}', {tp.partition}, {at}L)" for tp in offsets for at in offsets[tp]
    )
    return spark.sql(f"SELECT * FROM VALUES {rows} AS rows(topic, partition, offset)")


def test_each_kind_of_offset_is_counted(spark: Any) -> None:
    # The log is 100…120; holes at 105, at 107…109, and at 119, the last one before its end.
    log = [at for at in range(100, 120) if at not in (105, 107, 108, 109, 119)]
    aborted = [110, 111]
    # Came to 115; 98 and 99 have expired, 97 was never seen, 96 has; 112 is missing, 103 is there
    # three times, 107 was compacted since, 130 is from another life of the topic.
    archive = [96, 98, 99, *range(100, 112), 113, 114, 103, 103, 130]
    archive = [at for at in archive if at not in (105, 108, 109, 110, 111)]
    far = 3 * 65536
    ranges = {
        "gone": {T0: (0, 100), T1: (0, 0), T2: (0, 50)},
        "inside": {T0: (100, 120), T1: (0, far), T2: (50, 50)},
        "decided": {T0: (0, 120), T1: (0, far), T2: (0, 50)},
        "due": {T0: (0, 115), T2: (0, 50)},
    }
    written = {T0: log, T1: [at for at in range(far) if at % 1000]}
    committed = {**written, T0: [at for at in log if at not in aborted]}
    sets = [
        (table(spark, {T0: log}), ["written"]),
        (spark.sql(f"SELECT 't' AS topic, 1 AS partition, id AS offset FROM range({far})")
         .where("offset % 1000 > 0"), ["written", "committed", "expected"]),
        (table(spark, {T0: committed[T0]}), ["committed", "expected"]),
        (table(spark, {T0: archive, T2: [48, 49]}), ["archived"]),
    ]  # fmt: skip
    rows = counted(spark, ranges, sets).collect()
    assert [row["partition"] for row in rows] == [0, 1, 2]
    first, second, third = ({name: row[name] for name in COUNTS} for row in rows)
    assert first == {
        "records": 15,
        "holes": 5,
        "hole_ranges": 3,
        "narrow_holes": 2,
        "aborted": 2,
        "archived": len(archive),
        "duplicates": 2,
        "missing": 5,
        "pending": 0,
        "compacted": 1,
        "expired": 3,
        "unknown": 1,
        "beyond": 1,
    }
    assert (rows[0]["first_missing"], rows[0]["first_duplicate"]) == (112, 103)
    assert second == {
        **dict.fromkeys(COUNTS, 0),
        "records": len(written[T1]),
        "pending": len(written[T1]),
        "holes": 197,
        "hole_ranges": 197,
        "narrow_holes": 197,
    }
    assert third == {**dict.fromkeys(COUNTS, 0), "archived": 2, "expired": 2}
