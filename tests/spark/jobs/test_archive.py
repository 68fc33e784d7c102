"""Topics become Parquet, in folders by topic and date, each record once."""

from typing import Any

import pytest

from aiokafka_lite.spark.jobs.archive import DATE, HOUR, ArchiveConfig, folders
from aiokafka_lite.spark.jobs.job_config import JobConfigError

GIVEN: dict[str, Any] = {"bootstrap_servers": "h:1", "topics": ("t",), "path": "/a/"}


def test_the_checkpoint_is_in_the_archive_unless_it_is_named() -> None:
    assert ArchiveConfig(**GIVEN).checkpoint == "/a/_checkpoint"
    assert ArchiveConfig(**GIVEN, checkpoint="/c").checkpoint == "/c"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": ""}, "path must be set"),
        ({"partition_by": "day"}, "'day' is not one of 'date', 'hour'"),
        ({"compression": "zst"}, "compression='zst' is not one of zstd"),
        ({"files_per_partition": 0}, "files_per_partition=0 must be at least 1"),
    ],
)
def test_wrong_keys_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(JobConfigError, match=said):
        ArchiveConfig(**{**GIVEN, **given})


def test_its_folders_are_those_it_is_partitioned_by() -> None:
    assert folders(ArchiveConfig(**GIVEN)) == ("topic", "date")
    assert folders(ArchiveConfig(**GIVEN, partition_by="hour")) == ("topic", "date", "hour")


def test_date_and_hour_are_utc_also_before_1970_and_for_a_session_elsewhere(spark: Any) -> None:
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        for millis, day, hour in (
            (0, "1970-01-01", 0),
            (-1, "1969-12-31", 23),
            (1_767_225_599_999, "2025-12-31", 23),
            (1_767_225_600_000, "2026-01-01", 0),
        ):
            text = (
                f"SELECT string({DATE}), {HOUR} FROM (SELECT timestamp_millis({millis}) timestamp)"
            )
            assert tuple(spark.sql(text).first()) == (day, hour)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
