"""The security options and their checks."""

import pytest

from aiokafka_lite.testing.broker import BrokerListener, EmbeddedBroker
from aiokafka_lite.testing.broker.security.broker_listener import MECHANISMS
from aiokafka_lite.testing.broker.security.security_options import SecurityOptions


@pytest.mark.parametrize(
    ("options", "faults"),
    [
        ({}, []),
        ({"security": "SASL_SSL", "users": {"alice": "secret"}}, []),
        ({"security": "SSL", "ssl_client_auth": "required"}, []),
        (
            {"security": "TLS"},
            ["security must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL; got 'TLS'"],
        ),
        (
            {"security": "SSL", "ssl_client_auth": "yes"},
            ["ssl_client_auth must be one of none, requested, required; got 'yes'"],
        ),
        (
            {"ssl_client_auth": "required"},
            ["ssl_client_auth='required' needs security='SSL' or 'SASL_SSL', got 'PLAINTEXT'"],
        ),
        (
            {"users": {"alice": "secret"}},
            ["users needs security='SASL_PLAINTEXT' or 'SASL_SSL', got 'PLAINTEXT'"],
        ),
        ({"acls": [], "super_users": ["root"]}, []),
        (
            {"super_users": ["root"]},
            ["super_users needs acls, at least an empty list; got ['root']"],
        ),
        (
            {"security": "SASL_SSL", "connections_max_reauth_ms": -1},
            ["connections_max_reauth_ms must be 0 or more, got -1"],
        ),
        (
            {"security": "SASL_SSL", "connection_failed_authentication_delay_ms": -1},
            ["connection_failed_authentication_delay_ms must be 0 or more, got -1"],
        ),
        ({"listeners": {"IN": "PLAINTEXT", "OUT": "SASL_SSL"}, "users": {"alice": "secret"}}, []),
        (
            {"listeners": {"IN": "PLAINTEXT", "OUT": "SSL"}, "users": {"alice": "secret"}},
            ["users needs security='SASL_PLAINTEXT' or 'SASL_SSL', got 'PLAINTEXT' and 'SSL'"],
        ),
        (
            {"listeners": {"IN": "SSL"}, "security": "SSL"},
            [
                (
                    "security is for a broker without listeners, which name their protocols; "
                    "got both, security='SSL'"
                )
            ],
        ),
        ({"listeners": {}}, ["listeners must have one or more, or be None; got {}"]),
        (
            {"listeners": {"IN": "TLS"}},
            [
                (
                    "listeners['IN']: security must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, "
                    "SASL_SSL; got 'TLS'"
                )
            ],
        ),
        (
            {"listeners": {"IN": BrokerListener("PLAINTEXT", mechanisms=["PLAIN"])}},
            [
                (
                    "listeners['IN']: mechanisms needs security='SASL_PLAINTEXT' or 'SASL_SSL', "
                    "got 'PLAINTEXT'"
                )
            ],
        ),
    ],
)
def test_wrong_options_are_named_with_their_limit(
    options: dict[str, object], faults: list[str]
) -> None:
    assert list(SecurityOptions(**options).security_faults()) == faults  # type: ignore[arg-type]


def test_a_listener_goes_before_the_option_of_the_broker() -> None:
    options = SecurityOptions(
        listeners={
            "IN": "SASL_PLAINTEXT",
            "OUT": BrokerListener(
                "SASL_SSL", mechanisms=["PLAIN"], connections_max_reauth_ms=9_000
            ),
        },
        connections_max_reauth_ms=5_000,
        ssl_client_auth="required",
    )
    inner, outer = options.named_listeners.values()
    assert (inner.mechanisms, inner.connections_max_reauth_ms) == (MECHANISMS, 5_000)
    assert (outer.mechanisms, outer.connections_max_reauth_ms) == (["PLAIN"], 9_000)
    assert outer.ssl_client_auth == "required"


def test_one_listener_has_the_name_of_its_protocol() -> None:
    options = SecurityOptions(security="SSL", ssl_client_auth="requested")
    assert options.named_listeners == {
        "SSL": BrokerListener(
            "SSL", mechanisms=MECHANISMS, ssl_client_auth="requested", connections_max_reauth_ms=0
        )
    }


def test_an_unknown_mechanism_is_named_with_the_known_ones() -> None:
    options = SecurityOptions(security="SASL_SSL", mechanisms=["PLAIN", "GSSAPI"])
    (fault,) = options.security_faults()
    assert fault.startswith("mechanisms must be one of PLAIN")
    assert fault.endswith("got 'GSSAPI'")


def test_a_broker_refuses_wrong_options() -> None:
    with pytest.raises(ValueError, match="EmbeddedBroker: security must be one of"):
        EmbeddedBroker(security="tls")


def test_passwords_are_not_shown() -> None:
    options = SecurityOptions(security="SASL_SSL", users={"alice": "hush"})
    assert "hush" not in repr(options)
    assert "hush" not in repr(EmbeddedBroker(security="SASL_SSL", users={"alice": "hush"}))
