"""What a job tells at its end, and how it is asked to stop."""

import json
from collections.abc import Callable

import pytest

from aiokafka_lite.spark.jobs.job import JobResult, StopSignal, reason


def test_the_summary_is_one_line_of_json() -> None:
    made = JobResult(job="archive", rows=3, offsets={"t": {"0": 3}}, lag=0, facts={"path": "/a"})
    text = made.to_json()
    assert "\n" not in text
    assert json.loads(text) == {
        "job": "archive",
        "status": "done",
        "rows": 3,
        "batches": 0,
        "offsets": {"t": {"0": 3}},
        "lag": 0,
        "seconds": 0.0,
        "facts": {"path": "/a"},
        "problems": [],
    }


def test_a_stop_signal_stays_set() -> None:
    stop = StopSignal()
    assert not stop.is_set()
    stop.set()
    stop.set()
    assert stop.is_set()


class Py4JNetworkError(Exception):
    """Of that name."""


@pytest.mark.parametrize("error", [Py4JNetworkError("Answer is empty"), ConnectionRefusedError()])
def test_a_jvm_that_is_gone_is_named(error: Exception) -> None:
    assert "the JVM of Spark has ended in the midst of it" in reason(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("it broke\n\tat org.apache.X\n\tat org.apache.Y\n\nbadly", "it broke\nbadly"),
        ("x\n" * 40, "\n".join("x" * 12)),
        ("", "ValueError"),
    ],
)
def test_a_reason_has_few_lines_and_none_of_javas_stack(text: str, said: str) -> None:
    make: Callable[[str], Exception] = ValueError
    assert reason(make(text)) == said
