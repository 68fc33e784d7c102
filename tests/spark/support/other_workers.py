"""Programs with a session of Spark whose workers run another Python than the driver's."""

import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from aiokafka_lite.testing.java_runtime import find_java
from tests.support.documents import ROOT


def without_the_package(folder: Path) -> Path:
    """Make an interpreter that has all that is installed here, but not this package."""
    installed = folder / "installed"
    installed.mkdir()
    for entries in (Path(path) for path in sys.path if path.endswith("-packages")):
        for each in entries.iterdir():
            if not each.name.startswith(("aiokafka_lite", "__editable__")):
                (installed / each.name).symlink_to(each)
    python = folder / "python"
    # Without `site` there are neither the packages of the environment, nor its .pth files.
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="{installed}:$PYTHONPATH" exec {sys.executable} -S "$@"\n'
    )
    python.chmod(0o755)
    return python


def zip_package(to: Path) -> None:
    """Write the whole package as a zip, as users make it for `--py-files`."""
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in (ROOT / "aiokafka_lite").rglob("*.py"):
            archive.write(each, each.relative_to(ROOT))


def run(
    program: str, python: Path | str, folder: Path, *, timeout_s: float = 240, **environment: str
) -> str:
    """Run a program of the driver, which has the package, with workers of that interpreter.

    Returns what it printed. Its working directory is not the project's, which workers could see.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    file = folder / "program.py"
    file.write_text(f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{program}")
    running = subprocess.Popen(
        [sys.executable, str(file)],
        env={
            **inherited,
            "PYSPARK_PYTHON": str(python),
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "JAVA_HOME": str(find_java().resolve().parents[1]),
            "SPARK_LOCAL_IP": "127.0.0.1",
            **environment,
        },
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with running:
        try:
            printed, complained = running.communicate(timeout=timeout_s)
        finally:
            if running.poll() is None:  # Spark's processes would go on without it
                os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 0, printed + complained[-6000:]
    return printed


def session(master: str = "local[2]", **settings: Any) -> str:
    """The first lines of such a program: a session, and the source's name registered by it."""
    options = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        **settings,
    }
    configured = "".join(f".config({name!r}, {value!r})" for name, value in options.items())
    return f"""
from pyspark.sql import SparkSession
from aiokafka_lite.spark import register
from aiokafka_lite.testing.broker import EmbeddedBroker

spark = SparkSession.builder.master({master!r}){configured}.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
"""


ROUND_TRIP = """
def round_trip(kafka, topic):
    rows = spark.range(100).selectExpr("string(id) AS key", "string(id) AS value")
    rows.write.format("kafka-lite").options(**kafka, topic=topic).mode("append").save()
    stream = spark.readStream.format("kafka-lite").options(**kafka, subscribe=topic)
    copied = stream.option("startingOffsets", "earliest").load()
    sink = copied.writeStream.format("kafka-lite").options(**kafka, topic=f"{topic}-copy")
    place = sink.option("checkpointLocation", f"checkpoint-{topic}")
    query = place.trigger(availableNow=True).start()
    query.awaitTermination()
    read = spark.read.format("kafka-lite").options(**kafka, subscribe=f"{topic}-copy")
    return read.load().count()
"""
"""A topic written by a batch, copied by a stream, counted by a batch: every process of Spark's."""
