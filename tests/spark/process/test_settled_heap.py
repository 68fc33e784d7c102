"""The heap of a worker that Spark keeps: frozen once it has all that its tasks import."""

import base64
import json
import os
import subprocess
import sys

import pytest

from aiokafka_lite.spark.process import cargo
from tests.conftest import require_spark
from tests.support.documents import ROOT

TASKS = """
import base64, gc, json, pickle, sys
frozen, made = [], []
for packed in json.loads(sys.stdin.read()):
    pickle.loads(base64.b64decode(packed))
    made.append([[] for _ in range(1000)])  # after the arrival: only a later one can freeze it
    frozen.append(gc.get_freeze_count())
print(json.dumps(frozen))
"""


def packed(kind: type) -> str:
    from pyspark import cloudpickle

    return base64.b64encode(cloudpickle.dumps(cargo.TravellingClass(kind, None))).decode()


def frozen_after(*kinds: type, **environment: str) -> list[int]:
    """How many objects are frozen in a process after each of these has arrived there."""
    done = subprocess.run(
        [sys.executable, "-c", TASKS],
        input=json.dumps([packed(each) for each in kinds]),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        timeout=60,
        check=True,
    )
    found: list[int] = json.loads(done.stdout)
    return found


def test_the_heap_is_frozen_for_the_first_task_and_for_the_second_of_each_kind() -> None:
    require_spark()
    from aiokafka_lite.spark.offsets import Offsets
    from aiokafka_lite.spark.source import StreamReader

    first, other, second, third, both = frozen_after(
        StreamReader, Offsets, StreamReader, StreamReader, Offsets, SPARK_REUSE_WORKER="1"
    )
    assert first > 10_000  # PySpark, without which nothing arrives
    assert other - first < 1000
    assert second - other >= 1000
    assert third - second < 1000
    assert both - third >= 1000


@pytest.mark.parametrize(
    "name",
    ["PYTHON_WORKER_FACTORY_PORT", "PYTHON_WORKER_FACTORY_SOCK_PATH"],  # TCP, Unix sockets
)
def test_a_process_for_one_piece_of_work_has_its_heap_frozen_once(name: str) -> None:
    require_spark()
    from aiokafka_lite.spark.source import StreamReader

    first, second = frozen_after(StreamReader, StreamReader, **{name: "of Spark"})
    assert first > 10_000
    assert second - first < 1000


def test_a_drivers_heap_stays_as_it_is() -> None:
    """A session gives its own process the variables that both sides of a socket read."""
    require_spark()
    from aiokafka_lite.spark.source import StreamReader

    of_a_session = {"SPARK_AUTH_SOCKET_TIMEOUT": "15", "SPARK_BUFFER_SIZE": "65536"}
    assert frozen_after(StreamReader, StreamReader, **of_a_session) == [0, 0]
