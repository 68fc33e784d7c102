"""Quantiles and turns by hand, and a short run of every client in Python."""

import os

import pytest

from benchmarks.clients import latency
from benchmarks.clients.paths import IN_PYTHON
from benchmarks.peers.job import Job
from benchmarks.report.progress import Steps


def test_quantile_is_the_least_value_not_below_the_share() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert latency.quantile(values, 0.5) == 50.0
    assert latency.quantile(values, 0.99) == 99.0
    assert latency.quantile([7.0], 0.99) == 7.0


def test_clients_take_turns_in_alternate_order_after_a_run_that_warms_the_broker(
    monkeypatch: pytest.MonkeyPatch, address: str, steps: Steps
) -> None:
    ran: list[str] = []

    def quantiles(peer: str, job: Job) -> list[tuple[str, float]]:
        ran.append(peer)
        return [(latency.ACK, len(ran))]

    monkeypatch.setattr(latency, "_quantiles", quantiles)
    table = latency.measure("embedded", address, ["ours", "aiokafka_peer"], steps, rounds=2)
    assert ran == ["ours", "ours", "aiokafka_peer", "aiokafka_peer", "ours"]
    figures = {figure.client: figure for figure in table.figures}
    assert list(figures["aiokafka-lite"].samples) == [2000, 5000]
    assert list(figures["aiokafka"].samples) == [3000, 4000]


def test_every_client_tells_both_latencies(address: str, steps: Steps) -> None:
    table = latency.measure("embedded", address, IN_PYTHON, steps, rounds=1, seconds=0.05)
    assert table.rows() == ["ack, p50", "ack, p99", "to the consumer, p50", "to the consumer, p99"]
    assert len(table.figures) == 4 * len(IN_PYTHON)
    assert all(0 < figure.median < 60_000 for figure in table.figures)
    assert ("pinned: " in table.conditions) == (len(os.sched_getaffinity(0)) > 1)
