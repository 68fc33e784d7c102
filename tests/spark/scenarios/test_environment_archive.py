"""An environment that travels as an archive, to executors that have nothing. Master, executors and
driver are processes of their own here."""

from pathlib import Path

import pytest

from tests.conftest import require_spark
from tests.spark.support.environment_archive import pack_environment
from tests.spark.support.other_workers import ROUND_TRIP, run, session
from tests.spark.support.releases import needs

SETTINGS = {"spark.archives": "environment.tar.gz#environment", "spark.executor.memory": "512m"}
PROGRAM = f"""
import tarfile
{session("local-cluster[2,1,1024]", **SETTINGS)}
{ROUND_TRIP}

def where(_):
    import sys, aiokafka_lite
    return [sys.executable, aiokafka_lite.__file__]

with EmbeddedBroker.threaded() as broker:
    kafka = {{"kafka.bootstrap.servers": broker.bootstrap_servers}}
    print("EXECUTORS", *sum(spark.sparkContext.parallelize(range(2), 2).map(where).collect(), []))
    register(spark)
    try:
        spark.read.format("kafka-lite").options(**kafka, subscribe="t").load()
    except Exception as error:
        print("DRIVER", " ".join(str(error).split()))
    tarfile.open("environment.tar.gz").extractall("environment", filter="fully_trusted")
    print("ROWS", round_trip(kafka, "t"))
spark.stop()
"""


@pytest.mark.soak
@pytest.mark.timeout(600)
@needs("StreamArrowWriter")
def test_an_archive_is_enough_for_executors_and_the_driver_needs_it_unpacked_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_spark()
    import pyspark

    pack_environment(tmp_path / "environment.tar.gz")
    spark_home = tmp_path / "spark"  # executors leave files in there
    spark_home.mkdir()
    for each in Path(pyspark.__file__).parent.iterdir():
        (spark_home / each.name).symlink_to(each)
    printed = run(
        PROGRAM, "./environment/bin/python", tmp_path, timeout_s=560, SPARK_HOME=str(spark_home)
    )
    said = dict(line.split(maxsplit=1) for line in printed.splitlines())
    assert all("/environment/" in place for place in said["EXECUTORS"].split())
    assert "environment/bin/python" in said["DRIVER"]
    assert said["ROWS"] == "100"
