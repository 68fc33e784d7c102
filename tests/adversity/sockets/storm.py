"""What happens around clients on a rough network, by a seed: weather, cuts, nodes and leaders."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.adversity.sockets.rough_network import RoughNetwork, some_weather

NODES: Final = 3
CLIENT_TIMES: Final = {
    "request_timeout_ms": 700,
    "retry_backoff_ms": 10,
    "retry_backoff_max_ms": 100,
    "reconnect_backoff_ms": 10,
    "reconnect_backoff_max_ms": 100,
}
PATIENT: Final = {"request_timeout_ms": 5_000}
"""The last clients, which find everything once the network is calm, wait for a busy machine."""


class Storm:
    """A cluster behind a rough network, and the troubles that come to it."""

    def __init__(self, broker: EmbeddedBroker, network: RoughNetwork, rng: random.Random) -> None:
        self.broker = broker
        self.network = network
        self.rng = rng
        self.others: list[Callable[[], None]] = []
        """More that may happen, which the clients of the round can stand."""
        self.log: list[str] = []
        """What has happened, with the time since the beginning."""
        self._began_s = time.monotonic()

    def note(self, what: str) -> None:
        self.log.append(f"{time.monotonic() - self._began_s:.3f} {what}")

    @asynccontextmanager
    async def raging(self) -> AsyncIterator[None]:
        """Hurt the cluster during the block; then heal it."""
        task = asyncio.create_task(self._rage())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            self.heal()

    def heal(self) -> None:
        self.note("heal")
        self.broker.faults.clear()
        self.network.heal()

    async def _rage(self) -> None:
        rng, network = self.rng, self.network
        while True:
            await asyncio.sleep(rng.choice([0.0, 0.002, 0.01, 0.05, 0.1]))
            match rng.randrange(12):
                case 0 | 1 | 2:
                    network.weather = some_weather(rng)
                    self.note(f"{network.weather}")
                case 3 | 4:
                    after = rng.choice([0, 1, 5, 60, 1_000, 100_000])
                    self.note(f"cut after {after}")
                    network.cut(after)
                case 5:
                    self.note("cut all")
                    network.cut_all()
                case 6 if rng.random() < 0.5:
                    requests = rng.random() < 0.5
                    self.note(f"swallow {'requests' if requests else 'responses'}")
                    network.swallow(requests=requests)
                case 7:
                    refuses = rng.random() < 0.3
                    self.note(f"refuse {refuses}")
                    network.refuse(refuses=refuses)
                case 8 | 9:
                    self._move_a_leader()
                case 10 if rng.random() < 0.3:
                    await self._restart_a_node()
                case _:
                    if self.others:
                        rng.choice(self.others)()

    def _move_a_leader(self) -> None:
        cluster = self.broker.cluster
        topic = self.rng.choice(sorted(cluster.topics)) if cluster.topics else None
        alive = [node.node_id for node in cluster.alive_nodes()]
        if topic is not None and alive:
            partition = self.rng.randrange(len(cluster.topics[topic].partitions))
            node_id = self.rng.choice(alive)
            self.note(f"{topic}-{partition} is led by {node_id}")
            self.broker.move_leader(TopicPartition(topic, partition), node_id)

    async def _restart_a_node(self) -> None:
        node_id = self.rng.randint(1, NODES)
        self.note(f"node {node_id} stops")
        self.network.stop_node(node_id)
        await asyncio.sleep(self.rng.choice([0.0, 0.05, 0.3]))
        self.note(f"node {node_id} starts")
        self.network.start_node(node_id)


@asynccontextmanager
async def storm(seed: int, *, tls: bool) -> AsyncIterator[tuple[Storm, dict[str, Any]]]:
    """Start a cluster behind a rough network; give it, and the options of its clients."""
    rng = random.Random(seed)
    security = "SSL" if tls else "PLAINTEXT"
    async with EmbeddedBroker(
        NODES,
        rng=random.Random(seed),
        security=security,
        auto_create_topics=False,
        max_logged_requests=0,
        group_initial_rebalance_delay_ms=0,
        group_min_session_timeout_ms=1_000,
        group_consumer_session_timeout_ms=3_000,
        group_consumer_heartbeat_interval_ms=300,
        group_share_session_timeout_ms=3_000,
        group_share_heartbeat_interval_ms=300,
        group_share_delivery_count_limit=10,
        group_share_record_lock_duration_ms=1_000,
    ) as broker:
        network = RoughNetwork(broker, rng)
        async with network.up():
            options = {
                "bootstrap_servers": broker.bootstrap_servers,
                **CLIENT_TIMES,
                **broker.client_options(),
            }
            yield Storm(broker, network, rng), options


__all__ = ["CLIENT_TIMES", "NODES", "PATIENT", "Storm", "storm"]
