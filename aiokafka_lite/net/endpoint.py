"""Reads `bootstrap_servers`, and prints endpoints and addresses. Does not wait.

`transport` resolves the names of hosts.
"""

import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from ipaddress import IPv6Address
from typing import Final, TypeAlias

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.light_named_tuple import NamedTuple

DEFAULT_PORT: Final = 9092


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A host name or IP address, without brackets, and a port. Both are as the user or the metadata
    of the cluster wrote them."""

    host: str
    port: int

    def __str__(self) -> str:
        return _host_and_port(self.host, self.port)


SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int]
"""Host and port; for IPv6 also flow label and scope."""


class Address(NamedTuple):
    """One address of an endpoint, as `getaddrinfo` returns it."""

    family: int
    sockaddr: SocketAddress

    def __str__(self) -> str:
        return _host_and_port(self.sockaddr[0], self.sockaddr[1])


Connector: TypeAlias = Callable[[str, int], Awaitable[socket.socket]]
"""`async def connect(host, port)`: returns a socket that leads there."""


def parse_bootstrap(bootstrap_servers: str | Sequence[str]) -> list[Endpoint]:
    """Return the endpoints of "host:port,host:port" or of a list of such texts.

    They keep their order, and repetitions are left out. Without a port it is 9092. An IPv6 address
    with a port needs brackets, as in "[::1]:9092"; "::1:9092" has two meanings and is refused.

    Raises: KafkaConfigurationError without an entry, or for entries that cannot be read, with the
    reason for each.
    """
    faults: list[str] = []
    endpoints: dict[Endpoint, None] = {}  # a dict keeps the order
    for entry in _entries(bootstrap_servers, faults):
        try:
            endpoints[_parse_entry(entry)] = None
        except ValueError as fault:
            faults.append(f"{quoted(entry)}: {fault}")
    if not faults and not endpoints:
        faults.append('no address given; write "host:port", several separated by commas')
    if faults:
        raise KafkaConfigurationError("bootstrap_servers: " + "; ".join(faults))
    return list(endpoints)


def _entries(bootstrap_servers: object, faults: list[str]) -> Iterator[str]:
    """Yield the single entries. What is no text, such as bytes, None or a tuple, is added to
    `faults`."""
    if isinstance(bootstrap_servers, str):
        given: Sequence[object] = [bootstrap_servers]
    elif isinstance(bootstrap_servers, Sequence) and not isinstance(
        bootstrap_servers, (bytes, bytearray)
    ):
        given = bootstrap_servers
    else:
        faults.append(f"{quoted(bootstrap_servers)} is no string or list of strings")
        return
    for text in given:
        if isinstance(text, str):
            yield from (entry.strip() for entry in text.split(",") if entry.strip())
        else:
            faults.append(f'{quoted(text)} is no string of the form "host:port"')


def _parse_entry(entry: str) -> Endpoint:
    if "://" in entry:
        prefix = entry.partition("://")[0]
        raise ValueError(f'leave out "{prefix}://"; the protocol is the option security_protocol')
    host, port = _split(entry)
    if not host:
        raise ValueError("the host is missing")
    if any(character.isspace() or character in "/[]@" for character in host):
        raise ValueError(f"{quoted(host)} is no host name or IP address")
    return Endpoint(host, _parse_port(port))


def _split(entry: str) -> tuple[str, str | None]:
    if entry.startswith("["):
        host, bracket, rest = entry[1:].partition("]")
        if not bracket or (rest and not rest.startswith(":")):
            raise ValueError('an IPv6 address with a port is written "[address]:port"')
        return host, rest[1:] if rest else None
    if entry.count(":") > 1:
        address, _, port = entry.rpartition(":")
        if port.isdigit() and _is_ipv6(address):
            raise ValueError(
                f'an IPv6 address with a port is written "[{address}]:{port}"; if all of it is the '
                f'address, write "[{entry}]"'
            )
        return entry, None
    host, colon, port = entry.partition(":")
    return host, port if colon else None


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def _parse_port(text: str | None) -> int:
    if text is None:
        return DEFAULT_PORT
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text[:6]) <= 65535:
        raise ValueError(f"port {quoted(text)} is not a number from 1 to 65535")
    return int(text)


def _host_and_port(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


__all__ = ["Address", "Connector", "Endpoint", "SocketAddress", "parse_bootstrap"]
