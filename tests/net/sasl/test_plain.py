"""PLAIN sends one token: no authorization identity, the user name, the password."""

from aiokafka_lite.net.sasl.credentials import SaslCredentials
from aiokafka_lite.net.sasl.plain import PlainMechanism
from tests.net.support.sasl_exchanges import tokens_of


async def test_user_name_and_password_are_sent_in_utf_8() -> None:
    plain = PlainMechanism(SaslCredentials("ann\u00e9", "gr\u00fcn"))
    assert await tokens_of(plain.exchange("h"), [b""]) == [b"\0ann\xc3\xa9\0gr\xc3\xbcn"]


async def test_a_provider_is_asked_for_each_exchange() -> None:
    passwords = iter(["first", "second"])

    async def provider() -> SaslCredentials:
        return SaslCredentials("alice", next(passwords))

    plain = PlainMechanism(provider)
    for password in (b"first", b"second"):
        assert await tokens_of(plain.exchange("h"), [b""]) == [b"\0alice\0" + password]
