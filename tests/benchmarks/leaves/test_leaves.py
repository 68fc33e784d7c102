"""One round of every row of the leaves."""

import pytest

from benchmarks.leaves import leaf_records, leaves
from benchmarks.leaves.contest import measure
from benchmarks.report.progress import Steps


def test_every_row_has_our_figure_and_a_peers(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaf_records, "RECORDS", 800)
    tables = leaves.measure(steps, rounds=1)
    assert sum(len(table.rows()) for table in tables) == leaves.ROWS
    for table in tables:
        for row in table.rows():
            clients = [figure.client for figure in table.figures if figure.row == row]
            assert clients[0] == "aiokafka-lite"
            peer = "confluent-kafka" if table.name == "leaf-schemas" else "aiokafka"
            assert peer in clients


def test_contender_that_cannot_do_the_work_is_left_out() -> None:
    def refuse() -> int:
        raise RuntimeError("libraries for snappy compression codec not found")

    samples = measure({"able": lambda: 10, "unable": refuse}, rounds=3)
    assert list(samples) == ["able"]
    assert len(samples["able"]) == 3
    assert samples["able"][0] == pytest.approx(0, abs=1)
