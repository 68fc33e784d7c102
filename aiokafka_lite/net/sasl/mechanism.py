"""What a SASL mechanism is. Those of this folder keep to it, and users can write their own.

A mechanism knows no socket: it says the client's next token, given the node's. `authentication`
carries the tokens in Kafka's requests. Does not wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, Protocol, TypeAlias

from aiokafka_lite.secret import Secret

SaslStep: TypeAlias = bytes | Secret | Awaitable[Any]
"""A token for the node, which is answered by the node's token (bytes, often empty). A token that
contains a secret is better a `Secret`. Or an awaitable, which is answered by its result;
`asyncio.to_thread(...)` is one for work that blocks."""

SaslExchange: TypeAlias = Generator[SaslStep, Any, None]
"""Yields steps and is sent their answers. The error of an awaitable is raised where the awaitable
was yielded. The exchange returns once it needs no more tokens and the node has proved what the
mechanism asks of it. Otherwise it raises; the text of its error must not show a secret."""


class SaslMechanism(Protocol):
    """One SASL mechanism with one user's credentials.

    The client makes a new one for each authentication, so `exchange` is called once. A client
    authenticates each of its connections, and again before a session ends (KIP-368). This one sends
    a user name and waits for the node's consent:

        class Anonymous:
            name = "ANONYMOUS"

            def exchange(self, host: str) -> SaslExchange:
                yield b"alice"

    Give `sasl_mechanism=Anonymous` to a client. Source: RFC 4422, section 5.
    """

    @property
    def name(self) -> str:
        """The name of the mechanism, as brokers list it in `sasl.enabled.mechanisms`."""

    def exchange(self, host: str) -> SaslExchange:
        """Return the steps of one authentication with the node at `host`.

        `host` is the name or address by which the client reaches the node. The client sends
        SaslHandshake when it has the first token.
        """


SaslMechanismFactory: TypeAlias = Callable[[], SaslMechanism]
"""Makes the mechanism of the next authentication. It must not wait."""

__all__ = ["SaslExchange", "SaslMechanism", "SaslMechanismFactory", "SaslStep"]
