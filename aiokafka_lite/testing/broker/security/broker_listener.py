"""Owns what one listener of an embedded broker asks of its clients, and the checks of it.

Does not wait.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from aiokafka_lite.testing.broker.security.oauthbearer_server import TokenValidator

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")
CLIENT_AUTH = ("none", "requested", "required")
_TLS, _SASL = ("SSL", "SASL_SSL"), ("SASL_PLAINTEXT", "SASL_SSL")
_FOR_SASL = ("mechanisms", "token_validator", "connections_max_reauth_ms")


@dataclass(frozen=True, slots=True)
class BrokerListener:
    """One listener of every node, as `BrokerListener("SASL_SSL", mechanisms=["PLAIN"])`.

    What is None here is as the broker's option of that name. In Kafka the same holds for a setting
    without `listener.name.NAME.` before it.
    """

    security: str
    """PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL. Java: listener.security.protocol.map."""
    port: int = 0
    """Port of node 1; node i listens on port + i - 1. 0: free ports. Java: listeners."""
    mechanisms: Sequence[str] | None = None
    """Java: sasl.enabled.mechanisms."""
    token_validator: TokenValidator | None = None
    """Java: sasl.server.callback.handler.class."""
    ssl_client_auth: str | None = None
    """Java: ssl.client.auth."""
    connections_max_reauth_ms: int | None = None
    """Java: connections.max.reauth.ms."""

    @property
    def has_tls(self) -> bool:
        """Return whether the listener speaks TLS."""
        return self.security in _TLS

    @property
    def has_sasl(self) -> bool:
        """Return whether the listener asks clients to authenticate by SASL."""
        return self.security in _SASL

    def faults(self) -> Iterator[str]:
        """Yield what is wrong, with the value, the limit and the remedy."""
        yield from value_faults(self)
        yield from misplaced(self, _FOR_SASL, (self.security,))


def value_faults(options: Any) -> Iterator[str]:
    """Yield the values out of range among those that a listener and the broker both have."""
    yield from _not_one_of("security", options.security, PROTOCOLS)
    if options.ssl_client_auth is not None:
        yield from _not_one_of("ssl_client_auth", options.ssl_client_auth, CLIENT_AUTH)
    for mechanism in options.mechanisms or ():
        yield from _not_one_of("mechanisms", mechanism, MECHANISMS)
    lifetime_ms = options.connections_max_reauth_ms or 0
    if lifetime_ms < 0:
        yield f"connections_max_reauth_ms must be 0 or more, got {lifetime_ms}"


def misplaced(options: Any, for_sasl: Sequence[str], protocols: Sequence[str]) -> Iterator[str]:
    """Yield the options that have a value, and that no listener of these `protocols` uses."""
    got = " and ".join(map(repr, protocols))
    if options.ssl_client_auth not in (None, "none") and not set(protocols) & set(_TLS):
        yield (
            f"ssl_client_auth={options.ssl_client_auth!r} needs security='SSL' or 'SASL_SSL', "
            f"got {got}"
        )
    if not set(protocols) & set(_SASL):
        for name in for_sasl:
            if getattr(options, name):
                yield f"{name} needs security='SASL_PLAINTEXT' or 'SASL_SSL', got {got}"


def _not_one_of(name: str, value: str, known: Sequence[str]) -> Iterator[str]:
    if value not in known:
        yield f"{name} must be one of {', '.join(known)}; got {value!r}"


__all__ = ["MECHANISMS", "PROTOCOLS", "BrokerListener", "misplaced", "value_faults"]
