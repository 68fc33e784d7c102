"""What every test has: both event loops, and a real Apache Kafka where this machine can run one."""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvloop

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from aiokafka_lite.testing.java_runtime import JavaNotFoundError, find_java, kafka_clients_jar

KAFKA_VERSIONS = (DEFAULT_VERSION, "3.9.2")


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Every async test runs twice: on asyncio's own event loop and on uvloop."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


def require_java() -> None:
    """Skip the asking test on a machine without Java; in CI that absence is a failure."""
    try:
        find_java()
    except JavaNotFoundError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must run the tests against a real Apache Kafka: {error}")
        pytest.skip("no Java here: the tests against a real Apache Kafka are skipped")


@pytest.fixture(scope="session", name="kafka_clients_jar")
def _kafka_clients_jar() -> Path:
    """Apache's own jar, which carries the JSON schema of every message."""
    require_java()
    return kafka_clients_jar(DEFAULT_VERSION)


@pytest.fixture(scope="session", params=KAFKA_VERSIONS)
def apache_kafka(request: pytest.FixtureRequest) -> Iterator[ApacheKafka]:
    """One real node of each tested release, shared by the session; tests use topics of their own."""
    require_java()
    with ApacheKafka(request.param) as kafka:
        yield kafka
