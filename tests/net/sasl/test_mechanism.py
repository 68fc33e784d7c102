"""A mechanism of the user's, written as the docstring of `SaslMechanism` shows it."""

from __future__ import annotations

from aiokafka_lite.net.sasl.authentication import SaslAuthentication
from aiokafka_lite.net.sasl.mechanism import SaslExchange, SaslMechanism
from tests.net.support.sasl_exchanges import ENDPOINT, NEWEST, SaslNode, tokens_of


class Anonymous:
    name = "ANONYMOUS"

    def exchange(self, host: str) -> SaslExchange:
        yield f"alice of {host}".encode()


async def test_a_mechanism_of_the_users_is_used_as_those_of_kafka() -> None:
    mechanism: SaslMechanism = Anonymous()
    assert await tokens_of(mechanism.exchange("here"), [b""]) == [b"alice of here"]
    node = SaslNode(b"")
    assert await node.run(SaslAuthentication(Anonymous)(ENDPOINT, NEWEST)) == 0
    assert node.tokens == [b"alice of broker"]
