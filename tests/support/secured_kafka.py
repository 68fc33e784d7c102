"""A real Kafka with a listener for each protocol and mechanism, and the options for each client.

One broker has all listeners, so the tests start one broker for each release. It has GSSAPI if this
machine has MIT Kerberos and python-gssapi.
"""

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from aiokafka_lite.abc import AbstractTokenProvider
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.secure_listeners import (
    MECHANISMS,
    MUTUAL_TLS,
    SecureListener,
    standard_listeners,
)
from tests.support.certificates import Authority
from tests.support.kerberos import CLIENT, SERVICE, KerberosRealm, missing_program
from tests.support.token_issuer import (
    AUDIENCE,
    CLIENT_ID,
    CLIENT_SECRET,
    TokenIssuer,
    unsecured_token,
)

USER: Final = "alice"
PASSWORD: Final = "secret"
RESTRICTED: Final = "bob"
"""May do what `RULES` say; everybody else may do everything."""
RULES: Final = (
    Acl.allow(RESTRICTED, "READ", topic="bob-reads-", prefixed=True),
    Acl.allow(RESTRICTED, "WRITE", topic="bob-writes-", prefixed=True),
    Acl.allow(RESTRICTED, "DESCRIBE", topic="bob-sees-", prefixed=True),
    Acl.allow(RESTRICTED, "CREATE", "WRITE", topic="bob-creates-", prefixed=True),
    Acl.allow(RESTRICTED, "READ", group="bob-reads-", prefixed=True),
    Acl.allow(RESTRICTED, "DESCRIBE", "WRITE", transactional_id="bob-writes-", prefixed=True),
)
USERS: Final = {USER: PASSWORD, RESTRICTED: PASSWORD}
SUPER_USERS: Final = (USER, f"User:CN={USER}")
OIDC: Final = "OIDC"
KERBEROS: Final = "KERBEROS"
KERBEROS_TLS: Final = "KERBEROS_TLS"
EXPIRED, OTHER_HOST = "EXPIRED", "OTHER_HOST"
"""Listeners whose certificates no client may accept."""
SHORT_SESSIONS: Final = "SHORT_SESSIONS"
"""A listener whose SASL sessions last `SESSION_MS`."""
SESSION_MS: Final = 2000

_SECURITY: Final = "org.apache.kafka.common.security"
_KERBEROS_PACKAGES: Final = "apt-get install gcc libkrb5-dev krb5-kdc krb5-admin-server krb5-user"
_KERBEROS_LOGIN: Final = "com.sun.security.auth.module.Krb5LoginModule"


def missing_kerberos() -> str | None:
    """Return what this machine lacks for GSSAPI, in one sentence."""
    program = missing_program()
    if program is not None:
        return f"no {program} here: the tests with Kerberos need `{_KERBEROS_PACKAGES}`"
    if importlib.util.find_spec("gssapi") is None:
        return (
            "no python-gssapi here, which has no wheels for Linux: the tests with Kerberos need"
            f" `{_KERBEROS_PACKAGES}` and `pip install gssapi`"
        )
    return None


@dataclass(frozen=True)
class Way:
    """A listener, and how a client authenticates itself there."""

    listener: str
    protocol: str
    mechanism: str = ""

    def __str__(self) -> str:
        return "-".join(part for part in (self.listener, self.mechanism) if part)


EMBEDDED_WAYS: Final = (
    Way("SSL", "SSL"),
    Way(MUTUAL_TLS, "SSL"),
    *(Way("SASL_PLAINTEXT", "SASL_PLAINTEXT", mechanism) for mechanism in MECHANISMS),
    *(Way("SASL_SSL", "SASL_SSL", mechanism) for mechanism in MECHANISMS),
)
"""The ways that the embedded broker also has."""
WAYS: Final = (
    *EMBEDDED_WAYS,
    Way(OIDC, "SASL_SSL", "OAUTHBEARER"),
    Way(KERBEROS, "SASL_PLAINTEXT", "GSSAPI"),
    Way(KERBEROS_TLS, "SASL_SSL", "GSSAPI"),
)
SHORT_WAYS: Final = tuple(
    Way(SHORT_SESSIONS, "SASL_SSL", mechanism)
    for mechanism in (*MECHANISMS, *(() if missing_kerberos() else ("GSSAPI",)))
)
"""The ways whose sessions end after `SESSION_MS`; GSSAPI where this machine has it."""
ONE_FOR_EACH_LISTENER: Final = tuple({way.listener: way for way in reversed(WAYS)}.values())
"""The first way of each listener."""


class Tokens(AbstractTokenProvider):
    """Gives our clients tokens for OAUTHBEARER."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    async def token(self) -> str:
        """Return a new token."""
        return self._make()


def sasl_options(way: Way, make_token: Callable[[], str]) -> dict[str, Any]:
    """Return the SASL options of our clients."""
    options: dict[str, Any] = {"sasl_mechanism": way.mechanism} if way.mechanism else {}
    if way.mechanism == "OAUTHBEARER":
        options["sasl_oauth_token_provider"] = Tokens(make_token)
    elif way.mechanism not in ("", "GSSAPI"):
        options |= {"sasl_plain_username": USER, "sasl_plain_password": PASSWORD}
    return options


class SecuredKafka:
    """A running Kafka with all `WAYS`, its Kerberos realm and its provider of tokens."""

    def __init__(
        self,
        kafka: ApacheKafka,
        issuer: TokenIssuer,
        realm: KerberosRealm | None,
        authority: Authority,
    ) -> None:
        self.kafka = kafka
        self.issuer = issuer
        self.realm = realm
        self.authority = authority
        """Has issued the certificates of `EXPIRED` and `OTHER_HOST`."""
        self.client = kafka.client_certificate(USER)

    def servers(self, way: Way) -> str:
        """Return the addresses of a way's listener."""
        return self.kafka.servers(way.listener)

    def token(self, way: Way) -> str:
        """Return a token that a way's listener accepts."""
        return self.issuer.sign(USER) if way.listener == OIDC else unsecured_token(USER)

    def ours(self, way: Way) -> dict[str, Any]:
        """Return the options of our clients."""
        options: dict[str, Any] = {
            "bootstrap_servers": self.servers(way),
            "security_protocol": way.protocol,
        }
        if way.protocol.endswith("SSL"):
            options["ssl_cadata"] = self.kafka.ca_pem
        if way.listener == MUTUAL_TLS:
            options["ssl_certfile"] = self.client.certificate_pem
            options["ssl_keyfile"] = self.client.key_pem
        return options | sasl_options(way, lambda: self.token(way))

    def confluent(self, way: Way) -> dict[str, Any]:
        """Return the options of confluent-kafka."""
        options: dict[str, Any] = {
            "bootstrap.servers": self.servers(way),
            "security.protocol": way.protocol,
            "log_level": 0,
        }
        if way.protocol.endswith("SSL"):
            options["ssl.ca.pem"] = self.kafka.ca_pem
        if way.listener == MUTUAL_TLS:
            options["ssl.certificate.pem"] = self.client.certificate_pem
            options["ssl.key.pem"] = self.client.key_pem
        if way.mechanism:
            options["sasl.mechanism"] = way.mechanism
        if way.mechanism == "OAUTHBEARER":
            options["oauth_cb"] = lambda _: (self.token(way), time.time() + 3600)
        elif way.mechanism:
            options |= {"sasl.username": USER, "sasl.password": PASSWORD}
        return options

    def java(self, way: Way, folder: Path) -> Path:
        """Write the properties of a Java client to a file, and return its path."""
        lines = {"security.protocol": way.protocol}
        if way.protocol.endswith("SSL"):
            lines["ssl.truststore.type"] = "PEM"
            lines["ssl.truststore.location"] = _written(folder / "ca.pem", self.kafka.ca_pem)
        if way.listener == MUTUAL_TLS:
            pem = self.client.key_pem + self.client.certificate_pem
            lines["ssl.keystore.type"] = "PEM"
            lines["ssl.keystore.location"] = _written(folder / "client.pem", pem)
        if way.mechanism:
            lines["sasl.mechanism"] = way.mechanism
            lines["sasl.jaas.config"] = self._jaas(way)
        if way.mechanism == "GSSAPI":
            lines["sasl.kerberos.service.name"] = "kafka"
        if way.listener == OIDC:
            handler = f"{_SECURITY}.oauthbearer.OAuthBearerLoginCallbackHandler"
            lines["sasl.login.callback.handler.class"] = handler
            lines["sasl.oauthbearer.token.endpoint.url"] = self.issuer.token_url
        text = "".join(f"{key}={value}\n" for key, value in lines.items())
        return Path(_written(folder / f"{way}.properties", text))

    @property
    def java_options(self) -> tuple[str, ...]:
        """The options for every Java process, of brokers and clients."""
        return _java_options(self.issuer, self.realm)

    def _jaas(self, way: Way) -> str:
        if way.mechanism == "GSSAPI":
            assert self.realm is not None
            return (
                f"{_KERBEROS_LOGIN} required useKeyTab=true storeKey=true "
                f'keyTab="{self.realm.client_keytab}" principal="{CLIENT}";'
            )
        if way.listener == OIDC:
            login = f'clientId="{CLIENT_ID}" clientSecret="{CLIENT_SECRET}"'
            return f"{_SECURITY}.oauthbearer.OAuthBearerLoginModule required {login};"
        if way.mechanism == "OAUTHBEARER":
            login = f'unsecuredLoginStringClaim_sub="{USER}"'
            return f"{_SECURITY}.oauthbearer.OAuthBearerLoginModule required {login};"
        module = "plain.Plain" if way.mechanism == "PLAIN" else "scram.Scram"
        login = f'username="{USER}" password="{PASSWORD}"'
        return f"{_SECURITY}.{module}LoginModule required {login};"


@contextmanager
def secured_kafka(version: str, folder: Path, **options: Any) -> Iterator[SecuredKafka]:
    """Start a broker of a release with all `WAYS`. `options` are further options of ApacheKafka."""
    with ExitStack() as parts:
        issuer = parts.enter_context(TokenIssuer())
        realm, authority = None, Authority()
        if missing_kerberos() is None:
            realm = parts.enter_context(KerberosRealm(folder))
        kafka = parts.enter_context(
            ApacheKafka(
                version,
                security="SASL_SSL",
                users=USERS,
                acls=RULES,
                super_users=SUPER_USERS,
                listeners=_further_listeners(issuer, realm)
                + _listeners_with_bad_certificates(authority, folder),
                java_options=_java_options(issuer, realm),
                **options,
            )
        )
        yield SecuredKafka(kafka, issuer, realm, authority)
        for node in kafka.nodes:
            node.kill()  # an orderly end takes seconds, and leaves nothing either


def _further_listeners(issuer: TokenIssuer, realm: KerberosRealm | None) -> list[SecureListener]:
    login = f"{_SECURITY}.oauthbearer.OAuthBearerLoginModule required;"
    handler = f"{_SECURITY}.oauthbearer.OAuthBearerValidatorCallbackHandler"
    validator = {
        "oauthbearer.sasl.server.callback.handler.class": handler,
        "oauthbearer.sasl.oauthbearer.jwks.endpoint.url": issuer.jwks_url,
        "oauthbearer.sasl.oauthbearer.expected.audience": AUDIENCE,
        "oauthbearer.sasl.oauthbearer.expected.issuer": issuer.issuer,
    }
    short = standard_listeners(USERS, MECHANISMS, SESSION_MS)[-1]
    listeners = [
        SecureListener(
            name=OIDC,
            protocol="SASL_SSL",
            mechanisms={"OAUTHBEARER": login},
            properties=validator,
        )
    ]
    mechanisms = dict(short.mechanisms)
    if realm is not None:
        login = (
            f"{_KERBEROS_LOGIN} required useKeyTab=true storeKey=true isInitiator=false "
            f'keyTab="{realm.service_keytab}" principal="{SERVICE}";'
        )
        mechanisms["GSSAPI"] = login
        listeners += [
            SecureListener(name=KERBEROS, protocol="SASL_PLAINTEXT", mechanisms={"GSSAPI": login}),
            SecureListener(name=KERBEROS_TLS, protocol="SASL_SSL", mechanisms={"GSSAPI": login}),
        ]
    return [*listeners, replace(short, name=SHORT_SESSIONS, mechanisms=mechanisms)]


def _listeners_with_bad_certificates(authority: Authority, folder: Path) -> list[SecureListener]:
    shown = {
        EXPIRED: authority.issue("localhost", days=-3),
        OTHER_HOST: authority.issue("h.invalid"),
    }
    stores = {
        name: _written(folder / f"{name}.pem", issued.pkcs8_key_pem + issued.certificate_pem)
        for name, issued in shown.items()
    }
    return [
        SecureListener(
            name=name, protocol="SSL", properties={"ssl.keystore.location": stores[name]}
        )
        for name in stores
    ]


def _java_options(issuer: TokenIssuer, realm: KerberosRealm | None) -> tuple[str, ...]:
    urls = f"{issuer.jwks_url},{issuer.token_url}"
    options = [f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={urls}"]
    if realm is not None:
        options.append(f"-Djava.security.krb5.conf={realm.config}")
    return tuple(options)


def _written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)
