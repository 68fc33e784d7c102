"""The parts of a stream's cost, found again in costs that were made of them."""

from dataclasses import replace

import pytest

from benchmarks.spark.cost_parts import CostParts, Sample, cases, kinds_table, sample, table
from benchmarks.spark.process_tree import STREAM_PLANNER, WORKER

TRUE = CostParts(stream_s=0.6, task_s=0.01, batch_s=0.15, row_s=8e-7)


def made(noise_s: float = 0.0) -> list[Sample]:
    found = []
    for number, case in enumerate(cases(1.0)):
        tasks = case.batches * case.payload.partitions
        exact = TRUE.cpu_s(tasks, case.batches, case.payload.records)
        found.append(sample(case, exact + (noise_s if number % 2 else -noise_s)))
    return found


def test_each_stream_has_a_name_of_its_own() -> None:
    """Figures are kept by name: of two streams of one name, the second would count twice."""
    titles = [each.title for each in cases(1.0)]
    assert len(set(titles)) == len(titles) == 12


def test_the_order_is_the_same_each_time_and_not_that_of_the_records() -> None:
    records = [each.payload.records for each in cases(1.0)]
    assert records == [each.payload.records for each in cases(1.0)]
    assert records != sorted(records)


def test_exact_costs_give_their_parts_back() -> None:
    parts = CostParts.fitted(made())
    assert (parts.stream_s, parts.task_s) == pytest.approx((0.6, 0.01))
    assert (parts.batch_s, parts.row_s) == pytest.approx((0.15, 8e-7))


def test_noise_moves_them_little() -> None:
    parts = CostParts.fitted(made(0.05))
    assert parts.cpu_s(20, 5, 2_000_000) == pytest.approx(TRUE.cpu_s(20, 5, 2_000_000), rel=0.05)


def test_streams_of_one_kind_cannot_tell_the_parts_apart() -> None:
    with pytest.raises(ValueError, match="vary all three numbers"):
        CostParts.fitted([Sample(4, 1, 1000, 1.0), Sample(8, 2, 1000, 2.0), Sample(12, 3, 9, 3.0)])


def test_the_table_has_a_row_for_each_part() -> None:
    rows = {each.row: each.median for each in table({"ours": [TRUE]}, "").figures}
    assert rows["a stream"] == pytest.approx(600)
    assert rows["a task"] == pytest.approx(10)
    assert rows["a million rows"] == pytest.approx(800)


def test_kinds_of_processes_have_limits_where_the_project_has_targets() -> None:
    parts = {kind: {"aiokafka-lite": [TRUE]} for kind in (STREAM_PLANNER, WORKER)}
    met = {line.figure.row: line.is_met for line in kinds_table(parts, "").lines()}
    assert met[f"{STREAM_PLANNER}: a stream"]
    assert met[f"{WORKER}: a task"]
    assert met[f"{WORKER}: a stream"] is None
    slow = {WORKER: {"aiokafka-lite": [replace(TRUE, task_s=0.011)]}}
    assert [line.is_met for line in kinds_table(slow, "").lines()] == [None, False, None, None]
