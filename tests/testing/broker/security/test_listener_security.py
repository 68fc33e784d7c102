"""The sessions that a listener opens."""

import asyncio
from typing import Any

from aiokafka_lite.testing.broker import BrokerListener
from aiokafka_lite.testing.broker.security.listener_security import ListenerSecurity
from aiokafka_lite.testing.fake_clock import FakeClock


class Connection(asyncio.BaseTransport):
    """A connection from 10.0.0.1, with a certificate if TLS asked for one."""

    def __init__(self, subject: Any = None) -> None:
        super().__init__(
            {"peername": ("10.0.0.1", 5), "peercert": subject and {"subject": subject}}
        )


def listener(security: str) -> ListenerSecurity:
    return ListenerSecurity(
        "OUT", BrokerListener(security), {}, None, FakeClock(), refusal_delay_ms=7
    )


def test_a_session_knows_its_listener_and_its_client() -> None:
    plain = listener("PLAINTEXT").open_session(Connection())
    assert (plain.listener, plain.host, plain.sasl) == ("OUT", "10.0.0.1", None)
    tls = listener("SSL").open_session(Connection(((("commonName", "alice"),),)))
    assert (tls.listener, tls.principal) == ("OUT", "User:CN=alice")


def test_with_sasl_the_certificate_gives_no_name() -> None:
    session = listener("SASL_SSL").open_session(Connection(((("commonName", "alice"),),)))
    assert session.principal == "User:ANONYMOUS"
    assert session.sasl is not None
    assert session.sasl.refusal_delay_s == 0.007
