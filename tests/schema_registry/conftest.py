"""A registry of its own for each test, and clients of it that wait no real time."""

import random
from collections.abc import AsyncIterator, Iterator

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient as TheirClient

from aiokafka_lite.schema_registry import SchemaRegistryClient
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer


@pytest.fixture
def server() -> Iterator[SchemaRegistryServer]:
    with SchemaRegistryServer() as served:
        yield served


@pytest.fixture
async def registry(server: SchemaRegistryServer) -> AsyncIterator[SchemaRegistryClient]:
    async with SchemaRegistryClient(server.url, max_retries=0, rng=random.Random(1)) as client:
        yield client


@pytest.fixture
def theirs(server: SchemaRegistryServer) -> Iterator[TheirClient]:
    """The client of confluent-kafka."""
    with TheirClient({"url": server.url}) as client:
        yield client
