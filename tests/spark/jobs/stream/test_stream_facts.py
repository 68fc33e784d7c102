"""What reports of batches tell besides rows is summed over a run."""

from typing import Any

from aiokafka_lite.spark.jobs.stream.stream_facts import (
    COUNTED,
    StreamFacts,
    rows_of,
    rows_per_s,
)


def test_counts_are_summed_and_the_state_is_the_last() -> None:
    facts = StreamFacts()
    facts.note({"observedMetrics": {"events": {"bad_records": 2}}, "stateOperators": []})
    facts.note(
        {
            "observedMetrics": {"events": {"bad_records": 1}, "more": {"seen": None}},
            "stateOperators": [
                {"numRowsDroppedByWatermark": 3, "numRowsTotal": 40},
                {
                    "numRowsDroppedByWatermark": 1,
                    "numRowsTotal": 2,
                    "customMetrics": {"numDroppedDuplicateRows": 5},
                },
            ],
        }
    )
    facts.note({"stateOperators": [{"numRowsDroppedByWatermark": 1, "numRowsTotal": 7}]})
    assert facts.to_dict() == {
        "bad_records": 3, "seen": 0, "late_rows": 5, "duplicates": 5, "state_rows": 7
    }  # fmt: skip


def test_a_stream_without_state_has_none() -> None:
    facts = StreamFacts()
    facts.note({"numInputRows": 1})
    assert facts.to_dict() == {}


def test_a_batch_has_the_rows_that_were_counted_or_else_those_that_came_in() -> None:
    report: dict[str, Any] = {
        "sources": [{"numInputRows": 1}, {"numInputRows": 3}],
        "processedRowsPerSecond": 8.5,
        "durationMs": {"triggerExecution": 500},
    }
    assert (rows_of(report), rows_per_s(report)) == (4, 8.5)
    other = {"observedMetrics": {"events": {"rows": 9}}}
    assert (rows_of({**report, **other}), rows_per_s({**report, **other})) == (4, 8.5)
    report["observedMetrics"] = {COUNTED: {"rows": 300}}
    assert (rows_of(report), rows_per_s(report)) == (300, 600.0)
    report["observedMetrics"] = {COUNTED: {"rows": None}}  # a batch without ranges
    report["durationMs"] = {}
    assert (rows_of(report), rows_per_s(report)) == (0, 0.0)
