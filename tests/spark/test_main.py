"""`python -m aiokafka_lite.spark`: the jobs, or a word on what is missing for them."""

import importlib.util
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from aiokafka_lite.spark import __main__ as module
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.java_runtime import find_java
from tests.conftest import require_spark
from tests.spark.support.topics import T0, fill

ROOT = Path(__file__).parents[2]


def test_without_its_extras_it_names_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert "the jobs need pyspark and pyarrow and typer" in said
    assert "pip install 'aiokafka-lite[spark,cli]'" in said


def test_as_a_file_it_does_not_hide_modules_of_others_behind_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """spark-submit runs files, with their folder first on the path: ours has an `arrow`."""
    folder = str(Path(module.__file__).parent)
    monkeypatch.setattr(sys, "path", [folder, "", *sys.path])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        runpy.run_path(str(module.__file__), run_name="__main__")
    assert folder not in sys.path
    assert "" in sys.path


def test_a_job_ends_after_its_batch_when_it_is_told_to(
    kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """A child process as a scheduler has it: progress on stderr, JSON on stdout, SIGTERM, 0.

    Prometheus scrapes it while it runs.
    """
    require_spark()
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 100)
    config = tmp_path / "archive.toml"
    config.write_text(
        f"""
        bootstrap_servers = "{kafka_broker.bootstrap_servers}"
        topics = ["t"]
        path = "{tmp_path}/archive"
        [spark]
        master = "local[1]"
        ui.enabled = false
        driver.extraJavaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        """
    )
    command = [sys.executable, "-m", "aiokafka_lite.spark", "archive", "--config", str(config)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYSPARK_PYTHON", None)  # it is this interpreter, then
    child = subprocess.Popen(
        [*command, "--set", "trigger=1s", "--set", "metrics_port=0"],
        cwd=tmp_path,
        env={**environment, "JAVA_HOME": str(find_java().resolve().parents[1])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stderr is not None
        told = "archive: metrics at "
        address = next(line for line in child.stderr if line.startswith(told))
        assert any(line.startswith("archive: batch 0: 100 rows") for line in child.stderr)
        with urlopen(address.removeprefix(told).strip(), timeout=60) as answer:
            assert b"kafka_lite_stream_lag" in answer.read()
        child.terminate()
        out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    assert "archive: SIGTERM: ending after this batch" in err
    summary = json.loads(out)
    assert (summary["status"], summary["rows"], summary["offsets"], summary["lag"]) == (
        *("stopped", 100, {"t": {"0": 100}}, 0),
    )
    assert list(tmp_path.glob("archive/topic=t/date=1970-01-01/*.parquet"))
