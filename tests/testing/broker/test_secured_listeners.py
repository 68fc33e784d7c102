"""Secured listeners as users meet them: other clients log in, and each fault can be injected."""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Any

import confluent_kafka
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.abc import AbstractTokenProvider
from aiokafka.errors import KafkaConnectionError, TopicAuthorizationFailedError

from aiokafka_lite.errors import IllegalSaslStateError, IllegalStateError, SaslAuthenticationFailed
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from aiokafka_lite.protocol.messages.sasl_handshake import SaslHandshakeRequest
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.support.leftovers import nothing_left_behind
from tests.support.patience import eventually
from tests.testing.broker.bench import WireClient

USERS = {"alice": "secret"}
LISTENERS = [
    ("SSL", None),
    ("SASL_PLAINTEXT", "PLAIN"),
    ("SASL_SSL", "PLAIN"),
    ("SASL_PLAINTEXT", "SCRAM-SHA-256"),
    ("SASL_SSL", "SCRAM-SHA-512"),
    ("SASL_SSL", "OAUTHBEARER"),
]


def broker_of(security: str, **options: Any) -> EmbeddedBroker:
    users = USERS if security.startswith("SASL") else None
    return EmbeddedBroker(security=security, users=users, **options)


@pytest.mark.parametrize(("security", "mechanism"), LISTENERS)
async def test_aiokafka_writes_and_reads(security: str, mechanism: str | None) -> None:
    async with broker_of(security) as broker:
        options = for_aiokafka(broker, mechanism)
        async with AIOKafkaProducer(**options) as producer:
            await producer.send_and_wait("t", b"v")
        consumer = AIOKafkaConsumer("t", group_id="g", auto_offset_reset="earliest", **options)
        async with consumer:
            async with asyncio.timeout(30):
                assert (await consumer.getone()).value == b"v"


def for_aiokafka(broker: EmbeddedBroker, mechanism: str | None) -> dict[str, Any]:
    user = "alice" if mechanism else None
    options = broker.client_options(user, mechanism=mechanism)
    if options.pop("ssl_cadata", None):
        options["ssl_context"] = broker.ssl_context()
    if mechanism == "OAUTHBEARER":
        options["sasl_oauth_token_provider"] = Tokens(broker)
    return {"bootstrap_servers": broker.bootstrap_servers, **options}


class Tokens(AbstractTokenProvider):  # type: ignore[misc]  # which has no types
    """Tokens without a signature, for aiokafka."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.broker = broker

    async def token(self) -> str:
        return self.broker.unsecured_token("alice")


@pytest.mark.parametrize(("security", "mechanism"), LISTENERS)
def test_confluent_writes_in_a_thread(security: str, mechanism: str | None) -> None:
    users = USERS if security.startswith("SASL") else None
    with EmbeddedBroker.threaded(security=security, users=users) as broker:
        producer = confluent_kafka.Producer(for_confluent(broker, mechanism))
        errors: list[object] = []
        producer.produce("t", b"v", on_delivery=lambda error, _: errors.append(error))
        producer.flush(30)
        assert errors == [None]
        assert len(broker.log(("t", 0)).records()) == 1


def for_confluent(broker: EmbeddedBroker, mechanism: str | None) -> dict[str, Any]:
    options: Mapping[str, Any] = broker.client_options(
        "alice" if mechanism else None, mechanism=mechanism
    )
    names = {
        "security_protocol": "security.protocol",
        "ssl_cadata": "ssl.ca.pem",
        "sasl_mechanism": "sasl.mechanism",
        "sasl_plain_username": "sasl.username",
        "sasl_plain_password": "sasl.password",
    }
    chosen = {names[key]: value for key, value in options.items()}
    if mechanism == "OAUTHBEARER":
        chosen["enable.sasl.oauthbearer.unsecure.jwt"] = True
        chosen["sasl.oauthbearer.config"] = "principal=alice"
    return {"bootstrap.servers": broker.bootstrap_servers, "message.timeout.ms": 20_000, **chosen}


async def test_a_wrong_password_is_refused_and_closed() -> None:
    async with (
        nothing_left_behind(),
        broker_of("SASL_PLAINTEXT") as broker,
        await WireClient.connect(broker.bootstrap_servers) as client,
    ):
        await client.ask(ApiVersionsRequest())
        answer = await client.log_in("alice", "wrong")
        assert answer.error_code == SaslAuthenticationFailed.errno
        assert answer.error_message == "Authentication failed: Invalid username or password"
        assert await client.is_closed_by_peer()


@pytest.mark.parametrize("is_injected", [False, True])
async def test_a_refusal_comes_after_the_delay_of_the_broker(is_injected: bool) -> None:
    clock = FakeClock()
    async with (
        broker_of(
            "SASL_PLAINTEXT", clock=clock, connection_failed_authentication_delay_ms=100
        ) as broker,
        await WireClient.connect(broker.bootstrap_servers) as refused,
        await WireClient.connect(broker.bootstrap_servers) as accepted,
    ):
        if is_injected:
            broker.faults.fail(SaslAuthenticateRequest, SaslAuthenticationFailed)
        asking = asyncio.ensure_future(
            refused.log_in("alice", "secret" if is_injected else "wrong")
        )
        await eventually(lambda: clock.pending_timers > 0)
        assert (await accepted.log_in("alice", "secret")).error_code == 0
        await clock.advance(0.09)
        assert not asking.done()
        await clock.advance(0.02)
        assert (await asking).error_code == SaslAuthenticationFailed.errno
        assert await refused.is_closed_by_peer()


async def test_a_bare_token_is_refused_after_the_delay_too() -> None:
    clock = FakeClock()
    async with (
        broker_of(
            "SASL_PLAINTEXT", clock=clock, connection_failed_authentication_delay_ms=100
        ) as broker,
        await WireClient.connect(broker.bootstrap_servers) as client,
    ):
        await client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0)
        token = b"\0alice\0wrong"
        client.writer.write(len(token).to_bytes(4, "big") + token)
        closing = asyncio.ensure_future(client.is_closed_by_peer())
        await eventually(lambda: clock.pending_timers > 0)
        assert not closing.done()
        await clock.advance(0.11)
        assert await closing


async def test_a_request_before_the_login_closes_the_connection() -> None:
    async with broker_of("SASL_PLAINTEXT") as broker:
        async with await WireClient.connect(broker.bootstrap_servers) as client:
            client.send(MetadataRequest(topics=[]), 12)
            assert await client.is_closed_by_peer()
        assert broker.requests == []


async def test_users_and_passwords_change_while_it_runs() -> None:
    async with broker_of("SASL_PLAINTEXT") as broker:

        async def outcome(user: str, password: str) -> int:
            async with await WireClient.connect(broker.bootstrap_servers) as client:
                return (await client.log_in(user, password)).error_code

        broker.set_password("alice", "new")
        broker.set_password("bob", "builder")
        assert await outcome("alice", "secret") == SaslAuthenticationFailed.errno
        assert await outcome("alice", "new") == await outcome("bob", "builder") == 0
        broker.remove_user("bob")
        assert await outcome("bob", "builder") == SaslAuthenticationFailed.errno


async def test_an_authentication_can_be_refused_by_the_test() -> None:
    async with broker_of("SASL_PLAINTEXT") as broker:
        broker.faults.fail(SaslAuthenticateRequest, SaslAuthenticationFailed)
        async with await WireClient.connect(broker.bootstrap_servers) as client:
            answer = await client.log_in("alice", "secret")
            assert answer.error_code == SaslAuthenticationFailed.errno
            assert await client.is_closed_by_peer()
        async with await WireClient.connect(broker.bootstrap_servers) as client:
            assert (await client.log_in("alice", "secret")).error_code == 0


async def test_a_new_certificate_shows_in_the_next_handshake() -> None:
    async with broker_of("SSL") as broker:
        broker.present_certificate("expired")
        with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
            await WireClient.connect(broker.bootstrap_servers, broker.ssl_context())
        broker.present_certificate("valid")
        async with await WireClient.connect(
            broker.bootstrap_servers, broker.ssl_context()
        ) as client:
            await client.ask(ApiVersionsRequest())


async def test_a_handshake_can_hang() -> None:
    async with nothing_left_behind(), broker_of("SSL") as broker:
        broker.hang_handshakes()
        connecting = asyncio.ensure_future(
            WireClient.connect(broker.bootstrap_servers, broker.ssl_context())
        )
        await eventually(lambda: bool(broker._servers[0].connections))
        broker.hang_handshakes(hangs=False)
        async with await WireClient.connect(
            broker.bootstrap_servers, broker.ssl_context()
        ) as client:
            await client.ask(ApiVersionsRequest())
        assert not connecting.done()
        broker.drop_connections()
        with pytest.raises(ConnectionError):
            await connecting


async def test_a_client_certificate_is_required_where_the_broker_says_so() -> None:
    async with broker_of("SSL", ssl_client_auth="required") as broker:
        context = broker.ssl_context(broker.client_certificate("alice"))
        async with await WireClient.connect(broker.bootstrap_servers, context) as client:
            await client.ask(ApiVersionsRequest())
            (session,) = sessions_of(broker)
            assert session.principal == "User:CN=alice"
        # With TLS 1.3 the refusal comes with the first read.
        with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
            async with await WireClient.connect(
                broker.bootstrap_servers, broker.ssl_context()
            ) as client:
                await client.ask(ApiVersionsRequest())


def sessions_of(broker: EmbeddedBroker) -> list[Any]:
    """The sessions of the first node's connections, without those that are still in a handshake."""
    connections: list[Any] = list(broker._servers[0].connections)
    return [each._session for each in connections if hasattr(each, "_session")]


async def test_aiokafka_is_refused_by_a_wrong_password() -> None:
    async with broker_of("SASL_SSL") as broker:
        options = {**for_aiokafka(broker, "PLAIN"), "sasl_plain_password": "wrong"}
        producer = AIOKafkaProducer(**options)
        with pytest.raises(KafkaConnectionError):
            await producer.start()
        await producer.stop()


async def test_a_refused_token_takes_two_answers() -> None:
    """First the reason without an error code, and after its confirmation the error (RFC 7628)."""
    async with (
        broker_of("SASL_PLAINTEXT") as broker,
        await WireClient.connect(broker.bootstrap_servers) as client,
    ):
        first = b"n,,\x01auth=Bearer a.b.c\x01\x01"
        answer = await client.authenticate("OAUTHBEARER", first)
        assert (answer.error_code, answer.auth_bytes) == (0, b'{"status":"invalid_token"}')
        refused = await client.ask(SaslAuthenticateRequest(auth_bytes=b"\x01"))
        assert refused.error_code == SaslAuthenticationFailed.errno
        assert refused.error_message == '{"status":"invalid_token"}'
        assert await client.is_closed_by_peer()


async def test_a_token_validator_of_the_test_decides() -> None:
    def validate(token: str) -> dict[str, Any]:
        return {"good": {"sub": "carol"}}[token]

    async with (
        EmbeddedBroker(security="SASL_PLAINTEXT", token_validator=validate) as broker,
        await WireClient.connect(broker.bootstrap_servers) as client,
    ):
        answer = await client.authenticate("OAUTHBEARER", b"n,,\x01auth=Bearer good\x01\x01")
        assert (answer.error_code, answer.auth_bytes) == (0, b"")


async def test_a_session_lasts_as_long_as_the_answer_says() -> None:
    clock = FakeClock()
    async with (
        broker_of("SASL_PLAINTEXT", connections_max_reauth_ms=3000, clock=clock) as broker,
        await WireClient.connect(broker.bootstrap_servers) as client,
    ):
        assert (await client.log_in("alice", "secret")).session_lifetime_ms == 3000
        await clock.advance(2.0)
        assert (await client.log_in("alice", "secret")).session_lifetime_ms == 3000
        refused = await client.ask(SaslHandshakeRequest(mechanism="PLAIN"))
        assert refused.error_code == IllegalSaslStateError.errno
        await clock.advance(3.0)
        await client.ask(MetadataRequest(topics=[]))
        await clock.advance(0.1)
        client.send(MetadataRequest(topics=[]), 12)
        assert await client.is_closed_by_peer()


async def test_tokens_after_an_old_handshake_have_no_header() -> None:
    async with broker_of("SASL_PLAINTEXT") as broker:
        for password, is_good in (("secret", True), ("wrong", False)):
            async with await WireClient.connect(broker.bootstrap_servers) as client:
                await client.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0)
                token = f"\0alice\0{password}".encode()
                client.writer.write(len(token).to_bytes(4, "big") + token)
                if is_good:
                    assert await client.receive_frame() == b""
                    await client.ask(MetadataRequest(topics=[]))
                else:
                    assert await client.is_closed_by_peer()


# Rights…


async def test_rights_are_refused_and_change_while_clients_are_connected() -> None:
    async with broker_of("SASL_SSL", acls=[]) as broker:
        broker.create_topic("t")
        async with AIOKafkaProducer(
            enable_idempotence=False, **for_aiokafka(broker, "PLAIN")
        ) as producer:
            with pytest.raises(TopicAuthorizationFailedError):
                await producer.send_and_wait("t", b"v")
            broker.set_acls([Acl.allow("alice", "WRITE", topic="t")])
            await producer.send_and_wait("t", b"v")
        assert len(broker.log(("t", 0)).records()) == 1


async def test_without_authentication_the_user_is_anonymous() -> None:
    rules = [Acl.allow("ANONYMOUS", "DESCRIBE", topic="t")]
    async with EmbeddedBroker(acls=rules) as broker:
        for name in ("t", "u"):
            broker.create_topic(name)
        async with await WireClient.connect(broker.bootstrap_servers) as client:
            listed = await client.ask(MetadataRequest(topics=None), 12)
            assert [topic.name for topic in listed.topics] == ["t"]


async def test_super_users_may_everything() -> None:
    async with (
        broker_of("SASL_PLAINTEXT", acls=[], super_users=["alice"]) as broker,
        AIOKafkaProducer(**for_aiokafka(broker, "PLAIN")) as producer,
    ):
        await producer.send_and_wait("t", b"v")


async def test_a_client_certificate_has_rights() -> None:
    rules = [Acl.allow("User:CN=alice", "DESCRIBE", topic="t")]
    async with broker_of("SSL", ssl_client_auth="requested", acls=rules) as broker:
        broker.create_topic("t")
        for certificate, names in ((broker.client_certificate("alice"), ["t"]), (None, [])):
            context = broker.ssl_context(certificate)
            async with await WireClient.connect(broker.bootstrap_servers, context) as client:
                listed = await client.ask(MetadataRequest(topics=None), 12)
                assert [topic.name for topic in listed.topics] == names


def test_a_broker_without_rules_takes_none_later() -> None:
    with pytest.raises(IllegalStateError, match="pass acls, at least an empty list"):
        EmbeddedBroker().set_acls([])


def test_a_plain_broker_has_no_certificate() -> None:
    with pytest.raises(IllegalStateError):
        _ = EmbeddedBroker().ca_pem
