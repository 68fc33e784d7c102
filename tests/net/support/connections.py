"""Connections to a scripted node, and the few requests the tests send over them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.net.node_connection import ConnectionConfig, NodeConnection
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponse
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.net.support.scripted_node import DEFAULT_RANGES, ScriptedNode, ScriptedPeer
from tests.support.patience import PATIENCE_S


def connection_to(
    node: ScriptedNode, clock: Clock = SYSTEM_CLOCK, **options: Any
) -> NodeConnection:
    config = ConnectionConfig(**options)
    return NodeConnection(node.endpoint, node_id=1, client_id="test", clock=clock, config=config)


@asynccontextmanager
async def opened(
    node: ScriptedNode,
    clock: Clock = SYSTEM_CLOCK,
    *,
    ranges: dict[int, tuple[int, int]] = DEFAULT_RANGES,
    **options: Any,
) -> AsyncIterator[tuple[NodeConnection, ScriptedPeer]]:
    """A connection that is ready, and the node's side of it; no timer is left at the end."""
    connection = connection_to(node, clock, **options)
    opening = asyncio.ensure_future(connection.open())
    peer = await node.accept()
    await peer.shake_hands(ranges)
    await opening
    try:
        yield connection, peer
    finally:
        connection.close()
        await connection.wait_closed()
        if isinstance(clock, FakeClock):
            assert clock.pending_timers == 0


def metadata_named(name: str) -> MetadataResponse:
    return MetadataResponse(cluster_id=name, brokers=[], topics=[])


def ask(connection: NodeConnection, **options: Any) -> "asyncio.Task[MetadataResponse]":
    return asyncio.ensure_future(connection.request(MetadataRequest(topics=[]), **options))


async def answered(call: "asyncio.Task[MetadataResponse]") -> str | None:
    """Return the name in the answer (see `metadata_named`)."""
    async with asyncio.timeout(PATIENCE_S):
        return (await call).cluster_id


def produce_request(records: bytes, acks: int = -1) -> ProduceRequest:
    partition = PartitionProduceData(index=0, records=memoryview(records))
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        topic_data=[TopicProduceData(name="t", partition_data=[partition])],
    )


async def unanswered_produce(connection: NodeConnection, records: bytes) -> None:
    await connection.post(produce_request(records, acks=0), max_version=9)
