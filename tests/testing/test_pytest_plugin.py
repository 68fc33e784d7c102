"""The fixtures a user's test suite gets by installing the package."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.testing.broker.bench import batch


def test_kafka_broker_is_one_fresh_node(kafka_broker: EmbeddedBroker, kafka_bootstrap: str) -> None:
    assert kafka_broker.bootstrap_servers == kafka_bootstrap
    assert len(kafka_bootstrap.split(",")) == 1
    assert kafka_broker.cluster.topics == {}


def test_kafka_cluster_has_three_nodes_and_replicas(kafka_cluster: EmbeddedBroker) -> None:
    kafka_cluster.create_topic("t", partitions=3)
    partitions = kafka_cluster.cluster.topics["t"].partitions
    assert [len(partition.replicas) for partition in partitions] == [3, 3, 3]
    kafka_cluster.append(("t", 0), batch(b"a"))


def test_make_kafka_broker_takes_options_and_makes_several(
    make_kafka_broker: Callable[..., EmbeddedBroker],
) -> None:
    first, second = make_kafka_broker(nodes=2), make_kafka_broker(num_partitions=4)
    assert len(first.bootstrap_servers.split(",")) == 2
    assert second.bootstrap_servers not in first.bootstrap_servers


async def test_fixtures_work_in_async_tests(kafka_broker: EmbeddedBroker) -> None:
    kafka_broker.create_topic("t")


def test_secure_kafka_broker_speaks_sasl_ssl(secure_kafka_broker: EmbeddedBroker) -> None:
    options = secure_kafka_broker.client_options("alice")
    assert options["security_protocol"] == "SASL_SSL"
    assert options["sasl_plain_password"] == "secret"
    assert options["ssl_cadata"] == secure_kafka_broker.ca_pem


class TestOtherOptions:
    @pytest.fixture
    def secure_kafka_options(self) -> dict[str, Any]:
        return {"security": "SSL", "ssl_client_auth": "required"}

    def test_a_test_module_chooses_them(self, secure_kafka_broker: EmbeddedBroker) -> None:
        assert secure_kafka_broker.client_options() == {
            "security_protocol": "SSL",
            "ssl_cadata": secure_kafka_broker.ca_pem,
        }


@pytest.fixture(scope="session")
def application(kafka_session_broker: EmbeddedBroker, kafka_session_bootstrap: str) -> str:
    """Stands for an application that is started once for all tests."""
    assert kafka_session_broker.bootstrap_servers == kafka_session_bootstrap
    return kafka_session_bootstrap


_session_topics: list[str] = []


@pytest.mark.parametrize("time", ["first", "second/…"])
def test_a_session_broker_outlives_its_tests_and_their_topics_do_not(
    application: str, kafka_session_broker: EmbeddedBroker, kafka_topic: str, time: str
) -> None:
    assert application == kafka_session_broker.bootstrap_servers
    assert [name for name in _session_topics if name in kafka_session_broker.cluster.topics] == []
    assert kafka_session_broker.faults.plan(ApiKey.FETCH, 1) is None
    _session_topics.append(kafka_topic)
    kafka_session_broker.produce(kafka_topic, time)
    assert len(kafka_session_broker.records(kafka_topic)) == 1
    kafka_session_broker.faults.fail("Fetch", "KAFKA_STORAGE_ERROR", times=None)


def test_a_topic_that_its_test_deletes_is_no_trouble(
    kafka_session_broker: EmbeddedBroker, kafka_topic: str
) -> None:
    kafka_session_broker.delete_topic(kafka_topic)


def test_importing_the_plugin_costs_little_beside_pytest_and_brings_no_broker() -> None:
    """Every pytest run of every project pays for it. Counted is this process's own work: on a busy
    machine the time that passes says nothing. Measured: 0.013 to 0.018, some 3 ms."""
    program = """
import sys, time
began = time.process_time()
import pytest
middle = time.process_time()
import aiokafka_lite.testing.pytest_plugin
cost = (time.process_time() - middle) / (middle - began)
broker = ("aiokafka_lite.testing.broker", "cramjam", "anyio")
heavy = [name for name in sys.modules if name.startswith(broker)]
print(cost, heavy)
"""
    costs = []
    for _ in range(3):
        output = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout
        cost, _, heavy = output.strip().partition(" ")
        assert heavy == "[]"
        costs.append(float(cost))
    assert min(costs) < 0.04
