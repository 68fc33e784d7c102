"""Curves of costs by size: which rows are drawn, and that a file is written."""

from pathlib import Path

import pytest

from benchmarks.report.curves import draw_curves, points
from benchmarks.report.results import OURS, Figure, Table

FIGURES = [
    Figure("consumer, partitions: 5,000", OURS, [30.0]),
    Figure("consumer, partitions: 1", OURS, [10.0, 12.0, 90.0]),
    Figure("consumer, partitions: 1", "aiokafka", [0.0]),
    Figure("consumers: 1", "aiokafka", [7.0]),
]
TABLE = Table("growth-idle", "Idle, somewhere", "ms", "", FIGURES)


def test_points_are_medians_by_size_without_those_that_a_logarithm_lacks() -> None:
    assert points(TABLE, "consumer, partitions") == {OURS: [(1, 12.0), (5000, 30.0)]}
    assert points(TABLE, "consumers") == {"aiokafka": [(1, 7.0)]}


def test_picture_has_a_panel_for_each_kind_and_the_names_of_the_clients(tmp_path: Path) -> None:
    no_sizes = Table("clients", "Clients", "us", "", [Figure("send", OURS, [1.0])])
    draw_curves([no_sizes, TABLE], tmp_path / "told.svg", "where and when")
    drawn = (tmp_path / "told.svg").read_text()
    for text in ("consumer, partitions", "consumers", OURS, "Idle, ms", "where and when"):
        assert text in drawn
    with pytest.raises(SystemExit, match="measure growth"):
        draw_curves([no_sizes], tmp_path / "none.svg", "")
