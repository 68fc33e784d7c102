"""The table of a leader's work, for a small group."""

import sys

import pytest

from benchmarks.groups.assignments import ASSIGNORS, MOMENTS, main


def test_each_assignor_has_a_row_for_each_kind_of_group(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--members", "6", "--partitions", "100", "--rounds", "1"]
    monkeypatch.setattr(sys, "argv", ["assignments", *asked])
    main()
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + 2 * len(ASSIGNORS)
    assert {row.count("|") for row in rows} == {len(MOMENTS) + 3}
    for kind in ASSIGNORS:
        assert sum(row.startswith(f"| {kind().name}, ") for row in rows) == 2
