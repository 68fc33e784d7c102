"""The security of one embedded cluster: its certificates, mechanisms, and what a client needs.

Does not wait.
"""

import ssl
from collections.abc import Collection, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.broker_listener import BrokerListener
from aiokafka_lite.testing.broker.security.certificates import (
    Certificates,
    ClientCertificate,
)
from aiokafka_lite.testing.broker.security.client_options import sasl_options, tls_options
from aiokafka_lite.testing.broker.security.listener_security import ListenerSecurity
from aiokafka_lite.testing.broker.security.mechanism import MakeExchange
from aiokafka_lite.testing.broker.security.oauthbearer_server import (
    check_unsecured,
    oauthbearer_exchange,
    unsecured_token,
)
from aiokafka_lite.testing.broker.security.plain_server import plain_exchange
from aiokafka_lite.testing.broker.security.scram_server import scram_exchange
from aiokafka_lite.testing.broker.security.security_options import SecurityOptions
from aiokafka_lite.testing.broker.security.user_store import UserStore


class BrokerSecurity:
    """The listeners, and what they share: users, rules, certificates."""

    def __init__(self, options: SecurityOptions, hosts: Collection[str], clock: Clock) -> None:
        """Certificates are made by `start`, for `hosts`."""
        self._hosts = {"localhost", "127.0.0.1", "::1", *hosts}
        self._clock = clock
        self._certificates: Certificates | None = None
        self._users = dict(options.users or {})
        asked = options.named_listeners
        names = {name for each in asked.values() for name in each.mechanisms or ()}
        self.store = UserStore(options.users, options.delegation_tokens, clock, mechanisms=names)
        """What clients may change: SCRAM passwords, delegation tokens, quotas."""
        self._authorizer = (
            None
            if options.acls is None
            else Authorizer(
                options.acls,
                options.super_users,
                allows_without_acl=options.allow_everyone_if_no_acl_found,
            )
        )
        self.listeners = {
            name: ListenerSecurity(
                name,
                listener,
                self._exchanges(listener),
                self._authorizer,
                clock,
                refusal_delay_ms=options.connection_failed_authentication_delay_ms,
            )
            for name, listener in asked.items()
        }
        """What each listener asks, by its name."""

    def _exchanges(self, listener: BrokerListener) -> dict[str, MakeExchange]:
        validator = listener.token_validator or partial(check_unsecured, clock=self._clock)
        known: dict[str, MakeExchange] = {
            "PLAIN": partial(plain_exchange, self._users),
            "OAUTHBEARER": partial(oauthbearer_exchange, validator),
        }
        for name, scram_users in self.store.scram.items():
            known[name] = partial(scram_exchange, scram_users)
        return {name: known[name] for name in listener.mechanisms or ()}

    def start(self) -> None:
        """Make the certificates, if TLS needs them. Raises: ModuleNotFoundError."""
        with_tls = [each for each in self.listeners.values() if each.asks.has_tls]
        if with_tls:
            self._certificates = Certificates(self._hosts)
        for each in with_tls:
            each.tls_context = self.certificates.server_context(each.asks.ssl_client_auth or "none")

    def hang_handshakes(self, *, hangs: bool) -> None:
        """Leave clients that begin a TLS handshake without an answer, or stop doing so."""
        for each in self.listeners.values():
            each.hangs_in_handshakes = hangs

    def listener(self, name: str | None) -> ListenerSecurity:
        """Return a listener; None: the first. Raises: ValueError for an unknown one."""
        if name is None:
            return next(iter(self.listeners.values()))
        if name not in self.listeners:
            raise ValueError(
                f"listener must be one of this broker's, {', '.join(self.listeners)}; got {name!r}"
            )
        return self.listeners[name]

    @property
    def certificates(self) -> Certificates:
        """The certificates. Raises: IllegalStateError without TLS, and before the start."""
        if self._certificates is None:
            raise IllegalStateError(
                "this broker has no certificates: pass security='SSL' or 'SASL_SSL', and start it"
            )
        return self._certificates

    def set_acls(self, acls: Iterable[Acl]) -> None:
        """Replace all rules. Raises: IllegalStateError without an authorizer."""
        if self._authorizer is None:
            raise IllegalStateError("this broker has no rules: pass acls, at least an empty list")
        self._authorizer.acls = ()
        self._authorizer.add(acls)

    def set_password(self, user: str, password: str) -> None:
        """Add a user, or change a password, for the next authentications."""
        self._users[user] = password
        self.store.set_password(user, password)

    def remove_user(self, user: str) -> None:
        """Remove a user; the next authentications fail."""
        self._users.pop(user, None)
        self.store.remove(user)

    def client_options(
        self,
        user: str | None,
        mechanism: str | None,
        certificate: ClientCertificate | None,
        listener: str | None = None,
    ) -> dict[str, Any]:
        """Return the options for a client of a listener, without the addresses."""
        chosen = self.listener(listener)
        options: dict[str, Any] = {"security_protocol": chosen.asks.security}
        if chosen.asks.has_tls:
            options |= tls_options(self.certificates.ca_pem, certificate)
        if user is not None:
            mechanisms = list(chosen.mechanisms) if chosen.asks.has_sasl else []
            options |= sasl_options(user, mechanism, self._users, mechanisms)
        return options

    def unsecured_token(self, name: str, lifetime_s: float) -> str:
        """Return an OAUTHBEARER token for `name` that begins now."""
        now_s = self._clock.time()
        return unsecured_token(name, now_s, now_s + lifetime_s)

    def ssl_context(self, certificate: ClientCertificate | None) -> ssl.SSLContext:
        """Return a context for a client that trusts this broker, and shows a certificate."""
        context = ssl.create_default_context(cadata=self.certificates.ca_pem)
        if certificate is not None:
            _load(context, certificate)
        return context


def _load(context: ssl.SSLContext, certificate: ClientCertificate) -> None:
    """Load PEM text, which `ssl` reads from files only."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415 - for TLS clients only

    with TemporaryDirectory() as folder:
        path = Path(folder) / "client.pem"
        path.write_text(certificate.key_pem + certificate.certificate_pem, encoding="ascii")
        context.load_cert_chain(path)


__all__ = ["BrokerSecurity"]
