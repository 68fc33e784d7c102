"""A job of the command line serves metrics while it runs, and at no other time."""

import builtins
import json
import socket
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyspark", reason=NO_SPARK)

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.archive import ArchiveConfig
from aiokafka_lite.spark.jobs.job_config import JobConfig
from aiokafka_lite.spark.jobs.program.job_metrics import metrics_served

GIVEN: dict[str, Any] = {"bootstrap_servers": "h:1", "topics": ("t",), "path": "/archive"}
REPORT = {
    "name": "kafka-lite archive 1a2b3c4d",
    "id": "x",
    "batchId": 3,
    "durationMs": {"addBatch": 1500},
    "sources": [
        {
            "numInputRows": 7,
            "endOffset": {"t": {"0": 5}},
            "latestOffset": {"t": {"0": 9}},
        }
    ],
}


class Spark:
    """Keeps listeners, as a session's streams do."""

    def __init__(self) -> None:
        self.listeners: list[Any] = []
        self.streams = SimpleNamespace(
            addListener=self.listeners.append, removeListener=self.listeners.remove
        )


class Notes:
    """Progress that keeps what it is told."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def note(self, text: str) -> None:
        self.texts.append(text)

    def batch(self, report: Any) -> None: ...

    def close(self) -> None: ...


def scraped(address: str) -> str:
    with urlopen(address, timeout=30) as answer:
        return str(answer.read().decode())


def test_a_stream_is_scraped_while_it_runs() -> None:
    spark, notes = Spark(), Notes()
    with metrics_served(spark, ArchiveConfig(**GIVEN, metrics_port=0), notes):
        (text,) = notes.texts
        address = text.removeprefix("metrics at ")
        assert address.startswith("http://127.0.0.1:")
        (listener,) = spark.listeners
        progress = SimpleNamespace(json=json.dumps(REPORT))
        listener.onQueryProgress(SimpleNamespace(progress=progress))
        query = 'query="kafka-lite archive 1a2b3c4d"'
        found = scraped(address).splitlines()
        assert f'kafka_lite_stream_lag{{partition="0",{query},topic="t"}} 4.0' in found
        assert f"kafka_lite_stream_rows_total{{{query}}} 7.0" in found
    assert spark.listeners == []
    with pytest.raises(URLError):
        scraped(address)


@pytest.mark.parametrize("config", [ArchiveConfig(**GIVEN), JobConfig()])
def test_without_a_port_nothing_is_served(config: JobConfig) -> None:
    spark, notes = Spark(), Notes()
    with metrics_served(spark, config, notes):
        assert (spark.listeners, notes.texts) == ([], [])


def test_an_address_that_is_taken_is_named_with_its_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = f"metrics_host='127.0.0.1', metrics_port={port}: .* or metrics_port=0 for any"
        config = ArchiveConfig(**GIVEN, metrics_port=port)
        with (
            pytest.raises(KafkaConfigurationError, match=said),
            metrics_served(Spark(), config, Notes()),
        ):
            pass


def test_without_its_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **named: Any) -> Any:
        if name == "prometheus_client":
            raise ModuleNotFoundError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with (
        pytest.raises(KafkaConfigurationError, match=r"aiokafka-lite\[prometheus\]"),
        metrics_served(Spark(), ArchiveConfig(**GIVEN, metrics_port=0), Notes()),
    ):
        pass
