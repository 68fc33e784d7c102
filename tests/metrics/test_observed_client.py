"""What an observer is told of a client does not keep the client alive."""

import gc
from typing import Any

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.metrics.observed_client import ObservedClient
from aiokafka_lite.metrics.observer import Observer
from tests.scenarios.consuming import consumer_of, embedded


class Keeper(Observer):
    """Keeps what it is told of clients."""

    def __init__(self) -> None:
        self.clients: list[ObservedClient] = []

    def of_client(self, client: ObservedClient) -> Observer:
        self.clients.append(client)
        return self


async def test_the_statistics_end_with_the_client() -> None:
    keeper = Keeper()
    async with embedded({"t": 1}) as broker:
        consumer: AIOKafkaConsumer[Any, Any]
        async with consumer_of(broker, "t", group_id="g", observer=keeper) as consumer:
            (client,) = keeper.clients
            assert (client.kind, client.group_id) == ("consumer", "g")
            assert client.statistics() is not None
        del consumer
        gc.collect()
        assert client.statistics() is None
