"""A running broker and a bare connection to it; nothing may stay behind."""

from collections.abc import AsyncIterator

import pytest_asyncio

from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.leftovers import nothing_left_behind
from tests.testing.broker.bench import WireClient


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with nothing_left_behind(), EmbeddedBroker() as broker:
        yield broker


@pytest_asyncio.fixture
async def client(broker: EmbeddedBroker) -> AsyncIterator[WireClient]:
    async with await WireClient.connect(broker.bootstrap_servers) as client:
        yield client
