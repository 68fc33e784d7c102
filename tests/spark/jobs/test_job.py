"""What a job tells at its end, and how it is asked to stop."""

import json

from aiokafka_lite.spark.jobs.job import JobResult, StopSignal


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
