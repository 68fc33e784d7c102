"""Small functions and constants of aiokafka's inside that stand for themselves."""

import asyncio
import os
import re
import socket
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from random import Random
from typing import Final, TypeVar

from aiokafka_lite.checks.offset_arguments import checked_offsets
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.net.endpoint import DEFAULT_PORT as DEFAULT_KAFKA_PORT
from aiokafka_lite.net.endpoint import parse_bootstrap

T = TypeVar("T")

NO_EXTENSIONS: Final = os.environ.get("AIOKAFKA_LITE_PURE") == "1"
"""Whether the native parts are not to be used."""

_KAFKA: Final = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


# Of `util`…


async def wait_for(fut: Awaitable[T], timeout: float | None = None) -> T:
    """Await something for a time in seconds. Raises: TimeoutError, and cancels it then.

    Cancelled: it is cancelled, too.
    """
    async with asyncio.timeout(timeout):
        return await fut


def parse_kafka_version(api_version: str) -> tuple[int, int, int]:
    """Return the parts of a version such as "2.8" or "2.8.1".

    Raises: ValueError for another text, and for versions that aiokafka's `api_version` never had.
    """
    found = _KAFKA.fullmatch(api_version)
    if found is None:
        raise ValueError(api_version)
    version = (int(found[1]), int(found[2]), int(found[3] or 0))
    if not (0, 9) <= version < (3, 0):
        raise ValueError(api_version)
    return version


def commit_structure_validate(offsets: object) -> dict[TopicPartition, OffsetAndMetadata]:
    """Return the offsets as `commit()` takes them. Raises: ValueError or TypeError, as it does."""
    return checked_offsets(offsets)


# Of `conn`…


def get_ip_port_afi(host_and_port_str: str) -> tuple[str, int, int]:
    """Return the host, port and address family of "host:port" or "[address]:port".

    Without a port it is 9092. Raises: ValueError.
    """
    text = host_and_port_str.strip()
    try:
        (endpoint,) = parse_bootstrap(text)
    except KafkaConfigurationError as error:
        raise ValueError(str(error)) from None
    return endpoint.host, endpoint.port, _address_family(endpoint.host)


def _address_family(address: str) -> int:
    with suppress(ValueError):
        version = ip_address(address).version
        return socket.AF_INET if version == 4 else socket.AF_INET6
    return socket.AF_UNSPEC


def collect_hosts(hosts: str | Sequence[str], randomize: bool = True) -> list[tuple[str, int, int]]:
    """Return host, port and address family of each address, in any order."""
    listed = hosts.strip().split(",") if isinstance(hosts, str) else hosts
    found = [get_ip_port_afi(each) for each in listed]
    if randomize:
        Random().shuffle(found)
    return found


__all__ = [
    "DEFAULT_KAFKA_PORT",
    "NO_EXTENSIONS",
    "collect_hosts",
    "commit_structure_validate",
    "get_ip_port_afi",
    "parse_kafka_version",
    "wait_for",
]
