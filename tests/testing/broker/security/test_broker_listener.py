"""What a listener asks, and what it may not ask."""

import pytest

from aiokafka_lite.testing.broker import BrokerListener


@pytest.mark.parametrize(
    ("security", "has_tls", "has_sasl"),
    [
        ("PLAINTEXT", False, False),
        ("SSL", True, False),
        ("SASL_PLAINTEXT", False, True),
        ("SASL_SSL", True, True),
    ],
)
def test_a_protocol_is_tls_or_sasl_or_both(security: str, has_tls: bool, has_sasl: bool) -> None:
    listener = BrokerListener(security)
    assert (listener.has_tls, listener.has_sasl) == (has_tls, has_sasl)
    assert list(listener.faults()) == []


@pytest.mark.parametrize(
    ("listener", "fault"),
    [
        (BrokerListener("TLS"), "security must be one of PLAINTEXT"),
        (BrokerListener("SASL_SSL", mechanisms=["GSSAPI"]), "mechanisms must be one of PLAIN"),
        (BrokerListener("SSL", ssl_client_auth="yes"), "ssl_client_auth must be one of none"),
        (
            BrokerListener("PLAINTEXT", ssl_client_auth="required"),
            "ssl_client_auth='required' needs",
        ),
        (
            BrokerListener("SASL_SSL", connections_max_reauth_ms=-1),
            "connections_max_reauth_ms must be 0",
        ),
        (
            BrokerListener("SSL", connections_max_reauth_ms=1),
            "connections_max_reauth_ms needs security=",
        ),
        (
            BrokerListener("SSL", token_validator=lambda token: {}),
            "token_validator needs security=",
        ),
    ],
)
def test_each_fault_is_named(listener: BrokerListener, fault: str) -> None:
    (found,) = listener.faults()
    assert found.startswith(fault)
