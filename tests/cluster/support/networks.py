"""A network client beside a scripted cluster, with a clock that tests move."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.model import Node
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.cluster.support.scripted_cluster import ScriptedCluster

ASK = MetadataRequest(topics=[])


class Trouble:
    """Counts the calls of `on_trouble`."""

    count = 0

    def __call__(self) -> None:
        self.count += 1


@asynccontextmanager
async def network_of(
    cluster: ScriptedCluster, clock: FakeClock | None = None, **options: Any
) -> AsyncIterator[tuple[NetworkClient, FakeClock, Trouble]]:
    clock = clock or FakeClock()
    trouble = Trouble()
    owner = TaskOwner("test", clock=clock)
    await owner.start()
    network = NetworkClient(
        cluster.config(**options), clock=clock, rng=random.Random(3), on_trouble=trouble
    )
    network.start(owner)
    network.update_nodes(
        {node_id: Node(node_id, "127.0.0.1", node.port) for node_id, node in cluster.nodes.items()}
    )
    try:
        yield network, clock, trouble
    finally:
        await network.close()
        assert owner.children == ()
        await owner.close()
        assert clock.pending_timers == 0  # each connection's and the sweep's are gone
