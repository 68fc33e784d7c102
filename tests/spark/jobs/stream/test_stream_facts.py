"""What reports of batches tell besides rows is summed over a run."""

from aiokafka_lite.spark.jobs.stream.stream_facts import (
    StreamFacts,
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
