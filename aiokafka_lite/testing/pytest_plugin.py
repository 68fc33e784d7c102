"""Pytest fixtures: brokers for one test, and one broker for the whole session.

For one test: `kafka_broker`, `kafka_cluster`, `kafka_bootstrap`, `make_kafka_broker`,
`secure_kafka_broker`, `secure_kafka_options`. For the session: `kafka_session_broker`,
`kafka_session_bootstrap`, `make_kafka_session_broker`, `kafka_session_options`, and `kafka_topic`,
a new topic for each test on that broker. `virtual_kafka` runs a program in virtual time.

The fixtures need no event loop, because each broker runs in a thread of its own. So tests of
blocking clients, of asyncio and of anyio all use the same ones. `virtual_kafka` has its own loop.
Pytest imports this module at every start, in every project that has the package installed. So it
imports the broker only when a fixture needs one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from aiokafka_lite.testing.broker import EmbeddedBroker


_TOPIC_NAME_LIMIT = 200
"""Kafka's own is 249; the rest is for the number at the end."""
_numbers = itertools.count(1)


@contextmanager
def _maker_of_brokers() -> Iterator[Callable[..., EmbeddedBroker]]:
    """Yield a function that starts brokers; stop all of them at the end, the newest first."""
    from aiokafka_lite.testing.broker import EmbeddedBroker  # noqa: PLC0415 - lazy, see the module head

    with ExitStack() as brokers:

        def make(**options: Any) -> EmbeddedBroker:
            return brokers.enter_context(EmbeddedBroker.threaded(**options))

        yield make


@pytest.fixture
def make_kafka_broker() -> Iterator[Callable[..., EmbeddedBroker]]:
    """Return a function that starts a broker with the options of `EmbeddedBroker.threaded`.

    Every broker made by it is stopped when the test ends, the newest first.
    """
    with _maker_of_brokers() as make:
        yield make


@pytest.fixture(scope="session")
def make_kafka_session_broker() -> Iterator[Callable[..., EmbeddedBroker]]:
    """Return a function as `make_kafka_broker` does; its brokers run until the session ends."""
    with _maker_of_brokers() as make:
        yield make


@pytest.fixture(scope="session")
def kafka_session_options() -> dict[str, Any]:
    """The options of `kafka_session_broker`: none.

    A conftest.py defines a fixture of this name and scope to choose some, such as `nodes`.
    """
    return {}


@pytest.fixture(scope="session")
def kafka_session_broker(
    make_kafka_session_broker: Callable[..., EmbeddedBroker], kafka_session_options: dict[str, Any]
) -> EmbeddedBroker:
    """One broker for all tests of the session, as an application's fixture may need it.

    With pytest-xdist each process has its own. Tests share its topics, groups and faults; use
    `kafka_topic` for a topic of one test.
    """
    return make_kafka_session_broker(**kafka_session_options)


@pytest.fixture(scope="session")
def kafka_session_bootstrap(kafka_session_broker: EmbeddedBroker) -> str:
    """The addresses of `kafka_session_broker`, for a client's `bootstrap_servers`."""
    return kafka_session_broker.bootstrap_servers


@pytest.fixture
def kafka_topic(
    kafka_session_broker: EmbeddedBroker, request: pytest.FixtureRequest
) -> Iterator[str]:
    """The name of a new topic on `kafka_session_broker`, with its default number of partitions.

    When the test ends, the topic is deleted, and the broker's faults are disarmed.
    """
    stem = re.sub(r"[^a-zA-Z0-9._-]+", "-", request.node.name)[:_TOPIC_NAME_LIMIT]
    name = f"{stem}-{next(_numbers)}"
    kafka_session_broker.create_topic(name, partitions=-1)
    yield name
    kafka_session_broker.faults.clear()
    if name in kafka_session_broker.cluster.topics:
        kafka_session_broker.delete_topic(name)


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


@pytest.fixture
def secure_kafka_options() -> dict[str, Any]:
    """The options of `secure_kafka_broker`: SASL_SSL, and the user alice with the password secret.

    A test module or conftest.py defines a fixture of this name to choose others, such as `acls`.
    """
    return {"security": "SASL_SSL", "users": {"alice": "secret"}}


@pytest.fixture
def secure_kafka_broker(
    make_kafka_broker: Callable[..., EmbeddedBroker], secure_kafka_options: dict[str, Any]
) -> EmbeddedBroker:
    """One fresh secured broker per test. It needs the extra: aiokafka-lite[testing].

    Clients get `broker.client_options("alice")`, or `broker.ssl_context()` alone.
    """
    return make_kafka_broker(**secure_kafka_options)


@pytest.fixture
def virtual_kafka() -> Callable[..., Any]:
    """Return `aiokafka_lite.testing.virtual_kafka.run_virtual_kafka`, for tests without async.

    It runs a coroutine, its clients and a broker in virtual time: hours take milliseconds.
    """
    from aiokafka_lite.testing.virtual_kafka import run_virtual_kafka  # noqa: PLC0415 - as above

    return run_virtual_kafka


__all__ = [
    "kafka_bootstrap",
    "kafka_broker",
    "kafka_cluster",
    "kafka_session_bootstrap",
    "kafka_session_broker",
    "kafka_session_options",
    "kafka_topic",
    "make_kafka_broker",
    "make_kafka_session_broker",
    "secure_kafka_broker",
    "secure_kafka_options",
    "virtual_kafka",
]
