"""Gaps by hand, and one kill of a leader of the embedded broker while every client sends."""

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from benchmarks.clients import failover
from benchmarks.clients.paths import IN_PYTHON
from benchmarks.peers.job import Outcome
from benchmarks.processes import harness
from benchmarks.report.progress import Steps


def test_longest_gap_is_between_acks_as_they_came() -> None:
    gap = failover.longest_gap([(0.0, 1.0), (0.1, 1.1), (0.2, 4.0), (0.3, 3.5), (0.4, 4.1)])
    assert (gap.began_s, gap.ended_s) == (1.1, 3.5)
    assert gap.length_s == pytest.approx(2.4)


def test_part_of_the_gap_after_the_election() -> None:
    outcome = Outcome(acks=[(0.0, 1.0), (0.1, 5.0), (0.2, 5.1)], failed=2)
    assert dict(failover.figures(outcome, elected_s=4.0)) == {
        "longest gap": 4000.0,
        "of it after the election": 1000.0,
        "records given up": 2.0,
    }


def test_gap_that_ended_before_the_election_was_seen_has_no_part_after_it() -> None:
    outcome = Outcome(acks=[(0.0, 1.0), (0.1, 5.0)])
    assert dict(failover.figures(outcome, elected_s=5.5))["of it after the election"] == 0.0


def test_tool_that_tells_no_acks_tells_its_slowest() -> None:
    outcome = Outcome(quantiles_s={"p50": 0.001, "p99": 0.002, "max": 3.0})
    assert list(failover.figures(outcome, elected_s=0.0)) == [("longest gap", 3000.0)]


class EmbeddedCluster:
    """The embedded broker as the benchmark wants it."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self._broker = broker
        self.bootstrap_servers = broker.bootstrap_servers

    def address_without(self, node_id: int) -> str:
        addresses = self.bootstrap_servers.split(",")
        return ",".join(each for at, each in enumerate(addresses, 1) if at != node_id)

    def kill(self, node_id: int) -> None:
        self._broker.stop_node(node_id)

    def revive(self, node_id: int) -> None:
        self._broker.start_node(node_id)


def test_every_client_lives_through_the_death_of_its_leader(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failover, "KILL_AFTER_S", 0.2)
    with EmbeddedBroker.threaded(nodes=3) as broker:
        cluster = EmbeddedCluster(broker)
        table = failover.measure(cluster, IN_PYTHON, steps, rounds=1, seconds=2.0)
    gaps = [figure for figure in table.figures if figure.row == "longest gap"]
    assert {figure.client for figure in gaps} == {harness.PEERS[peer] for peer in IN_PYTHON}
    assert all(figure.median > 0 for figure in gaps)
