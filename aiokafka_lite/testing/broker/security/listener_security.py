"""Opens the sessions of the connections to one listener, on all nodes. Does not wait."""

import ssl
from asyncio import BaseTransport
from collections.abc import Mapping

from aiokafka_lite.clock import Clock
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.broker_listener import BrokerListener
from aiokafka_lite.testing.broker.security.certificates import principal_of_subject
from aiokafka_lite.testing.broker.security.mechanism import MakeExchange
from aiokafka_lite.testing.broker.security.sasl_session import SaslSession
from aiokafka_lite.testing.broker.security.session import ANONYMOUS, Session


class ListenerSecurity:
    """What one listener asks; users, rules and certificates are those of the cluster."""

    def __init__(
        self,
        name: str,
        asks: BrokerListener,
        mechanisms: Mapping[str, MakeExchange],
        authorizer: Authorizer | None,
        clock: Clock,
        *,
        refusal_delay_ms: int,
    ) -> None:
        """`asks` has a value for each setting, its own or the broker's."""
        self.name = name
        self.asks = asks
        self.mechanisms = mechanisms
        self.tls_context: ssl.SSLContext | None = None
        """What nodes shake hands with; None without TLS, and before the start."""
        self.hangs_in_handshakes = False
        """Whether clients that begin a TLS handshake get no answer."""
        self._authorizer = authorizer
        self._clock = clock
        self._refusal_delay_ms = refusal_delay_ms

    def open_session(self, transport: BaseTransport) -> Session:
        """Return the session of a connection that was just made, its TLS handshake done."""
        host, port, *_ = transport.get_extra_info("peername") or ("", 0)
        if self.asks.security == "PLAINTEXT" and self._authorizer is None:
            return Session(host=host, port=port, listener=self.name)
        session = Session(
            _principal_of_certificate(transport),
            host=host,
            port=port,
            listener=self.name,
            authorizer=self._authorizer,
        )
        if self.asks.has_sasl:

            def log_in(principal: str) -> None:
                session.principal = principal

            session.principal = ANONYMOUS
            session.sasl = SaslSession(
                self.mechanisms,
                self._clock,
                max_reauth_ms=self.asks.connections_max_reauth_ms or 0,
                on_login=log_in,
                refusal_delay_ms=self._refusal_delay_ms,
            )
        return session


def _principal_of_certificate(transport: BaseTransport) -> str:
    shown = transport.get_extra_info("peercert")
    return principal_of_subject(shown["subject"]) if shown else ANONYMOUS


__all__ = ["ListenerSecurity"]
