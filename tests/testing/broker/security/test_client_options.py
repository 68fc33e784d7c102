"""What a client needs for a secured listener. The clients themselves use it in tests/security/."""

import pytest

from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import ClientCertificate
from aiokafka_lite.testing.broker.security.client_options import sasl_options, tls_options

USERS = {"alice": "secret"}
SHOWN = ClientCertificate("User:CN=alice", "certificate", "key")


def test_tls_trusts_and_shows() -> None:
    assert tls_options("ca", None) == {"ssl_cadata": "ca"}
    shown = {"ssl_cadata": "ca", "ssl_certfile": "certificate", "ssl_keyfile": "key"}
    assert tls_options("ca", SHOWN) == shown


@pytest.mark.parametrize("asked", [None, "PLAIN"])
def test_the_first_mechanism_is_taken(asked: str | None) -> None:
    assert sasl_options("alice", asked, USERS, ["PLAIN", "OAUTHBEARER"]) == {
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "alice",
        "sasl_plain_password": "secret",
    }


def test_a_token_needs_no_password() -> None:
    options = sasl_options("carol", "OAUTHBEARER", USERS, ["PLAIN", "OAUTHBEARER"])
    assert options == {"sasl_mechanism": "OAUTHBEARER"}


@pytest.mark.parametrize(
    ("user", "mechanism", "mechanisms", "told"),
    [
        ("carol", None, ["PLAIN"], r"'carol' is none of this broker's SASL users, \['alice'\]"),
        ("alice", "GSSAPI", ["PLAIN"], "one of this broker's, PLAIN; got 'GSSAPI'"),
        ("alice", None, [], "one of this broker's, none"),
    ],
)
def test_what_the_broker_lacks_is_refused(
    user: str, mechanism: str | None, mechanisms: list[str], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        sasl_options(user, mechanism, USERS, mechanisms)


def test_a_real_kafka_gives_them_before_its_start() -> None:
    kafka = ApacheKafka(security="SASL_SSL", users=USERS)
    assert kafka.client_options("alice", mechanism="SCRAM-SHA-512") == {
        "security_protocol": "SASL_SSL",
        "ssl_cadata": kafka.ca_pem,
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "alice",
        "sasl_plain_password": "secret",
    }
    assert ApacheKafka().client_options() == {"security_protocol": "PLAINTEXT"}
