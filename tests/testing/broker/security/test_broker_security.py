"""What the listeners of one cluster ask, and what clients need for them."""

import ssl

import pytest

from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.testing.broker.security.broker_listener import BrokerListener
from aiokafka_lite.testing.broker.security.broker_security import BrokerSecurity
from aiokafka_lite.testing.broker.security.security_options import SecurityOptions
from aiokafka_lite.testing.fake_clock import FakeClock


def security(**options: object) -> BrokerSecurity:
    made = BrokerSecurity(SecurityOptions(**options), (), FakeClock())  # type: ignore[arg-type]
    made.start()
    return made


def test_the_options_of_a_client_name_what_the_listener_asks() -> None:
    assert security().client_options(None, None, None) == {"security_protocol": "PLAINTEXT"}
    sasl = security(security="SASL_PLAINTEXT", users={"alice": "secret"})
    assert sasl.client_options("alice", None, None) == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "alice",
        "sasl_plain_password": "secret",
    }
    tls = security(security="SSL", ssl_client_auth="required")
    certificate = tls.certificates.client_certificate("alice", "valid")
    assert tls.client_options(None, None, certificate) == {
        "security_protocol": "SSL",
        "ssl_cadata": tls.certificates.ca_pem,
        "ssl_certfile": certificate.certificate_pem,
        "ssl_keyfile": certificate.key_pem,
    }


def test_an_unknown_user_or_mechanism_is_named() -> None:
    sasl = security(security="SASL_PLAINTEXT", users={"alice": "secret"})
    with pytest.raises(ValueError, match=r"'bob' is none of this broker's SASL users, \['alice'\]"):
        sasl.client_options("bob", None, None)
    with pytest.raises(ValueError, match="mechanism must be one of this broker's"):
        sasl.client_options("alice", "GSSAPI", None)


def test_without_tls_there_are_no_certificates() -> None:
    with pytest.raises(IllegalStateError, match="pass security='SSL' or 'SASL_SSL', and start it"):
        _ = security().certificates
    assert security().listener(None).tls_context is None


def test_each_listener_has_mechanisms_and_a_context_of_its_own() -> None:
    made = security(
        listeners={
            "IN": BrokerListener("SASL_PLAINTEXT", mechanisms=["PLAIN"]),
            "OUT": BrokerListener(
                "SASL_SSL", mechanisms=["SCRAM-SHA-512"], ssl_client_auth="required"
            ),
        },
        users={"alice": "secret"},
    )
    assert made.client_options("alice", None, None)["sasl_mechanism"] == "PLAIN"
    options = made.client_options("alice", None, None, "OUT")
    assert (options["security_protocol"], options["sasl_mechanism"]) == (
        "SASL_SSL",
        "SCRAM-SHA-512",
    )
    assert options["ssl_cadata"] == made.certificates.ca_pem
    assert made.listener("IN").tls_context is None
    context = made.listener("OUT").tls_context
    assert context is not None
    assert context.verify_mode is ssl.CERT_REQUIRED
    with pytest.raises(ValueError, match="listener must be one of this broker's, IN, OUT; got 'X'"):
        made.client_options(None, None, None, "X")
    with pytest.raises(ValueError, match="mechanism must be one of this broker's, PLAIN; got"):
        made.client_options("alice", "SCRAM-SHA-512", None, "IN")
