"""Executors with folders of their own read the files that Spark distributes, and miss others."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.spark.process.pyspark_zips import lasting_interpreter
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.java_runtime import find_java
from tests.conftest import require_spark
from tests.spark.support.topics import T0, fill

ROOT = Path(__file__).parents[3]
PASSWORD = "a password"


@pytest.fixture
def secure_kafka_options() -> dict[str, Any]:
    return {"security": "SASL_SSL", "users": {"alice": PASSWORD}}


def test_an_executor_has_the_files_that_spark_distributes_and_no_others_of_the_driver(
    secure_kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    require_spark()
    secure_kafka_broker.create_topic("t")
    fill(secure_kafka_broker, T0, 5)
    assert secure_kafka_broker.ca_pem is not None
    for name in ("distributed.pem", "only-here.pem"):
        (tmp_path / name).write_text(secure_kafka_broker.ca_pem)
    program = [sys.executable, "-m", "tests.spark.support.local_cluster"]
    done = subprocess.run(
        [*program, secure_kafka_broker.bootstrap_servers, PASSWORD],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": lasting_interpreter(),
            "JAVA_HOME": str(find_java().resolve().parents[1]),
            "SPARK_WORKER_DIR": str(tmp_path / "executors"),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["rows"] == 5
    missing = "ssl.truststore.location: the file 'only-here.pem' is not here, on "
    assert missing in found["error"]
    assert "name it 'only-here.pem'" in found["error"]
    assert "read_ranges" in found["error"]  # in the executor, after the driver had planned
