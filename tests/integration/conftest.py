"""What the tests with accidents share: a real cluster of three nodes, each in a rack of its own."""

import asyncio
from collections.abc import Iterator

import pytest

from aiokafka_lite.testing.apache_kafka import archive_classes
from tests.conftest import MAIN_VERSION, require_kafka
from tests.faults.group_faults import Cluster
from tests.faults.producer_faults import three_nodes
from tests.support.unreliable_network import ProxiedKafka


@pytest.fixture(scope="session")
def cluster_of_the_session() -> Iterator[ProxiedKafka]:
    """Started when first asked for: three Java processes need the CPU for as long as many tests."""
    require_kafka(MAIN_VERSION)
    archive_classes(MAIN_VERSION)  # for the two dozen nodes that are started from here on
    with three_nodes(MAIN_VERSION) as kafka:
        yield kafka
        for node in kafka.nodes:
            node.kill()  # there is nothing left to end in order, which takes seconds


@pytest.fixture
def cluster(cluster_of_the_session: ProxiedKafka) -> ProxiedKafka:
    """The newest Kafka, whole, whatever the test before has done to it; with topics of others."""
    asyncio.run(Cluster(cluster_of_the_session).heal())
    return cluster_of_the_session
