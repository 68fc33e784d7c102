"""The package where workers cannot import it: brought by value, and missed with a remedy."""

from pathlib import Path

import pytest

from tests.conftest import require_spark
from tests.spark.other_workers import ROUND_TRIP, run, session, without_the_package
from tests.spark.releases import needs

PROGRAM = f"""
{session()}
{ROUND_TRIP}
with EmbeddedBroker.threaded() as broker:
    kafka = {{"kafka.bootstrap.servers": broker.bootstrap_servers}}
    register(spark)
    try:
        spark.read.format("kafka-lite").options(**kafka, subscribe="t").load()
    except Exception as error:
        print("NOT INSTALLED", error)
    register(spark, by_value=True)
    print("BY VALUE", round_trip(kafka, "t"))
spark.stop()
"""


@pytest.fixture(autouse=True)
def _needs_spark() -> None:
    require_spark()


@needs("StreamArrowWriter")
def test_workers_without_the_package_run_it_by_value_and_say_so_where_they_cannot(
    tmp_path: Path,
) -> None:
    printed = run(PROGRAM, without_the_package(tmp_path), tmp_path)
    refused, _, went = printed.partition("BY VALUE")
    assert "NOT INSTALLED" in refused
    assert "cannot import aiokafka_lite: install it there; or let PYSPARK_PYTHON" in refused
    assert went.strip() == "100"
