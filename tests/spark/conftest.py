"""What the tests of the Spark source share: a worker of their own, and one session of Spark."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.spark.process.pyspark_zips import lasting_interpreter
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.java_runtime import find_java
from benchmarks.spark.official import official_jars
from tests.conftest import require_spark
from tests.spark.support.releases import fits_official

ROOT = Path(__file__).parents[2]


@pytest.fixture
def here() -> Iterator[Worker]:
    """What a Spark process has one of; this one ends with the test."""
    made = Worker()
    yield made
    made.close()


@pytest.fixture(params=[0, 2], ids=["v1", "v2"])
def transaction_broker(
    request: pytest.FixtureRequest, make_kafka_broker: Callable[..., EmbeddedBroker]
) -> EmbeddedBroker:
    """A broker with either protocol of transactions, and the topic t of two partitions."""
    made = make_kafka_broker(nodes=2, transaction_version=request.param)
    made.create_topic("t", partitions=2)
    return made


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with the source registered, and Spark's own beside it, to compare with."""
    require_spark()
    from pyspark.sql import SparkSession

    from aiokafka_lite.spark import register

    with pytest.MonkeyPatch.context() as environment:
        # Most of these processes read or write one stream, and end.
        environment.setenv("PYSPARK_PYTHON", lasting_interpreter())
        environment.setenv("PYSPARK_DRIVER_PYTHON", sys.executable)
        # A dozen processes import the package; compiling it takes each as long as all the rest.
        environment.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
        environment.setenv("JAVA_HOME", str(find_java().resolve().parents[1]))
        environment.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        builder = SparkSession.builder.master("local[2,4]").appName("kafka-lite tests")
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.jars": ",".join(map(str, official_jars() if fits_official() else [])),
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        register(session)
        register(session)  # it may be done twice
        yield session
        session.stop()
