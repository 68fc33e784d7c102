"""The first signal asks a job to stop, and a later one ends the process; also one of the JVM."""

import asyncio
import os
import signal
from types import SimpleNamespace
from typing import Any

import pytest

from aiokafka_lite.spark.jobs.job import NoProgress, StopSignal
from aiokafka_lite.spark.jobs.program.job_signals import (
    SignalAnswer,
    jvm_signals_stop,
    signals_stop,
)
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.conftest import NO_SPARK


class Said(NoProgress):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_asks_and_a_later_one_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """A signal to a group of processes comes a second time by the JVM, at once."""
    ends: list[int] = []
    monkeypatch.setattr(os, "_exit", ends.append)
    before = signal.getsignal(number)
    stop, said, clock = StopSignal(), Said(), FakeClock()
    answer = SignalAnswer(stop, said, clock)
    with signals_stop(answer):
        assert not stop.is_set()
        signal.raise_signal(number)
        assert stop.is_set()
        answer.hear("SIGTERM")
        text = f"{number.name}: ending after this batch; once more, and it ends at once"
        assert said.notes == [text]
        assert not ends
        asyncio.run(clock.advance(1.0))
        signal.raise_signal(number)
        assert ends == [1]
    assert signal.getsignal(number) is before


def test_under_spark_submit_the_signal_of_the_jvm_is_one_of_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    java_gateway = pytest.importorskip("pyspark.java_gateway", reason=NO_SPARK)
    monkeypatch.setattr(java_gateway, "ensure_callback_server_started", lambda gateway: None)
    handlers: dict[str, Any] = {"TERM": "Java's own"}

    class Signal:
        def __new__(cls, name: str) -> Any:
            return name

        @staticmethod
        def handle(name: str, handler: Any) -> Any:
            before, handlers[name] = handlers[name], handler
            return before

    jvm = SimpleNamespace(sun=SimpleNamespace(misc=SimpleNamespace(Signal=Signal)))
    spark = SimpleNamespace(_sc=SimpleNamespace(_gateway=None, _jvm=jvm))
    stop = StopSignal()
    answer = SignalAnswer(stop, NoProgress(), FakeClock())
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    with jvm_signals_stop(spark, answer):
        assert handlers["TERM"] == "Java's own"
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    with jvm_signals_stop(spark, answer):
        handlers["TERM"].handle("TERM")
        handlers["TERM"].thread.join()
        assert stop.is_set()
    assert handlers["TERM"] == "Java's own"
