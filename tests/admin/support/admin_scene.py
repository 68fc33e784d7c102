"""An embedded cluster, the client of an admin client, and its requests, without the calls."""

import random
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiokafka_lite.admin.calls.admin_requests import AdminRequests
from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.support.leftovers import nothing_left_behind


class AdminScene:
    """A cluster, a client of it, and what sends the requests of admin calls."""

    def __init__(self, broker: EmbeddedBroker, client: KafkaClient) -> None:
        self.broker = broker
        self.client = client
        self.requests = AdminRequests(client)
        self.routes = self.requests.routes

    def asked(self, request_type: type[Any]) -> list[Any]:
        """The requests of this type that have reached the cluster."""
        return self.broker.requests_of(request_type)


@asynccontextmanager
async def admin_scene(
    nodes: int = 1,
    clock: Clock | None = None,
    *,
    max_versions: Mapping[int, int | None] | None = None,
    **options: Any,
) -> AsyncIterator[AdminScene]:
    """Yield a scene on a clock that jumps, and check that nothing of it is left behind.

    `max_versions`: of the broker. `options`: of the client.
    """
    clock = clock or FakeClock(autojump_threshold_s=0.01)
    async with nothing_left_behind(), EmbeddedBroker(nodes, max_versions=max_versions) as broker:
        config = ClientConfig(bootstrap_servers=broker.bootstrap_servers, **options)
        client = KafkaClient(
            config, clock=clock, rng=random.Random(1), allow_auto_topic_creation=False
        )
        await client.start()
        try:
            yield AdminScene(broker, client)
        finally:
            await client.close()


__all__ = ["AdminScene", "admin_scene"]
