"""What Spark tells of a batch, and where a query tells more than Spark does."""

import json
from typing import Any

from aiokafka_lite.spark.batch_report import (
    COUNTED,
    SIZES,
    bytes_of,
    read_report,
    rows_of,
    rows_per_s,
    seconds_of,
)


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


def test_bytes_are_known_if_they_are_observed() -> None:
    assert bytes_of({}) is bytes_of({"observedMetrics": {COUNTED: {"rows": 3}}}) is None
    assert bytes_of({"observedMetrics": {SIZES: {"bytes": 3}}}) == 3
    assert bytes_of({"observedMetrics": {SIZES: {"bytes": None}}}) == 0  # a batch without rows


def test_a_report_over_spark_connect_reads_as_any_other() -> None:
    rows = {"type": "struct", "fields": [{"name": "rows", "type": "long"}]}
    told = {
        "sources": [
            {
                "startOffset": None,
                "endOffset": '{"t": {"0": 20}}',
                "latestOffset": '{"t":{"0":30}}',
            },
            {"endOffset": "no JSON", "latestOffset": 7},
        ],
        "observedMetrics": {COUNTED: {"values": [20], "schema": rows}},
    }
    classic = {
        "sources": [
            {"startOffset": None, "endOffset": {"t": {"0": 20}}, "latestOffset": {"t": {"0": 30}}},
            {"endOffset": "no JSON", "latestOffset": 7},
        ],
        "observedMetrics": {COUNTED: {"rows": 20}},
    }
    assert read_report(json.dumps(told)) == read_report(json.dumps(classic)) == classic
    assert read_report("{}") == {"observedMetrics": {}}


def test_times_are_told_in_seconds_by_their_parts() -> None:
    assert seconds_of({"durationMs": {"addBatch": 1500}}) == {"addBatch": 1.5}
    assert seconds_of({}) == {}
