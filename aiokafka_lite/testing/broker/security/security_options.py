"""Owns the security options of an embedded broker, and their checks. Does not wait.

Like each options class it is a frozen dataclass, whose fields are the declarations.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aiokafka_lite.options.units import Milliseconds
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.broker_listener import (
    MECHANISMS,
    BrokerListener,
    misplaced,
    value_faults,
)
from aiokafka_lite.testing.broker.security.oauthbearer_server import TokenValidator
from aiokafka_lite.testing.broker.security.scram_server import BrokerToken


@dataclass(frozen=True, kw_only=True, slots=True)
class SecurityOptions:
    """What a listener asks of its clients; without any option it asks nothing."""

    security: str = "PLAINTEXT"
    """Protocol of the one listener, without `listeners`: PLAINTEXT, SSL, SASL_PLAINTEXT or
    SASL_SSL. Java: listener.security.protocol.map."""
    listeners: Mapping[str, str | BrokerListener] | None = None
    """Listeners by name, each as a protocol or a BrokerListener. bootstrap_servers has the
    addresses of the first. None: one listener, of `security`. Java: listeners."""
    users: Mapping[str, str] | None = field(default=None, repr=False)
    """Password by user name, for PLAIN and SCRAM. Only here."""
    mechanisms: Sequence[str] | None = None
    """SASL mechanisms of the listeners; None: all that the embedded broker has. Java:
    sasl.enabled.mechanisms."""
    delegation_tokens: Mapping[str, BrokerToken] | None = field(default=None, repr=False)
    """Delegation token by its id, for SCRAM with tokenauth (KIP-48). Only here."""
    token_validator: TokenValidator | None = None
    """Returns the claims of an OAUTHBEARER token, or raises; None: tokens without a signature.
    Java: sasl.server.callback.handler.class."""
    ssl_client_auth: str = "none"
    """Whether a TLS client shows a certificate: none, requested or required. Java:
    ssl.client.auth."""
    acls: Sequence[Acl] | None = None
    """Rules about who may do what, as Acl.allow("alice", "READ", topic="t"). None: everybody may do
    everything. With rules, an empty list too, what none allows is refused. Java:
    authorizer.class.name."""
    super_users: Sequence[str] = ()
    """Users who may do everything, whatever the rules are. Java: super.users."""
    allow_everyone_if_no_acl_found: bool = False
    """Whether everybody may use a resource that no rule is about. Java:
    allow.everyone.if.no.acl.found."""
    connections_max_reauth_ms: Milliseconds = 0
    """Time after which a SASL client must have authenticated again; 0: never (KIP-368). Java:
    connections.max.reauth.ms."""

    connection_failed_authentication_delay_ms: Milliseconds = 0
    """How long the response to a refused authentication, and the end of its connection, are
    delayed; in Java the default is 100 (KIP-306). Java:
    connection.failed.authentication.delay.ms."""

    @property
    def named_listeners(self) -> dict[str, BrokerListener]:
        """Return the listeners by name. What one leaves open is as the broker's option."""
        return {name: self._completed(each) for name, each in self._own_listeners().items()}

    def _own_listeners(self) -> dict[str, BrokerListener]:
        given = {self.security: self.security} if self.listeners is None else self.listeners
        return {
            name: each if isinstance(each, BrokerListener) else BrokerListener(each)
            for name, each in given.items()
        }

    def _completed(self, listener: BrokerListener) -> BrokerListener:
        chosen = {name: getattr(self, name) for name in _OF_EACH if getattr(listener, name) is None}
        if listener.mechanisms is None and self.mechanisms is None:
            chosen["mechanisms"] = MECHANISMS
        return replace(listener, **chosen)

    def security_faults(self) -> Iterator[str]:
        """Yield what is wrong, with the value, the limit and the remedy."""
        yield from value_faults(self)
        if self.listeners is not None:
            yield from self._listener_faults()
        if self.connection_failed_authentication_delay_ms < 0:
            yield (
                "connection_failed_authentication_delay_ms must be 0 or more, got "
                f"{self.connection_failed_authentication_delay_ms}"
            )
        for name in ("super_users", "allow_everyone_if_no_acl_found"):
            if getattr(self, name) and self.acls is None:
                yield f"{name} needs acls, at least an empty list; got {getattr(self, name)!r}"
        protocols = [each.security for each in self._own_listeners().values()]
        yield from misplaced(self, _FOR_SASL, protocols)

    def _listener_faults(self) -> Iterator[str]:
        if self.security != "PLAINTEXT":
            yield (
                "security is for a broker without listeners, which name their protocols; "
                f"got both, security={self.security!r}"
            )
        if not self.listeners:
            yield f"listeners must have one or more, or be None; got {self.listeners!r}"
        for name, listener in self._own_listeners().items():
            for fault in listener.faults():
                yield f"listeners[{name!r}]: {fault}"


_OF_EACH = ("mechanisms", "token_validator", "ssl_client_auth", "connections_max_reauth_ms")
_FOR_SASL = (
    "users",
    "mechanisms",
    "delegation_tokens",
    "token_validator",
    "connections_max_reauth_ms",
    "connection_failed_authentication_delay_ms",
)

__all__ = ["SecurityOptions"]
