"""The options of authentication: which mechanism they make, and what is wrong with them."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.errors import AuthenticationFailedError, KafkaConfigurationError
from aiokafka_lite.net.sasl.authentication import SaslAuthentication
from aiokafka_lite.net.sasl.credentials import SaslCredentials
from aiokafka_lite.net.sasl.mechanism import SaslExchange
from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider
from aiokafka_lite.secret import Secret
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.net.support.sasl_exchanges import ENDPOINT, NEWEST, SaslNode


class Fixed(AbstractTokenProvider):
    async def token(self) -> str:
        return "abc"


class Anonymous:
    name = "ANONYMOUS"

    def exchange(self, host: str) -> SaslExchange:
        yield b"anybody"


ALICE: dict[str, Any] = {"sasl_plain_username": "alice", "sasl_plain_password": "open sesame"}


def config(**options: Any) -> ClientConfig:
    return ClientConfig(**{"security_protocol": "SASL_PLAINTEXT", **options})


async def first_token(made: ClientConfig) -> bytes:
    authentication = made.security().authentication
    assert isinstance(authentication, SaslAuthentication)
    node = SaslNode((58, "enough"))
    steps = authentication(ENDPOINT, NEWEST)
    with pytest.raises(Exception, match="enough"):
        await node.run(steps)
    (token,) = node.tokens
    return token


@pytest.mark.parametrize(
    ("options", "begins"),
    [
        (ALICE, b"\0alice\0open sesame"),
        ({**ALICE, "sasl_plain_password": Secret(b"open")}, b"\0alice\0open"),
        ({**ALICE, "sasl_mechanism": "SCRAM-SHA-256"}, b"n,,n=alice,r="),
        ({**ALICE, "sasl_mechanism": "SCRAM-SHA-512"}, b"n,,n=alice,r="),
        (
            {"credentials_provider": lambda: SaslCredentials("bob", "x")},
            b"\0bob\0x",
        ),
        (
            {"sasl_mechanism": "OAUTHBEARER", "sasl_oauth_token_provider": Fixed()},
            b"n,,\x01auth=Bearer abc",
        ),
        ({"sasl_mechanism": Anonymous}, b"anybody"),
    ],
)
async def test_the_options_choose_the_mechanism(options: dict[str, Any], begins: bytes) -> None:
    assert (await first_token(config(**options))).startswith(begins)


async def test_tokenauth_reaches_the_first_message() -> None:
    made = config(**ALICE, sasl_mechanism="SCRAM-SHA-256", sasl_scram_tokenauth=True)
    assert (await first_token(made)).endswith(b",tokenauth=true")


async def test_kerberos_gets_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []

    def made(**options: Any) -> Anonymous:
        given.append(options)
        return Anonymous()

    monkeypatch.setattr("aiokafka_lite.net.sasl.gssapi.GssapiMechanism", made)
    kerberos = {"service_name": "kfk", "domain_name": "d", "principal": "p", "keytab": "k"}
    options = {f"sasl_kerberos_{name}": value for name, value in kerberos.items()}
    await first_token(config(sasl_mechanism="GSSAPI", sasl_provider_timeout_ms=7, **options))
    assert given == [{**kerberos, "timeout_ms": 7, "clock": SYSTEM_CLOCK}]


async def test_the_clock_of_the_client_measures_its_providers() -> None:
    """Preparing has 90 % of the setup timeout of a connection, and a token its own bound."""
    clock = FakeClock()

    class Hangs(Fixed):
        async def prepare(self) -> None:
            await asyncio.get_running_loop().create_future()

    made = config(
        sasl_mechanism="OAUTHBEARER",
        sasl_oauth_token_provider=Hangs(),
        socket_connection_setup_timeout_ms=20_000,
    )
    authentication = made.security(clock).authentication
    assert authentication is not None
    asking = asyncio.ensure_future(SaslNode().run(authentication(ENDPOINT, NEWEST)))
    await clock.advance(17.9)
    assert not asking.done()
    await clock.advance(0.2)
    with pytest.raises(AuthenticationFailedError, match="18,000 ms; raise socket_connection_setup"):
        await asking


def test_without_sasl_there_is_no_authentication() -> None:
    assert ClientConfig().security().authentication is None


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_credentials_beside_a_protocol_that_was_named_have_no_effect(protocol: Any) -> None:
    """As settings have them that differ by the protocol alone. No connection shows them."""
    made = ClientConfig(security_protocol=protocol, **ALICE)
    assert made.security().authentication is None
    with pytest.raises(KafkaConfigurationError, match="sasl_plain_password has no effect with"):
        ClientConfig(**ALICE)  # the protocol may be forgotten


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "sasl_plain_username and sasl_plain_password required for PLAIN sasl"),
        ({"sasl_plain_username": "alice"}, "sasl_plain_password required for PLAIN"),
        ({"sasl_mechanism": "SCRAM-SHA-256"}, "required for SCRAM-SHA-256"),
        ({**ALICE, "sasl_plain_username": 7}, "user name is of type int"),
        ({**ALICE, "sasl_plain_password": "sesame\0"}, "password has a NUL"),
        ({"sasl_mechanism": "NTLM"}, "use one of `PLAIN`, `GSSAPI`"),
        ({"sasl_mechanism": 7}, "sasl_mechanism is of type int"),
        ({"sasl_mechanism": "OAUTHBEARER"}, "OAUTHBEARER needs an object with `async token()`"),
        ({"credentials_provider": 7}, "credentials_provider is of type int"),
        ({**ALICE, "credentials_provider": Fixed}, "contradicts sasl_plain_username"),
        ({**ALICE, "sasl_scram_max_iterations": 1}, "=1 is not between 4096 and"),
        ({**ALICE, "sasl_scram_max_iterations": "many"}, "'many' is of type str"),
        ({**ALICE, "sasl_provider_timeout_ms": 0}, "sasl_provider_timeout_ms=0 is not between 1"),
        (
            {"sasl_mechanism": "GSSAPI", "sasl_kerberos_service_name": ""},
            "sasl_kerberos_service_name='' is no name",
        ),
    ],
)
def test_wrong_options_are_named_and_no_password_is_shown(
    options: dict[str, Any], says: str
) -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        config(**options)
    assert says in str(caught.value)
    assert "sesame" not in str(caught.value)


def test_the_password_is_a_secret_from_the_constructor_on() -> None:
    made = config(**ALICE)
    assert made.sasl_plain_password == Secret("open sesame")
    assert "sesame" not in repr(made)
    assert "alice" not in repr(made)
    with pytest.raises(TypeError, match="is not pickled"):
        pickle.dumps(made)
