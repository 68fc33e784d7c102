"""What a job tells at its end, and how it is asked to stop."""

import json

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
    assert "the JVM of Spark has ended during the job" in reason(error)


PYTHON = """[STREAM_FAILED] Query terminated with exception: it said:
Traceback (most recent call last):
  File "x.py", line 1, in f
    g()
KafkaError: the first

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "x.py", line 2, in f
KafkaConfigurationError: the source has 2 faults:
  - one
  - two
=== Streaming Query ===
Identifier: x"""
SAID = """[STREAM_FAILED] Query terminated with exception: it said:
KafkaError: the first
KafkaConfigurationError: the source has 2 faults:
  - one
  - two"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("it broke\n\tat org.apache.X\n\tat org.apache.Y\n\nbadly", "it broke\nbadly"),
        ("x\n" * 40, "\n".join("x" * 12)),
        ("", "ValueError"),
        (PYTHON, SAID),
    ],
)
def test_a_reason_has_few_lines_and_says_what_not_where(text: str, said: str) -> None:
    assert reason(ValueError(text)) == said
