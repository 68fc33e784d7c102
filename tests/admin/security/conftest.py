"""Two clusters with users and an authorizer: the embedded broker, and a real Kafka."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.zookeeper import needs_zookeeper
from tests.conftest import MAIN_VERSION, require_kafka

OPTIONS: dict[str, Any] = {
    "security": "SASL_PLAINTEXT",
    "users": {"alice": "secret", "bob": "secret"},
    "acls": [],
    "super_users": ["alice"],
}
"""alice may do everything, bob nothing."""


@dataclass(frozen=True)
class SecuredCluster:
    """A running cluster, and what clients of its users need."""

    bootstrap_servers: str
    client_options: Callable[..., dict[str, Any]]
    kafka: ApacheKafka | None = None
    """None: the embedded broker."""

    def admin(self, user: str = "alice", **options: Any) -> AIOKafkaAdminClient:
        """Return a client that is not started."""
        chosen = self.client_options("alice") | {"sasl_plain_username": user} | options
        return AIOKafkaAdminClient(bootstrap_servers=self.bootstrap_servers, **chosen)

    def confluent(self) -> dict[str, str]:
        """Return what confluent-kafka's admin client needs, as alice."""
        return {
            "bootstrap.servers": self.bootstrap_servers,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "alice",
            "sasl.password": "secret",
        }


async def becomes(ask: Callable[[], Awaitable[Any]], wanted: Any) -> None:
    """Ask until the answer is the wanted one: a real node learns of a change a moment later."""
    answer = await ask()
    try:
        async with asyncio.timeout(30):
            while answer != wanted:
                await asyncio.sleep(0.02)
                answer = await ask()
    except TimeoutError:
        assert answer == wanted


@pytest.fixture(scope="session")
def real_secured_cluster() -> Iterator[SecuredCluster]:
    """The real Kafka, for the tests of this folder together."""
    if needs_zookeeper(MAIN_VERSION):
        pytest.skip(f"a Kafka {MAIN_VERSION} of the tests has no security, which came with KRaft")
    require_kafka(MAIN_VERSION)
    with ApacheKafka(MAIN_VERSION, **OPTIONS) as kafka:
        yield SecuredCluster(kafka.bootstrap_servers, kafka.client_options, kafka)
        for node in kafka.nodes:
            node.kill()  # an orderly end takes seconds, and leaves nothing either


@pytest.fixture(
    params=["embedded", pytest.param(MAIN_VERSION, marks=pytest.mark.real_kafka)],
)
def cluster(request: pytest.FixtureRequest) -> Iterator[SecuredCluster]:
    """Each of the two: the same test for both."""
    if request.param == "embedded":
        with EmbeddedBroker.threaded(**OPTIONS) as broker:
            yield SecuredCluster(broker.bootstrap_servers, broker.client_options)
    else:
        yield request.getfixturevalue("real_secured_cluster")


@pytest.fixture
async def admin(cluster: SecuredCluster) -> AsyncIterator[AIOKafkaAdminClient]:
    """A client of alice."""
    async with cluster.admin() as admin:
        yield admin


@pytest.fixture
async def bob(cluster: SecuredCluster) -> AsyncIterator[AIOKafkaAdminClient]:
    """A client of bob."""
    async with cluster.admin("bob") as admin:
        yield admin
