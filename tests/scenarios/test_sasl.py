"""Producer and consumer authenticate by SASL, or say at once why they cannot."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import re
import time
from typing import Any

import pytest

from aiokafka_lite import AbstractTokenProvider, AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.sasl_handshake import SaslHandshakeRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.support.patience import PATIENCE_S

USERS = {"alice": "open sesame"}


class Unsigned(AbstractTokenProvider):
    """Gives tokens without a signature, which the embedded broker accepts."""

    async def token(self) -> str:
        now_s = time.time()
        claims = {"sub": "alice", "iat": now_s - 1, "exp": now_s + 3600}
        parts = [json.dumps(part).encode() for part in ({"alg": "none"}, claims)]
        return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts) + "."


def options_of(broker: EmbeddedBroker, **others: Any) -> dict[str, Any]:
    return {
        "bootstrap_servers": broker.bootstrap_servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_plain_username": "alice",
        "sasl_plain_password": "open sesame",
        "sasl_oauth_token_provider": Unsigned(),
        **others,
    }


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])
async def test_records_travel_and_no_log_shows_the_password(
    mechanism: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with EmbeddedBroker(security="SASL_PLAINTEXT", users=USERS) as broker:
        options = options_of(broker, sasl_mechanism=mechanism)
        async with AIOKafkaProducer(**options) as producer:
            await producer.send_and_wait("t", b"v")
        consumer = AIOKafkaConsumer("t", group_id="g", auto_offset_reset="earliest", **options)
        async with consumer, asyncio.timeout(PATIENCE_S):
            assert (await consumer.getone()).value == b"v"
    assert "SaslAuthenticateRequest" in caplog.text
    assert "sesame" not in caplog.text
    assert "sesame" not in repr(producer)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (
            {"sasl_plain_password": "sesame"},
            "PLAIN failed: the node refused: Auth",
        ),
        ({"sasl_mechanism": "OAUTHBEARER"}, "OAUTHBEARER failed: the node does not offer it"),
    ],
)
async def test_a_client_that_is_refused_says_why(wrong: dict[str, Any], says: str) -> None:
    async with EmbeddedBroker(
        security="SASL_PLAINTEXT", users=USERS, mechanisms=["PLAIN"]
    ) as broker:
        options = options_of(broker, **wrong)
        producer = AIOKafkaProducer(**options)
        with pytest.raises(KafkaError) as caught:
            await producer.start()
        await producer.stop()
    assert says in str(caught.value)
    assert "sesame" not in str(caught.value)


async def test_clients_authenticate_again_under_load_and_lose_repeat_and_reorder_nothing() -> None:
    """Sessions of 10 s for 40 s, while a producer writes and a group reads."""
    clock = FakeClock()
    async with EmbeddedBroker(
        2,
        security="SASL_PLAINTEXT",
        users=USERS,
        clock=clock,
        connections_max_reauth_ms=10_000,
        max_logged_requests=100_000,
    ) as broker:
        broker.create_topic("t", 2)
        options = options_of(broker, sasl_mechanism="SCRAM-SHA-256", clock=clock)
        producer = AIOKafkaProducer(enable_idempotence=True, **options)
        consumer = AIOKafkaConsumer("t", group_id="g", auto_offset_reset="earliest", **options)
        starting = asyncio.gather(producer.start(), consumer.start())
        await passing(clock, starting)
        read: dict[int, list[int]] = {0: [], 1: []}
        acks = []
        for step in range(200):
            # Time stands still while sockets and the thread of SCRAM are at work.
            async with asyncio.timeout(PATIENCE_S):
                for number in range(step * 4, step * 4 + 4):
                    acks.append(await producer.send("t", b"%d" % number, partition=number % 2))
                await clock.advance(0.1)
                await asyncio.gather(*acks[-4:])
                while sum(map(len, read.values())) < len(acks):
                    await collect(consumer, read)
            await clock.advance(0.1)
            if step == 20:  # by now there are all connections
                opened = len(broker.requests_of(ApiVersionsRequest))
        assert read == {0: list(range(0, 800, 2)), 1: list(range(1, 800, 2))}
        # No connection was lost: a new one would have asked for the versions.
        assert len(broker.requests_of(ApiVersionsRequest)) == opened
        assert len(broker.requests_of(SaslHandshakeRequest)) >= opened + 4 * 4
        stopping = asyncio.gather(producer.stop(), consumer.stop())
        await passing(clock, stopping)


async def passing(clock: FakeClock, call: asyncio.Future[Any]) -> None:
    """Let time go on until a call ends. The thread of SCRAM gets 10 ms of the machine's time for
    each 50 of the clock's: a busy machine must not make it late.
    """
    while not call.done():
        await clock.advance(0.05)
        await asyncio.wait((call,), timeout=0.01)
    await call


async def collect(consumer: AIOKafkaConsumer[bytes, bytes], read: dict[int, list[int]]) -> None:
    await settle()
    for tp, records in (await consumer.getmany(timeout_ms=0)).items():
        read[tp.partition] += [int(record.value or b"") for record in records]


class Silent(AbstractTokenProvider):
    """Gives nothing."""

    async def token(self) -> str:
        await asyncio.sleep(3600)
        raise NotImplementedError


@pytest.mark.parametrize("request_timeout_ms", [1000, 4000, 30_000])
@pytest.mark.parametrize("sasl_provider_timeout_ms", [2000, 4000, 60_000])
def test_a_token_provider_that_hangs_is_named(
    request_timeout_ms: int, sasl_provider_timeout_ms: int
) -> None:
    """Whichever bound is reached first, nobody is told to look at the broker."""

    async def main(kafka: VirtualKafka) -> None:
        producer = AIOKafkaProducer(
            **options_of(kafka.broker, sasl_mechanism="OAUTHBEARER")
            | {
                **kafka.client_options,
                "sasl_oauth_token_provider": Silent(),
                "request_timeout_ms": request_timeout_ms,
                "sasl_provider_timeout_ms": sasl_provider_timeout_ms,
            }
        )
        with pytest.raises(KafkaError) as raised:
            await producer.start()
        assert re.search("the token provider Silent|sasl_oauth_token_provider", str(raised.value))
        assert "is this a Kafka broker" not in str(raised.value)
        assert "that a broker listens there" not in str(raised.value)

    run_virtual_kafka(main, security="SASL_PLAINTEXT", users=USERS)


def test_while_a_token_is_waited_for_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    async def main(kafka: VirtualKafka) -> None:
        options = options_of(kafka.broker, sasl_mechanism="OAUTHBEARER") | {
            **kafka.client_options,
            "sasl_oauth_token_provider": Silent(),
            "sasl_provider_timeout_ms": 60_000,
            "socket_connection_setup_timeout_ms": 60_000,
            "socket_connection_setup_timeout_max_ms": 60_000,
        }
        starting = asyncio.ensure_future(AIOKafkaProducer(**options).start())
        await asyncio.sleep(11)
        told = [text for text in caplog.messages if "has waited 10 s" in text]
        assert any("sasl_oauth_token_provider" in text for text in told), caplog.text
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)

    run_virtual_kafka(main, security="SASL_PLAINTEXT", users=USERS)
