"""Cases, and the tables made of what sessions say."""

import pytest

from benchmarks.report.results import as_markdown, as_text
from benchmarks.spark.cases import COLD, SHAPES, TO_NOOP, TO_TOPIC, Case, Payload, select, warm_up
from benchmarks.spark.measure import Outcome, tables
from benchmarks.spark.process_tree import JVM, OTHER, WORKER


def test_batch_reads_have_every_codec_and_number_of_partitions_and_the_rest_one() -> None:
    cases = select(SHAPES, [100, 1000], ["none", "lz4"], [1, 4, 16], 0.01)
    reads = [
        each.payload for each in cases if each.shape == "noop" and each.payload.value_bytes == 100
    ]
    assert reads == [
        Payload(100, "none", 4, 15_000),
        Payload(100, "lz4", 4, 15_000),
        Payload(100, "none", 1, 15_000),
        Payload(100, "none", 16, 15_000),
    ]
    rest = [each for each in cases if each.shape != "noop"]
    assert {each.payload for each in rest} == {
        Payload(100, "lz4", 4, 15_000),
        Payload(1000, "lz4", 4, 4_000),
    }
    assert [each.shape for each in warm_up(cases)] == list(SHAPES)


def test_streams_are_divided_into_batches_and_say_so() -> None:
    cases = select(["noop", "stream", "job"], [100], ["lz4"], [4], 1.0, batches=5)
    assert [each.batches for each in cases] == [1, 5, 5]
    assert cases[1].title == "stream → noop, 100 B, lz4, 4 partitions, 5 batches"


def test_a_choice_without_four_partitions_has_its_own_usual_number() -> None:
    cases = select(["noop", "write"], [100], ["none"], [2, 8], 1.0)
    assert [(each.shape, each.payload.partitions) for each in cases] == [
        ("noop", 2),
        ("noop", 8),
        ("write", 2),
    ]


def outcome(cpu_s: float, batch_ms: int) -> Outcome:
    case = CASE.title
    made = Outcome(peak_bytes=500_000_000)
    made.cpu_s = {COLD: 9.0, case: cpu_s}
    made.wall_s = {COLD: 8.0, case: cpu_s / 2}
    made.batches_ms = {TO_NOOP: [batch_ms] * 3, TO_TOPIC: [2 * batch_ms]}
    return made


CASE = Case("noop", Payload(100, "lz4", 4, 500_000))


def test_tables_have_both_connectors_beside_each_other_with_targets() -> None:
    taken = {
        "aiokafka-lite": [outcome(0.5, 250), outcome(0.4, 260)],
        "official": [outcome(1.1, 130), outcome(1.2, 120)],
    }
    made = tables([CASE], taken, "how")
    assert [table.name for table in made] == [
        "spark-cpu",
        "spark-time",
        "spark-batch",
        "spark-cold-wall_s",
        "spark-cold-cpu_s",
        "spark-memory",
    ]
    cpu, time, batch, cold = made[:4]
    ours, theirs = cpu.lines()
    assert ours.figure.median == pytest.approx(0.9)  # CPU-seconds per million rows
    assert theirs.ratio == pytest.approx(2.3 / 0.9)
    assert theirs.target == pytest.approx(1 / 0.55)
    assert theirs.is_met
    assert time.figures[0].note == "2,222 thousand rows/s"
    assert {line.target for line in cold.lines()} == {None, 1 / 1.2}
    assert batch.limits == {"2 partitions → noop": 125 + 150}
    assert [line.is_met for line in batch.lines()] == [True, None, None, None]
    assert "batch → noop, 100 B, lz4, 4 partitions" in as_text(cpu)
    assert "| aiokafka-lite, ms | official |" in as_markdown(batch)


def test_delays_are_told_by_quantiles() -> None:
    taken = outcome(0.5, 250)
    taken.delays_s = [number / 1000 for number in range(1, 101)]
    (table,) = (
        each for each in tables([CASE], {"aiokafka-lite": [taken]}, "") if "latency" in each.name
    )
    assert {each.row: each.median for each in table.figures} == {
        "produce to sink, p50": 50,
        "produce to sink, p99": 99,
    }


def test_cpu_is_told_by_kinds_of_processes_where_they_took_any() -> None:
    taken, other = outcome(0.5, 250), outcome(0.4, 250)
    taken.by_kind_s = {CASE.title: {JVM: 0.3, WORKER: 0.2, OTHER: 0.01}}
    other.by_kind_s = {CASE.title: {JVM: 0.4}}
    made = tables([CASE], {"aiokafka-lite": [taken], "official": [other]}, "")
    (table,) = (each for each in made if each.name == "spark-kinds")
    assert [(each.row, each.client, each.median) for each in table.figures] == [
        (f"{CASE.title}: {JVM}", "aiokafka-lite", 300),
        (f"{CASE.title}: {JVM}", "official", 400),
        (f"{CASE.title}: {WORKER}", "aiokafka-lite", 200),
    ]


def test_without_small_batches_there_is_no_table_of_them() -> None:
    taken = outcome(0.5, 250)
    taken.batches_ms = {}
    assert "spark-batch" not in [
        each.name for each in tables([CASE], {"aiokafka-lite": [taken]}, "")
    ]
