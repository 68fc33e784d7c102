"""What secured listeners add to server.properties; that Kafka accepts it, tests/security/ shows."""

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.testing.secure_listeners import (
    MECHANISMS,
    SecureListener,
    authorizer_settings,
    listener_addresses,
    property_text,
    scram_arguments,
    security_settings,
    standard_listeners,
)

USERS = {"alice": "secret"}


def test_a_secured_cluster_has_a_listener_for_each_protocol() -> None:
    listeners = standard_listeners(USERS, MECHANISMS, 0)
    assert [(listener.name, listener.protocol, listener.client_auth) for listener in listeners] == [
        ("SSL", "SSL", "requested"),
        ("MUTUAL_TLS", "SSL", "required"),
        ("SASL_PLAINTEXT", "SASL_PLAINTEXT", "none"),
        ("SASL_SSL", "SASL_SSL", "none"),
    ]
    assert all(tuple(listener.mechanisms) == MECHANISMS for listener in listeners[2:])


def test_without_mechanisms_there_is_no_sasl() -> None:
    assert [listener.name for listener in standard_listeners({}, (), 0)] == ["SSL", "MUTUAL_TLS"]


def test_a_mechanism_that_needs_more_is_refused() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"\['GSSAPI'\].*SecureListener"):
        standard_listeners(USERS, ["PLAIN", "GSSAPI"], 0)


def test_the_lines_of_a_listener_have_its_name() -> None:
    listener = SecureListener(
        name="OWN",
        protocol="SASL_SSL",
        mechanisms={"PLAIN": "login"},
        client_auth="required",
        connections_max_reauth_ms=3000,
        properties={"ssl.protocol": "TLSv1.2"},
    )
    settings = security_settings([listener], "/keys", "/trusted")
    assert {key: value for key, value in settings.items() if "own" in key} == {
        "listener.name.own.ssl.keystore.type": "PEM",
        "listener.name.own.ssl.keystore.location": "/keys",
        "listener.name.own.ssl.client.auth": "required",
        "listener.name.own.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.own.plain.sasl.jaas.config": "login",
        "listener.name.own.plain.connections.max.reauth.ms": "3000",
        "listener.name.own.ssl.protocol": "TLSv1.2",
    }
    assert settings["listener.security.protocol.map"].endswith(",OWN:SASL_SSL")
    assert settings["ssl.truststore.location"] == "/trusted"


def test_a_password_is_quoted_for_jaas() -> None:
    listeners = standard_listeners({"alice": 'a"b\\c'}, ["PLAIN"], 0)
    assert r'user_alice="a\"b\\c"' in listeners[2].mechanisms["PLAIN"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("plain text", "plain text"),
        ("ä", r"\u00e4"),
        ("🔑", r"\ud83d\udd11"),
        ("a\\b\n", r"a\\b\u000a"),
    ],
)
def test_properties_are_ascii(value: str, written: str) -> None:
    assert property_text(value) == written


def test_users_are_stored_for_the_mechanisms_of_scram() -> None:
    listeners = standard_listeners(USERS, ["PLAIN", "SCRAM-SHA-512"], 0)
    assert scram_arguments(USERS, listeners) == [
        "--add-scram",
        'SCRAM-SHA-512=[name="alice",password="secret"]',
    ]


def test_a_secure_listener_is_announced_by_the_name_in_its_certificate() -> None:
    addresses = listener_addresses({"PLAINTEXT": 1, "SSL": 2}, 3)
    assert addresses == {
        "listeners": "PLAINTEXT://127.0.0.1:1,SSL://127.0.0.1:2,CONTROLLER://127.0.0.1:3",
        "advertised.listeners": "PLAINTEXT://127.0.0.1:1,SSL://localhost:2",
    }


def test_super_users_are_named_by_their_kind() -> None:
    settings = authorizer_settings(["alice", "User:CN=bob"])
    assert settings["super.users"] == "User:ANONYMOUS;User:alice;User:CN=bob"
    assert settings["authorizer.class.name"].endswith(".StandardAuthorizer")
