"""What a test may ask of a broker's listeners, and change there: addresses, certificates, users.

EmbeddedBroker has these methods by inheritance. All of them may be called from any thread, as its
other methods.
"""

import ssl
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.broker_security import BrokerSecurity
from aiokafka_lite.testing.broker.security.certificates import ClientCertificate
from aiokafka_lite.testing.broker.state.cluster_state import ClusterState

T = TypeVar("T")


class SecuredListeners:
    """The public methods around addresses, certificates, users and the options of clients."""

    _security: BrokerSecurity
    _cluster: ClusterState

    def _call(self, function: Callable[[], T]) -> T:
        raise NotImplementedError  # EmbeddedBroker runs it in the broker's loop

    def servers(self, listener: str) -> str:
        """Return the nodes' addresses on the listener of that name, "host:port,host:port".

        Stopped nodes are among them. Raises: ValueError for an unknown listener.
        """
        name = self._security.listener(listener).name
        return ",".join(
            f"[{node.host}]:{node.ports[name]}"
            if ":" in node.host
            else f"{node.host}:{node.ports[name]}"
            for node in self._cluster.nodes.values()
        )

    @property
    def ca_pem(self) -> str:
        """The certificate, in PEM, of the authority that signed the nodes' one.

        It is made at the start. Raises: IllegalStateError without TLS.
        """
        return self._security.certificates.ca_pem

    def ssl_context(self, certificate: ClientCertificate | None = None) -> ssl.SSLContext:
        """Return a context for a client, which trusts this broker and checks its host name.

        With `certificate` the client shows one. Raises: IllegalStateError without TLS.
        """
        return self._security.ssl_context(certificate)

    def client_certificate(self, name: str, kind: str = "valid") -> ClientCertificate:
        """Return a new client certificate with its key. Its principal is "User:CN=<name>".

        `kind` "expired" and "unknown_ca" make one that the broker refuses.

        Raises: IllegalStateError without TLS.
        """
        return self._security.certificates.client_certificate(name, kind)

    def client_options(
        self,
        user: str | None = None,
        *,
        mechanism: str | None = None,
        certificate: ClientCertificate | None = None,
        listener: str | None = None,
    ) -> dict[str, Any]:
        """Return what a producer or consumer needs for a listener, besides the addresses.

        Without `listener` it is the first one, whose addresses are those of `bootstrap_servers`.
        With `user` it authenticates by SASL, by `mechanism` or the first of the listener's. For
        OAUTHBEARER the client needs a `sasl_oauth_token_provider` besides; see `unsecured_token`.

            AIOKafkaProducer(
                bootstrap_servers=broker.bootstrap_servers, **broker.client_options("alice")
            )

        Raises: ValueError for an unknown user, mechanism or listener.
        """
        return self._security.client_options(user, mechanism, certificate, listener)

    def unsecured_token(self, name: str, lifetime_s: float = 3600.0) -> str:
        """Return an OAUTHBEARER token without a signature for the user `name`, as the broker
        accepts it without a `token_validator`.
        """
        return self._security.unsecured_token(name, lifetime_s)

    def set_password(self, user: str, password: str) -> None:
        """Add a user, or change a password; the next authentications use it."""
        self._call(lambda: self._security.set_password(user, password))

    def remove_user(self, user: str) -> None:
        """Remove a user; the next authentications fail, and open sessions go on."""
        self._call(lambda: self._security.remove_user(user))

    def set_acls(self, acls: Iterable[Acl]) -> None:
        """Replace all rules; they hold from the next request on, of open connections too.

        Raises: IllegalStateError for a broker that was made without `acls`.
        """
        self._call(lambda: self._security.set_acls(acls))

    # Faults of TLS…

    def present_certificate(self, kind: str) -> None:
        """Show another certificate in the next TLS handshakes.

        `kind` is "valid" (a new one), "expired", "wrong_host" or "unknown_ca".

        Raises: ValueError for another kind; IllegalStateError without TLS.
        """
        self._call(lambda: self._security.certificates.present(kind))

    def hang_handshakes(self, *, hangs: bool = True) -> None:
        """Leave the next TLS handshakes without an answer, until called with hangs=False."""
        self._call(lambda: self._security.hang_handshakes(hangs=hangs))


__all__ = ["SecuredListeners"]
