"""Seeds that are changed while a client runs (`client.set_bootstrap_servers`)."""

import socket
from typing import Any

import pytest

from aiokafka_lite.client import AIOKafkaClient
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import IllegalStateError, KafkaConfigurationError
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.scenarios.consuming import embedded
from tests.scenarios.test_connecting import connected
from tests.support.patience import eventually

QUICK: Any = {"reconnect_backoff_ms": 1, "retry_backoff_ms": 1, "retry_backoff_max_ms": 10}


class MovingCluster:
    """Leads every name to the broker; after `move` nobody is reached before "new" was asked."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self._broker = broker
        self._has_moved = False
        self.asked: list[str] = []

    def move(self) -> None:
        self._has_moved = True
        self.asked.clear()
        self._broker.drop_connections()

    async def connect(self, host: str, port: int) -> socket.socket:
        self.asked.append(host)
        if self._has_moved and "new" not in self.asked:
            raise ConnectionRefusedError
        name, _, number = self._broker.bootstrap_servers.partition(":")
        return await connected(socket.socket(), (name, int(number)))


@pytest.mark.parametrize("made", [AIOKafkaProducer, AIOKafkaConsumer])
async def test_a_client_whose_brokers_have_moved_finds_them_by_its_new_seeds(made: Any) -> None:
    async with embedded({"t": 1}) as broker:
        cluster = MovingCluster(broker)
        options = {**QUICK, "bootstrap_servers": "old", "connect": cluster.connect}
        async with made(**options) as client:
            cluster.move()
            await eventually(lambda: not client.is_healthy())
            assert "new" not in cluster.asked
            client.client.set_bootstrap_servers(["new:9093"])
            await eventually(client.is_healthy)
            assert client.client.hosts == [("new", 9093, socket.AF_UNSPEC)]
            if isinstance(client, AIOKafkaProducer):
                await client.send_and_wait("t", b"after the move")


async def test_connections_to_brokers_go_on() -> None:
    async with (
        embedded({"t": 1}) as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        await producer.send_and_wait("t", b"v")
        connections = producer.statistics().network.open_connections
        producer.client.set_bootstrap_servers("new-1, new-2")
        assert producer.statistics().network.open_connections == connections
        await producer.send_and_wait("t", b"v")


async def test_what_are_no_addresses_changes_nothing() -> None:
    async with embedded() as broker:
        client = AIOKafkaClient(bootstrap_servers=broker.bootstrap_servers)
        with pytest.raises(IllegalStateError, match="not connected"):
            client.set_bootstrap_servers("new")
        await client.bootstrap()
        before = client.hosts
        with pytest.raises(KafkaConfigurationError, match="port 'x' is not a number"):
            client.set_bootstrap_servers("new, other:x")
        assert client.hosts == before
        await client.close()


async def test_a_round_of_the_former_seeds_ends() -> None:
    """The next one asks the new seeds."""
    cut: list[AIOKafkaProducer] = []

    async def connect(host: str, port: int) -> socket.socket:
        if host == "old-1" and cut:
            cut.pop().client.set_bootstrap_servers("old-3")
        raise ConnectionRefusedError

    async with embedded() as broker:
        cluster = MovingCluster(broker)

        async def choose(host: str, port: int) -> socket.socket:
            return await (connect if cut else cluster.connect)(host, port)

        options = {**QUICK, "bootstrap_servers": "old-1, old-2", "connect": choose}
        async with AIOKafkaProducer(**options) as producer:
            cluster.move()
            cut.append(producer)
            await eventually(lambda: "old-3" in cluster.asked)
