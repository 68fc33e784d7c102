"""Each mistake in a client's options is told by a real Kafka in seconds, with its remedy.

All releases of the suite tell them; those but the newest by `make soak`.

The same mistakes on the embedded broker are tested beside the files that tell them.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import KafkaError
from tests.security.conftest import IN_EACH_RELEASE, require_way
from tests.support.secured_kafka import (
    EXPIRED,
    OTHER_HOST,
    USER,
    WAYS,
    SecuredKafka,
    Tokens,
)
from tests.support.token_issuer import unsecured_token

TOLD_WITHIN_S = 5.0
BY_NAME = {str(way): way for way in WAYS}

Options = dict[str, Any]

pytestmark = [pytest.mark.real_kafka, pytest.mark.asyncio(loop_factories=["asyncio"])]


def sasl(way: str, **changed: Any) -> Callable[[SecuredKafka], Options]:
    """Make the right options of a way, with some of them changed."""
    return lambda lab: lab.ours(BY_NAME[way]) | changed


def elsewhere(way: str, listener: str) -> Callable[[SecuredKafka], Options]:
    """Make the right options of a way, but for another listener's port."""
    return lambda lab: sasl(way, bootstrap_servers=lab.kafka.servers(listener))(lab)


def showing(kind: str) -> Callable[[SecuredKafka], Options]:
    """Make the options of a client with a certificate of that kind."""

    def make(lab: SecuredKafka) -> Options:
        shown = lab.kafka.client_certificate(USER, kind)
        changed = {"ssl_certfile": shown.certificate_pem, "ssl_keyfile": shown.key_pem}
        return lab.ours(BY_NAME["MUTUAL_TLS"]) | changed

    return make


def showing_none(lab: SecuredKafka) -> Options:
    """Make the options of a client that shows no certificate."""
    return lab.ours(BY_NAME["SSL"]) | {"bootstrap_servers": lab.kafka.servers("MUTUAL_TLS")}


def trusting_others(lab: SecuredKafka) -> Options:
    """Make the options of a client that trusts the authorities of the system only."""
    right = lab.ours(BY_NAME["SSL"])
    return {name: value for name, value in right.items() if name != "ssl_cadata"}


def trusting_the_issuer_of(listener: str) -> Callable[[SecuredKafka], Options]:
    """Make the options of a client that trusts the authority of a listener's bad certificate."""

    def make(lab: SecuredKafka) -> Options:
        return elsewhere("SSL", listener)(lab) | {"ssl_cadata": lab.authority.pem}

    return make


def with_token(way: str, make: Callable[[SecuredKafka], str]) -> Callable[[SecuredKafka], Options]:
    """Make the options of a client with such a token."""
    return lambda lab: sasl(way, sasl_oauth_token_provider=Tokens(lambda: make(lab)))(lab)


MISTAKES: dict[str, tuple[str, Callable[[SecuredKafka], Options], str]] = {
    "wrong password, PLAIN": (
        "SASL_SSL-PLAIN",
        sasl("SASL_SSL-PLAIN", sasl_plain_password="wrong"),
        "Invalid username or password.*check sasl_plain_username and sasl_plain_password",
    ),
    "wrong password, SCRAM": (
        "SASL_SSL-SCRAM-SHA-512",
        sasl("SASL_SSL-SCRAM-SHA-512", sasl_plain_password="wrong"),
        "invalid credentials with SASL mechanism SCRAM-SHA-512.*check sasl_plain_username",
    ),
    "unknown user, SCRAM": (
        "SASL_PLAINTEXT-SCRAM-SHA-256",
        sasl("SASL_PLAINTEXT-SCRAM-SHA-256", sasl_plain_username="nobody"),
        "invalid credentials with SASL mechanism SCRAM-SHA-256.*has SCRAM-SHA-256 credentials",
    ),
    "expired token": (
        "SASL_SSL-OAUTHBEARER",
        with_token("SASL_SSL-OAUTHBEARER", lambda _: unsecured_token(USER, -100)),
        "invalid_token.*check the token that sasl_oauth_token_provider gives",
    ),
    "expired signed token": (
        "OIDC-OAUTHBEARER",
        with_token("OIDC-OAUTHBEARER", lambda lab: lab.issuer.sign(USER, -100)),
        "invalid_token.*check the token",
    ),
    "token for others": (
        "OIDC-OAUTHBEARER",
        with_token("OIDC-OAUTHBEARER", lambda lab: lab.issuer.sign(USER, aud="others")),
        "invalid_token.*audience",
    ),
    "unknown Kerberos service": (
        "KERBEROS-GSSAPI",
        sasl("KERBEROS-GSSAPI", sasl_kerberos_service_name="nokafka"),
        "nokafka@localhost.*not found in Kerberos database.*sasl_kerberos_service_name",
    ),
    "mechanism that is not offered": (
        "SASL_PLAINTEXT-PLAIN",
        elsewhere("SASL_SSL-PLAIN", "OIDC"),
        "PLAIN.*it offers OAUTHBEARER; set sasl_mechanism",
    ),
    "unknown authority": ("SSL", trusting_others, "certificate.*issued by.*trustme"),
    "expired certificate": (
        "SSL",
        trusting_the_issuer_of(EXPIRED),
        r"has expired \(OpenSSL: certificate has expired\).*renew it.* to \d{4}-\d\d-\d\d .*UTC",
    ),
    "certificate for another host": (
        "SSL",
        trusting_the_issuer_of(OTHER_HOST),
        r"is not for 'localhost' \(OpenSSL: .*The certificate is for: h\.invalid",
    ),
    "no client certificate": ("MUTUAL_TLS", showing_none, "(?i)certificate.*ssl_certfile"),
    "client certificate of a stranger": (
        "MUTUAL_TLS",
        showing("unknown_ca"),
        "does not accept the certificate.*set ssl_certfile and ssl_keyfile",
    ),
    "expired client certificate": (
        "MUTUAL_TLS",
        showing("expired"),
        "does not accept the certificate.*set ssl_certfile and ssl_keyfile",
    ),
    "TLS for a plain listener": (
        "SSL",
        elsewhere("SSL", "PLAINTEXT"),
        "during the TLS handshake; is its listener's security protocol SSL",
    ),
    "plain for a TLS listener": (
        "SASL_PLAINTEXT-PLAIN",
        elsewhere("SASL_PLAINTEXT-PLAIN", "SASL_SSL"),
        "speaks TLS.*security_protocol with TLS",
    ),
    "SASL for a listener without": (
        "SASL_PLAINTEXT-PLAIN",
        elsewhere("SASL_PLAINTEXT-PLAIN", "PLAINTEXT"),
        "expects no authentication.*set security_protocol",
    ),
}


@IN_EACH_RELEASE
@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_mistake_is_told_at_the_start(lab: SecuredKafka, mistake: str) -> None:
    way, make, told = MISTAKES[mistake]
    require_way(BY_NAME[way])
    options = make(lab)
    producer = AIOKafkaProducer(**options)
    async with asyncio.timeout(TOLD_WITHIN_S):
        with pytest.raises(KafkaError) as raised:
            await producer.start()
    await producer.stop()
    text = str(raised.value).replace("\n", " ")
    assert re.search(told, text), text
    assert "localhost" in text or "127.0.0.1" in text
    assert "secret" not in text
