"""A running broker and a bare connection to it; nothing may stay behind."""

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio

from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.testing.broker.bench import WireClient


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    before = asyncio.all_tasks()
    async with EmbeddedBroker() as broker:
        yield broker
    assert asyncio.all_tasks() - before - {asyncio.current_task()} == set()


@pytest_asyncio.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[WireClient]:
    async with await WireClient.connect(broker.bootstrap_servers) as client:
        yield client
