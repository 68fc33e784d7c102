"""SASL goes the same way here and on a real Kafka: the same bytes, answers and ends.

The texts are compared, too, because users read them. Nonces and salts of SCRAM differ, so those
answers are compared by their form.
"""

import re
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from aiokafka_lite.protocol.messages.sasl_handshake import SaslHandshakeRequest
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.conftest import NEWEST_FIRST, require_kafka
from tests.testing.broker.bench import WireClient

USERS = {"alice": "secret", "bob": "builder"}
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
REAUTH_MS = 600_000
ALICE = b"\0alice\0secret"


class Talk:
    """One connection, and what came back on it."""

    def __init__(self, client: WireClient) -> None:
        self.client = client
        self.heard: list[Any] = []

    async def handshake(self, mechanism: str, version: int = 1) -> None:
        told = await self.client.ask(SaslHandshakeRequest(mechanism=mechanism), version)
        self.heard.append((told.error_code, sorted(told.mechanisms)))

    async def token(self, token: bytes) -> None:
        told = await self.client.ask(SaslAuthenticateRequest(auth_bytes=token))
        answer = re.sub(rb"(r=|s=|v=)[^,]*", rb"\1?", bytes(told.auth_bytes))
        lasts = 0 if told.session_lifetime_ms == 0 else 1
        self.heard.append((told.error_code, told.error_message, answer, lasts))

    async def bare_token(self, token: bytes) -> None:
        self.client.writer.write(len(token).to_bytes(4, "big") + token)

    async def log_in(self) -> None:
        await self.handshake("PLAIN")
        await self.token(ALICE)

    async def end(self) -> None:
        self.heard.append("closed" if await self.client.is_closed_by_peer() else "answered")


async def wrong_password(talk: Talk) -> None:
    await talk.handshake("PLAIN")
    await talk.token(b"\0alice\0wrong")
    await talk.end()


async def unknown_user(talk: Talk) -> None:
    await talk.handshake("PLAIN")
    await talk.token(b"\0carol\0secret")
    await talk.end()


async def another_authorization_id(talk: Talk) -> None:
    await talk.handshake("PLAIN")
    await talk.token(b"bob\0alice\0secret")
    await talk.end()


async def malformed_plain(talk: Talk) -> None:
    await talk.handshake("PLAIN")
    await talk.token(b"alice\0secret")
    await talk.end()


async def unknown_mechanism(talk: Talk) -> None:
    await talk.handshake("GSSAPI")
    await talk.end()


async def versions_twice(talk: Talk) -> None:
    await talk.client.ask(ApiVersionsRequest(), 0)
    talk.client.send(ApiVersionsRequest(), 0)
    await talk.end()


async def token_before_the_handshake(talk: Talk) -> None:
    talk.client.send(SaslAuthenticateRequest(auth_bytes=ALICE), 2)
    await talk.end()


async def request_before_the_login(talk: Talk) -> None:
    await talk.client.ask(ApiVersionsRequest(), 0)
    talk.client.send(MetadataRequest(topics=[]), 9)
    await talk.end()


async def scram(talk: Talk) -> None:
    await talk.handshake("SCRAM-SHA-256")
    await talk.token(b"n,,n=alice,r=abc")
    await talk.token(b"c=biws,r=abc,p=eA==")
    await talk.end()


async def scram_of_a_stranger(talk: Talk) -> None:
    await talk.handshake("SCRAM-SHA-512")
    await talk.token(b"n,,n=carol,r=abc")
    await talk.end()


async def malformed_scram(talk: Talk) -> None:
    await talk.handshake("SCRAM-SHA-256")
    await talk.token("n,,n=jürgen,r=abc".encode())
    await talk.end()


async def refused_token(talk: Talk) -> None:
    await talk.handshake("OAUTHBEARER")
    await talk.token(b"n,,\x01auth=Bearer a.b.c\x01\x01")
    await talk.token(b"\x01")
    await talk.end()


async def malformed_token(talk: Talk) -> None:
    await talk.handshake("OAUTHBEARER")
    await talk.token(b"y,,\x01auth=Bearer a.b.c\x01\x01")
    await talk.end()


async def bare_tokens(talk: Talk) -> None:
    await talk.handshake("PLAIN", 0)
    await talk.bare_token(ALICE)
    talk.heard.append(await talk.client.receive_frame())
    await talk.client.ask(MetadataRequest(topics=[]), 9)


async def refused_bare_token(talk: Talk) -> None:
    await talk.handshake("PLAIN", 0)
    await talk.bare_token(b"\0alice\0wrong")
    await talk.end()


async def again_and_too_early(talk: Talk) -> None:
    for _ in range(2):
        await talk.log_in()
    await talk.handshake("PLAIN")
    await talk.client.ask(MetadataRequest(topics=[]), 9)


async def token_after_the_login(talk: Talk) -> None:
    await talk.log_in()
    await talk.token(ALICE)
    await talk.client.ask(MetadataRequest(topics=[]), 9)


async def again_as_another_user(talk: Talk) -> None:
    await talk.log_in()
    await talk.handshake("PLAIN")
    await talk.token(b"\0bob\0builder")
    await talk.end()


async def again_by_another_mechanism(talk: Talk) -> None:
    await talk.log_in()
    await talk.handshake("SCRAM-SHA-256")
    talk.client.send(SaslAuthenticateRequest(auth_bytes=b"n,,n=alice,r=abc"), 2)
    await talk.end()


async def again_with_a_malformed_token(talk: Talk) -> None:
    await talk.log_in()
    await talk.handshake("PLAIN")
    await talk.token(b"x")
    await talk.end()


TALKS: list[Callable[[Talk], Awaitable[None]]] = [
    wrong_password,
    unknown_user,
    another_authorization_id,
    malformed_plain,
    unknown_mechanism,
    versions_twice,
    token_before_the_handshake,
    request_before_the_login,
    scram,
    scram_of_a_stranger,
    malformed_scram,
    refused_token,
    malformed_token,
    bare_tokens,
    refused_bare_token,
    again_and_too_early,
    token_after_the_login,
    again_as_another_user,
    again_by_another_mechanism,
    again_with_a_malformed_token,
]


@pytest.fixture(scope="module", params=NEWEST_FIRST)
def sasl_kafka(request: pytest.FixtureRequest) -> Iterator[ApacheKafka]:
    require_kafka(request.param)
    with ApacheKafka(
        request.param,
        security="SASL_PLAINTEXT",
        users=USERS,
        mechanisms=MECHANISMS,
        connections_max_reauth_ms=REAUTH_MS,
    ) as kafka:
        yield kafka


async def heard(servers: str, talk_to: Callable[[Talk], Awaitable[None]]) -> list[Any]:
    async with await WireClient.connect(servers) as client:
        talk = Talk(client)
        await talk_to(talk)
        return talk.heard


@pytest.mark.parametrize("talk_to", TALKS)
async def test_each_conversation_goes_the_same_way(
    sasl_kafka: ApacheKafka, talk_to: Callable[[Talk], Awaitable[None]]
) -> None:
    async with EmbeddedBroker(
        security="SASL_PLAINTEXT", users=USERS, connections_max_reauth_ms=REAUTH_MS
    ) as broker:
        expected = await heard(broker.bootstrap_servers, talk_to)
    assert await heard(sasl_kafka.bootstrap_servers, talk_to) == expected
