"""Every mechanism is a generator of the same shape."""

import pytest

from aiokafka_lite.testing.broker.security.mechanism import Accepted, Exchange
from aiokafka_lite.testing.broker.security.oauthbearer_server import oauthbearer_exchange
from aiokafka_lite.testing.broker.security.plain_server import plain_exchange
from aiokafka_lite.testing.broker.security.scram_server import ScramUsers, scram_exchange


@pytest.mark.parametrize(
    "exchange",
    [
        plain_exchange({}),
        scram_exchange(ScramUsers("SCRAM-SHA-256", {}, lambda _: None)),
        oauthbearer_exchange(lambda _: {}),
    ],
)
def test_the_first_token_is_the_clients(exchange: Exchange) -> None:
    assert next(exchange) == b""


def test_credentials_last_for_ever_unless_said_otherwise() -> None:
    assert Accepted("alice") == ("alice", b"", None, False)
