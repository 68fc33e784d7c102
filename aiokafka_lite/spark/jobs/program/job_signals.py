"""Lets SIGTERM and SIGINT end a job after its batch, also where the JVM gets them.

Under spark-submit the JVM is the parent, and a service manager or Kubernetes signals that one. It
would end at once. So it gets a handler that calls this process.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.spark.jobs.job import Progress, StopSignal

EXIT_AT_ONCE: Final = 1
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_SAME_S: Final = 1.0
"""A signal to a whole group of processes comes twice, once by the JVM. That counts as one."""
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""spark-submit sets it for the program it starts."""


class SignalAnswer:
    """The first signal asks the job to stop; a later one ends the process."""

    def __init__(self, stop: StopSignal, progress: Progress, clock: Clock = SYSTEM_CLOCK) -> None:
        self._stop = stop
        self._progress = progress
        self._clock = clock
        self._asked_at_s: float | None = None

    def hear(self, name: str) -> None:
        """Answer a signal. It takes no lock, so a signal handler may call it."""
        now_s = self._clock.monotonic()
        if self._asked_at_s is None:
            self._asked_at_s = now_s
            self._stop.set()
            self._progress.note(f"{name}: ending after this batch; once more, and it ends at once")
        elif now_s - self._asked_at_s >= _SAME_S:
            # The process must not wait any more. The JVM ends with it.
            os.write(2, f"{name} again: ending at once\n".encode())
            os._exit(EXIT_AT_ONCE)


@contextmanager
def signals_stop(answer: SignalAnswer) -> Iterator[None]:
    """Pass SIGTERM and SIGINT of this process to the answer."""

    def handle(number: int, _frame: FrameType | None) -> None:
        answer.hear(signal.Signals(number).name)

    before = {each: signal.signal(each, handle) for each in _SIGNALS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def jvm_signals_stop(spark: Any, answer: SignalAnswer) -> Iterator[None]:
    """Pass SIGTERM of the JVM to the answer, if spark-submit has started this program."""
    context = getattr(spark, "_sc", None)
    if context is None or _SUBMITTED not in os.environ:
        yield
        return
    # Imported under spark-submit only, which brings it.
    from pyspark.java_gateway import ensure_callback_server_started  # noqa: PLC0415

    ensure_callback_server_started(context._gateway)
    jvm = context._jvm.sun.misc
    term = jvm.Signal("TERM")
    before = jvm.Signal.handle(term, _JvmHandler(answer))
    try:
        yield
    finally:
        jvm.Signal.handle(term, before)


class _JvmHandler:
    """Java's SignalHandler, by a callback into this process."""

    def __init__(self, answer: SignalAnswer) -> None:
        self._answer = answer

    def handle(self, _signal: Any) -> None:
        """Return at once, because a thread of the JVM waits."""
        self.thread = threading.Thread(target=self._answer.hear, args=("SIGTERM",), daemon=True)
        self.thread.start()

    class Java:
        """What py4j asks for."""

        implements: Final = ["sun.misc.SignalHandler"]


__all__ = ["EXIT_AT_ONCE", "SignalAnswer", "jvm_signals_stop", "signals_stop"]
