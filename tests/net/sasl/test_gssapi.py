"""GSSAPI: the order of its tokens with a library of the test's, and what goes wrong without one.

Real brokers and a KDC are asked in tests/security.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import KafkaConfigurationError, KafkaError, SaslAuthenticationFailed
from aiokafka_lite.net.sasl.gssapi import GssapiMechanism, protection_answer
from tests.net.support.sasl_exchanges import tokens_of


class Context:
    """Takes two rounds; wraps by brackets."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.complete = False

    def step(self, token: bytes | None) -> bytes | None:
        if token is None:
            return b"ticket"
        assert token == b"mutual"
        self.complete = True
        return None

    def unwrap(self, message: bytes) -> Any:
        if message[:1] != b"[":
            raise ValueError("a token had an invalid signature")
        return SimpleNamespace(message=message[1:-1])

    def wrap(self, message: bytes, encrypt: bool) -> Any:
        assert not encrypt
        return SimpleNamespace(message=b"[" + message + b"]")


class Library(SimpleNamespace):
    """As much of python-gssapi as the mechanism uses."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []
        super().__init__(
            NameType=SimpleNamespace(hostbased_service="host", kerberos_principal="principal"),
            MechType=SimpleNamespace(kerberos="krb5"),
            Credentials=lambda **options: options,
        )

    def Name(self, text: str, name_type: str) -> Any:
        return SimpleNamespace(canonicalize=lambda mech: (text, name_type, mech), text=text)

    def SecurityContext(self, **options: Any) -> Context:
        self.contexts.append(Context(**options))
        return self.contexts[-1]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Library()
    monkeypatch.setitem(sys.modules, "gssapi", made)
    return made


async def test_the_context_stands_first_and_then_the_protection_is_agreed(
    library: Library,
) -> None:
    exchange = GssapiMechanism().exchange("broker.example.org")
    assert await tokens_of(exchange, [b"mutual", b"[\x07\x00\xff\xff]", b""]) == [
        b"ticket",
        b"",
        b"[\x01\x00\x00\x00]",
    ]
    (context,) = library.contexts
    assert context.options["name"] == ("kafka@broker.example.org", "host", "krb5")
    assert context.options["usage"] == "initiate"
    assert context.options["creds"] is None


async def test_service_domain_principal_and_keytab_are_used(library: Library) -> None:
    mechanism = GssapiMechanism(
        service_name="kfk", domain_name="example.org", principal="alice@R", keytab="/k.tab"
    )
    await tokens_of(mechanism.exchange("h"), [b"mutual", b"[\x01\0\0\0]", b""])
    options = library.contexts[0].options
    assert options["name"][0] == "kfk@example.org"
    assert options["creds"]["name"].text == "alice@R"
    assert options["creds"]["store"]["client_keytab"] == "/k.tab"
    assert options["creds"]["store"]["ccache"].startswith("MEMORY:")


async def test_a_principal_without_a_keytab_is_looked_for_in_the_ticket_cache(
    library: Library,
) -> None:
    exchange = GssapiMechanism(principal="alice@R").exchange("h")
    await tokens_of(exchange, [b"mutual", b"[\x01\0\0\0]", b""])
    creds = library.contexts[0].options["creds"]
    assert (creds["name"].text, "store" in creds) == ("alice@R", False)


async def test_an_error_of_kerberos_names_the_service(library: Library) -> None:
    exchange = GssapiMechanism().exchange("h")
    with pytest.raises(KafkaError, match=r"service kafka@h: a token had an invalid") as caught:
        await tokens_of(exchange, [b"mutual", b"forged"])
    assert isinstance(caught.value.__cause__, ValueError)


async def test_without_the_library_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(KafkaConfigurationError, match=r"pip install 'aiokafka-lite\[gssapi\]'"):
        await tokens_of(GssapiMechanism().exchange("h"), [])


@given(st.binary(max_size=8))
def test_only_a_node_that_takes_no_protection_is_answered(offer: bytes) -> None:
    if len(offer) >= 4 and offer[0] & 1:
        assert protection_answer(offer) == b"\x01\0\0\0"
    else:
        with pytest.raises(SaslAuthenticationFailed, match="QOP"):
            protection_answer(offer)
