"""PLAIN: the client sends user name and password as they are. Use it over TLS. Source: RFC 4616.
Does not wait.
"""

from __future__ import annotations

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.net.sasl.credentials import (
    CredentialsProvider,
    SaslCredentials,
    present_credentials,
)
from aiokafka_lite.net.sasl.mechanism import SaslExchange
from aiokafka_lite.net.security import PROVIDER_TIMEOUT_MS
from aiokafka_lite.secret import Secret


class PlainMechanism:
    """PLAIN with these credentials, or with those of a provider. No authorization identity is sent,
    so the node takes the user name for it."""

    name = "PLAIN"

    def __init__(
        self,
        credentials: SaslCredentials | CredentialsProvider,
        *,
        provider_timeout_ms: float = PROVIDER_TIMEOUT_MS,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._credentials = credentials
        self._provider_timeout_ms = provider_timeout_ms
        self._clock = clock

    def exchange(self, host: str) -> SaslExchange:  # noqa: ARG002  the same for every node
        """Send one token; the node's answer has no content."""
        user = yield from present_credentials(
            self._credentials, self._provider_timeout_ms, self._clock
        )
        yield Secret(b"\0".join((b"", user.username.encode(), user.password.reveal_bytes())))


__all__ = ["PlainMechanism"]
