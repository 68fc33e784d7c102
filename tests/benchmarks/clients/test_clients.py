"""Every path of every client, with few records: that it runs, and that its figures are sound."""

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from benchmarks.clients import clients
from benchmarks.clients.paths import BY_NAME, IN_PYTHON, TLS_PEERS
from benchmarks.peers.job import Job
from benchmarks.processes.harness import NOTHING, run_peer
from benchmarks.report.progress import Steps

FEW = 0.0  # of any number of records: the least a run has

RUNS = (
    *("send", "send-acked", "bulk", "getmany", "group", "one-by-one", "arrow", "tasks"),
    "share-group",
)


def test_every_way_to_run_a_client_is_among_those_tested() -> None:
    assert {path.run for path in BY_NAME.values()} == {BY_NAME[name].run for name in RUNS}


@pytest.mark.parametrize("name", RUNS)
def test_path_runs_with_every_client_in_python(name: str, address: str, steps: Steps) -> None:
    path = BY_NAME[name]
    table = clients.measure("embedded", address, [path], IN_PYTHON, steps, rounds=1, scale=FEW)
    assert len(table.figures) == len(set(path.peers) & set(IN_PYTHON))
    assert all(figure.median > 0 for figure in table.figures)
    assert [line.ratio for line in table.lines()].count(None) == 1  # ours


@pytest.mark.parametrize("name", ["send", "send-acked", "getmany", "one-by-one", "tasks"])
def test_a_client_that_does_nothing_costs_less_than_ours(
    name: str, address: str, steps: Steps
) -> None:
    path, peers = BY_NAME[name], ["ours", NOTHING]
    table = clients.measure("embedded", address, [path], peers, steps, rounds=1, scale=0.02)
    ours, nothing = table.lines()
    assert nothing.figure.client == "a client that does nothing"
    assert nothing.figure.median > 0
    if name != "tasks":  # where our acks cost less than the future that the others wait for
        assert nothing.figure.median < ours.figure.median


def test_compressed_records_go_both_ways(address: str, steps: Steps) -> None:
    paths = [BY_NAME["send-lz4"], BY_NAME["getmany-lz4"]]
    table = clients.measure("embedded", address, paths, ["ours"], steps, rounds=1, scale=FEW)
    assert table.rows() == ["send, lz4", "getmany, lz4"]


def test_equal_settings_are_known_to_every_client(address: str, steps: Steps) -> None:
    paths = [BY_NAME["send-equal"], BY_NAME["getmany-equal"]]
    table = clients.measure("embedded", address, paths, IN_PYTHON, steps, rounds=1, scale=FEW)
    assert len(table.figures) == sum(len(path.peers) for path in paths)


@pytest.mark.parametrize("peer", TLS_PEERS)
def test_clients_connect_over_tls(peer: str) -> None:
    with EmbeddedBroker.threaded(security="SSL") as broker:
        for path in ("send", "getmany"):
            job = Job(broker.bootstrap_servers, "over-tls", 2000, ca_pem=broker.ca_pem)
            assert run_peer(peer, path, job).records >= 1000


def test_a_client_that_fails_ends_the_benchmark_with_its_error(
    address: str, steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "fresh", lambda _: "no such topic name/")
    with pytest.raises(Exception, match="no such topic name"):
        clients.measure("embedded", address, [BY_NAME["send"]], ["ours"], steps, rounds=1)
