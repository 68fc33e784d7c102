"""The package where workers cannot import it: missed with a remedy, brought by value, given as a
file that not every process sees."""

from pathlib import Path

import pytest

from tests.conftest import require_spark
from tests.spark.support.other_workers import ROUND_TRIP, run, session, without_the_package
from tests.spark.support.releases import needs

PROGRAM = f"""
from tests.spark.support.other_workers import zip_package
from pathlib import Path
{session()}
{ROUND_TRIP}

def refusal(attempt):
    try:
        attempt()
    except Exception as error:
        return " ".join(str(error).split())

with EmbeddedBroker.threaded() as broker:
    kafka = {{"kafka.bootstrap.servers": broker.bootstrap_servers}}
    table = spark.read.format("kafka-lite").options(**kafka, subscribe="one")

    register(spark)
    print("NOT INSTALLED", refusal(table.load), sep="|")

    register(spark, by_value=True)
    print("BY VALUE", round_trip(kafka, "one"), sep="|")

    register(spark)
    print("BY VALUE NO MORE", refusal(table.load), sep="|")

    zip_package(Path("package.zip"))
    spark.sparkContext.addPyFile("package.zip")
    register(spark)  # which is when a data source is told of such files
    print("PY FILE, BATCH", table.load().count(), sep="|")
    print("PY FILE, STREAM", refusal(lambda: round_trip(kafka, "two")), sep="|")
spark.stop()
"""
REMEDIES = (
    "cannot import aiokafka_lite: install it there; or let PYSPARK_PYTHON (or"
    " spark.pyspark.python) name an interpreter that has it; or call register(spark,"
    " by_value=True). A file given by addPyFile is not seen by the processes that plan streams."
)


@pytest.fixture(autouse=True)
def _needs_spark() -> None:
    require_spark()


@needs("StreamArrowWriter")
def test_workers_without_the_package_run_it_by_value_and_say_so_where_they_cannot(
    tmp_path: Path,
) -> None:
    printed = run(PROGRAM, without_the_package(tmp_path), tmp_path)
    said = dict(line.split("|") for line in printed.splitlines() if "|" in line)
    assert said["BY VALUE"] == "100"
    assert said["PY FILE, BATCH"] == "100"
    for missed in ("NOT INSTALLED", "BY VALUE NO MORE", "PY FILE, STREAM"):
        assert REMEDIES in said[missed]
