"""Over Spark Connect writes of foreachBatch count once when they name their batch, and jobs run."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.spark.process.pyspark_zips import lasting_interpreter
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.java_runtime import find_java
from tests.conftest import require_spark
from tests.spark.support.topics import fill
from tests.spark.support.writing import seen

ROOT = Path(__file__).parents[3]
CLIENT = ROOT / "tests" / "spark" / "support" / "connect_client.py"
NEEDED = ("grpc", "grpc_status", "pandas")


@pytest.mark.timeout(900)
@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in NEEDED),
    reason=f"Spark Connect needs {', '.join(NEEDED)}",
)
def test_over_spark_connect(kafka_broker: EmbeddedBroker, here: Worker, tmp_path: Path) -> None:
    require_spark()
    for topic in ("in", "out", "again", "copy", "dead"):
        kafka_broker.create_topic(topic)
    fill(kafka_broker, ("in", 0), 20)  # type: ignore[arg-type]
    told = ran(kafka_broker.bootstrap_servers, tmp_path)
    expected = sorted(f"v{number}" for number in range(20))

    (error,) = told["nameless"]
    assert "Over Spark Connect, Spark does not say" in error
    (error,) = told["named"]
    assert "behind the write" in error
    assert seen(here, kafka_broker.bootstrap_servers, "out", 1) == expected

    assert (told["archive"]["status"], told["archive"]["rows"]) == ("done", 20)
    assert (told["archive"]["offsets"], told["archive"]["lag"]) == ({"in": {"0": 20}}, 0)
    assert told["offsets"]["begins"] == "checkpoint"
    assert told["offsets"]["start"] == {"in": {"0": 20}}
    assert (told["audit"]["status"], told["audit"]["rows"]) == ("done", 20)
    (counts,) = told["audit"]["facts"]["partitions"]
    assert (counts["records"], counts["archived"], counts["missing"]) == (20, 20, 0)
    assert (told["replay"]["status"], told["replay"]["rows"]) == ("done", 20)
    assert told["replay"]["batches"] == 3
    assert told["replay again"]["rows"] == 0  # the checkpoint knows that all is written
    assert seen(here, kafka_broker.bootstrap_servers, "again", 1) == expected
    assert (told["mirror"]["status"], told["mirror"]["rows"]) == ("done", 20)
    assert seen(here, kafka_broker.bootstrap_servers, "copy", 1) == expected
    assert (told["decode"]["status"], told["decode"]["rows"]) == ("done", 20)
    assert "dead_letters" not in told["decode"]["facts"]  # the server's process has counted them
    assert seen(here, kafka_broker.bootstrap_servers, "dead", 1) == expected


def ran(servers: str, folder: Path) -> Any:
    """What the client says at its end."""
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": lasting_interpreter(),
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "JAVA_HOME": str(find_java().resolve().parents[1]),
        "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, str(CLIENT), servers, str(folder)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])
