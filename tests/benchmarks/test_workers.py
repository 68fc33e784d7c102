"""The benchmark of workers: each way handles its records, and the tables name all of them."""

import pytest

from benchmarks.workers import __main__ as workers


def test_each_way_handles_its_records(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "HANDLERS_US", {"10 µs": 10})
    samples = workers.measure(address, rounds=1, part=500)
    assert {way: [each.records for each in taken] for (_, way), taken in samples.items()} == {
        way: [200] for way in workers.WAYS
    }
    wall, cpu = workers.tables(samples)
    assert wall.unit == cpu.unit == "µs/record"
    for table in (wall, cpu):
        assert {line.figure.client for line in table.lines()} == set(workers.WAYS.values())
        assert all(line.figure.median > 0 for line in table.lines())
    assert all(line.figure.median >= 10 for line in wall.lines()), "the handler computes 10 µs"
