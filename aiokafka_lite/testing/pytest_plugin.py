"""Pytest fixtures: `kafka_broker`, `kafka_cluster`, `kafka_bootstrap`, `make_kafka_broker`.

The fixtures need no event loop, because each broker runs in a thread of its own. So tests of
blocking clients, of asyncio and of anyio all use the same ones. Pytest imports this module at every
start, in every project that has the package installed. So it imports the broker only when a fixture
needs one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from aiokafka_lite.testing.broker import EmbeddedBroker


@pytest.fixture
def make_kafka_broker() -> Iterator[Callable[..., EmbeddedBroker]]:
    """Return a function that starts a broker with the options of `EmbeddedBroker.threaded`.

    Every broker made by it is stopped when the test ends, the newest first.
    """
    from aiokafka_lite.testing.broker import EmbeddedBroker  # noqa: PLC0415 - lazy, see the module head

    with ExitStack() as brokers:

        def make(**options: Any) -> EmbeddedBroker:
            return brokers.enter_context(EmbeddedBroker.threaded(**options))

        yield make


@pytest.fixture
def kafka_broker(make_kafka_broker: Callable[..., EmbeddedBroker]) -> EmbeddedBroker:
    """One fresh broker of one node per test."""
    return make_kafka_broker()


@pytest.fixture
def kafka_cluster(make_kafka_broker: Callable[..., EmbeddedBroker]) -> EmbeddedBroker:
    """One fresh broker of three nodes (ids 1, 2, 3) per test; topics have three replicas."""
    return make_kafka_broker(nodes=3)


@pytest.fixture
def kafka_bootstrap(kafka_broker: EmbeddedBroker) -> str:
    """The address of `kafka_broker`, "127.0.0.1:PORT", for a client's `bootstrap_servers`."""
    return kafka_broker.bootstrap_servers


__all__ = ["kafka_bootstrap", "kafka_broker", "kafka_cluster", "make_kafka_broker"]
