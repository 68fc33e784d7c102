"""Quantiles and turns by hand, and a short run of every client in Python."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from benchmarks import __main__ as command
from benchmarks.clients import admin_calls, latency
from benchmarks.clients.paths import IN_PYTHON
from benchmarks.peers.job import Job
from benchmarks.report.progress import Steps
from benchmarks.report.results import Table


def test_quantile_is_the_least_value_not_below_the_share() -> None:
    values = [float(number) for number in range(100, 0, -1)]
    assert latency.quantile(values, 0.5) == 50.0
    assert latency.quantile(values, 0.99) == 99.0
    assert latency.quantile([7.0], 0.99) == 7.0


@pytest.mark.parametrize(
    ("peers", "seconds", "warm_up_s", "rounds"),
    [
        pytest.param(6, 5.0, 60.0, 2, id="exactly"),
        pytest.param(2, 5.0, 60.0, 6, id="fewer clients, more rounds"),
        pytest.param(5, 5.0, 60.0, 3, id="part of a round is a whole one"),
        pytest.param(5, 0.5, 0.0, 1, id="at least one"),
    ],
)
def test_broker_has_the_load_for_the_warm_up_in_whole_rounds_of_all_clients(
    peers: int, seconds: float, warm_up_s: float, rounds: int
) -> None:
    assert latency.uncounted_rounds(peers, seconds, warm_up_s) == rounds


def test_clients_take_turns_in_alternate_order_and_rounds_of_the_warm_up_do_not_count(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    address: str,
    steps: Steps,
) -> None:
    ran: list[str] = []

    def quantiles(peer: str, job: Job) -> list[tuple[str, float]]:
        ran.append(peer)
        return [(latency.ACK, len(ran))]

    monkeypatch.setattr(latency, "_quantiles", quantiles)
    table = latency.measure(
        "embedded", address, ["ours", "aiokafka_peer"], steps, rounds=2, seconds=5, warm_up_s=11
    )
    there = ["ours", "aiokafka_peer"]
    assert ran == [*there, *reversed(there), *there, *reversed(there)]
    figures = {figure.client: figure for figure in table.figures}
    assert list(figures["aiokafka-lite"].samples) == [5000, 8000]
    assert list(figures["aiokafka"].samples) == [6000, 7000]
    assert "before them 20 s of the same load warmed the broker up" in table.conditions
    assert "(2 rounds that do not count)" in table.conditions
    assert "warm the broker up for 20 s" in capsys.readouterr().out


@pytest.mark.parametrize("quick", [False, True])
def test_command_measures_on_a_broker_of_its_own_with_its_whole_heap(
    monkeypatch: pytest.MonkeyPatch, quick: bool
) -> None:
    brokers: list[tuple[str, Sequence[str]]] = []
    measured: dict[str, Any] = {}

    @contextmanager
    def running_broker(kind: str, java_options: Sequence[str] = ()) -> Iterator[str]:
        brokers.append((kind, java_options))
        yield f"broker {len(brokers)}"

    def measure(broker: str, address: str, *_: object, **settings: float) -> Table:
        measured.update(settings, address=address)
        return Table("latency", f"Latency on {broker}", "ms", "", [])

    def admin(*_: object, **__: object) -> Table:
        return Table("admin", "Admin", "ms", "", [])

    monkeypatch.setattr(command, "running_broker", running_broker)
    monkeypatch.setattr(command, "_without_java", lambda _: None)
    monkeypatch.setattr(latency, "measure", measure)
    monkeypatch.setattr(admin_calls, "measure", admin)
    arguments = ["benchmarks", "latency", "admin", "--brokers", "apache", *["--quick"] * quick]
    monkeypatch.setattr("sys.argv", arguments)
    command.main()
    assert brokers == [("apache", ()), ("apache", ("-Xms512m", "-Xmx512m"))]
    assert measured["address"] == "broker 2"
    assert measured["warm_up_s"] == (0.0 if quick else 60.0)


def test_every_client_tells_both_latencies(address: str, steps: Steps) -> None:
    table = latency.measure(
        "embedded", address, IN_PYTHON, steps, rounds=1, seconds=0.05, warm_up_s=0
    )
    assert table.rows() == ["ack, p50", "ack, p99", "to the consumer, p50", "to the consumer, p99"]
    assert len(table.figures) == 4 * len(IN_PYTHON)
    assert all(0 < figure.median < 60_000 for figure in table.figures)
    assert ("pinned: " in table.conditions) == (len(os.sched_getaffinity(0)) > 1)
