"""A job on secured brokers, as a program: its secrets are named on the command line, not shown."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.process.pyspark_zips import lasting_interpreter
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.java_runtime import find_java
from tests.conftest import require_spark
from tests.spark.jobs.manual import manual_file
from tests.spark.support.releases import needs
from tests.spark.support.secured import jaas, make_trust_pem
from tests.spark.support.topics import fill

ROOT = Path(__file__).parents[3]
PASSWORD = "sentinel-Pa55word"


@pytest.fixture
def secure_kafka_options() -> dict[str, Any]:
    return {"security": "SASL_SSL", "users": {"alice": PASSWORD}}


def command_lines(of: int) -> Iterator[str]:
    """Yield the command lines of a process and of its descendants."""
    for process in [of, *descendants(of)]:
        try:
            yield Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended meanwhile
            continue


def descendants(of: int) -> Iterator[int]:
    for threads in Path(f"/proc/{of}/task").glob("*/children"):
        for child in map(int, threads.read_text().split()):
            yield child
            yield from descendants(child)


@needs("StreamArrowWriter")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="it reads Linux's /proc")
def test_a_job_runs_on_secured_brokers_and_no_process_shows_a_password(
    secure_kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    require_spark()
    for topic in ("orders", "orders-copy"):
        secure_kafka_broker.create_topic(topic)
    fill(secure_kafka_broker, TopicPartition("orders", 0), 5)
    make_trust_pem(secure_kafka_broker, tmp_path)
    (tmp_path / "spark.jaas").write_text(jaas("SCRAM-SHA-512", "alice", PASSWORD))
    config = tmp_path / "mirror.toml"
    shown = manual_file("mirror-secured.toml")
    places = {
        "kafka.example.com:9093": secure_kafka_broker.bootstrap_servers,
        "/etc/kafka/": f"{tmp_path}/",
        "/data/": f"{tmp_path}/",
    }
    for written, real in places.items():
        shown = shown.replace(written, real)
    config.write_text(
        f"""{shown}
        [spark]
        master = "local[1]"
        ui.enabled = false
        driver.extraJavaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        """
    )
    settings = ["trigger=1s", "kafka.sasl.jaas.config=file:spark.jaas"]
    child = subprocess.Popen(
        [sys.executable, "-m", "aiokafka_lite.spark", "mirror", "--config", str(config)]
        + [word for setting in settings for word in ("--set", setting)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "PYSPARK_PYTHON": lasting_interpreter(),
            "JAVA_HOME": str(find_java().resolve().parents[1]),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stderr is not None
        begun = []
        for line in child.stderr:
            begun.append(line)
            if line.startswith("mirror: batch 0: 5 rows"):
                break
        lines = list(command_lines(child.pid))
        child.terminate()
        out, err = child.communicate(timeout=120)
    said = "".join(begun) + err
    assert child.returncode == 0, said
    assert json.loads(out)["rows"] == 5
    assert len(secure_kafka_broker.log(("orders-copy", 0)).records()) == 5
    assert any("java" in line for line in lines)
    assert any("file:spark.jaas" in line for line in lines)
    assert not [line for line in [*lines, said, out] if PASSWORD in line]
