"""No secret of an option stands in a log, a `repr`, an error, statistics or a pickle."""

import base64
import copy
import dataclasses
import gc
import logging
import pickle
import traceback
from collections.abc import Iterator
from typing import Any, Final

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.abc import AbstractTokenProvider
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.net.sasl.credentials import SaslCredentials
from aiokafka_lite.net.sasl.tokens.oidc import OidcTokenProvider
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.token_issuer import CLIENT_ID, TokenIssuer, unsecured_token

SECRET: Final = "open-sesame-4711"
WRONG: Final = "wrong-sesame-0815"
LOGIN: Final = {"security_protocol": "SASL_PLAINTEXT", "sasl_plain_username": "alice"}
HMAC: Final = "b3BlbiBzZXNhbWUgYnkgaG1hYw=="

# A secret does not depend on the event loop.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])


class Token(AbstractTokenProvider):
    """Gives always the same token."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self) -> str:
        """Return it."""
        return self._token


class Audit:
    """Collects what could be read by others, and looks for secrets in it."""

    def __init__(self, log: pytest.LogCaptureFixture) -> None:
        self._log = log
        self.seen: list[str] = []

    def errors(self, error: BaseException) -> None:
        """Note what a traceback shows, also with the locals of each frame of the package."""
        self.seen += [str(error), repr(error), *traceback.format_exception(error)]
        left = [traceback.TracebackException.from_exception(error, capture_locals=True)]
        while left:
            shown = left.pop()
            for frame in shown.stack:
                if "/aiokafka_lite/" in frame.filename:
                    self.seen += [
                        f"{frame.name}: {name}={v}" for name, v in (frame.locals or {}).items()
                    ]
            left += [each for each in (shown.__cause__, shown.__context__) if each is not None]

    def objects(self, root: object) -> int:
        """Note the `repr` of each object of the package that can be reached; return their count."""
        known, left, count = {id(root)}, [root], 0
        while left:
            each = left.pop()
            kind = type(each).__module__
            if kind.startswith("aiokafka_lite") and not kind.startswith("aiokafka_lite.testing"):
                self.seen += [repr(each), str(each)]
                count += 1
            elif not (
                isinstance(each, dict | list | tuple | set | frozenset)
                or hasattr(each, "__self__")
                or hasattr(each, "__closure__")
            ):
                continue
            if isinstance(each, type):
                continue
            for held in gc.get_referents(each):
                if id(held) not in known:
                    known.add(id(held))
                    left.append(held)
        return count

    def check(self, *secrets: str) -> None:
        """Fail if one of the secrets stands anywhere."""
        texts = [*self.seen, *(record.getMessage() for record in self._log.records)]
        texts += [str(record.exc_text) for record in self._log.records]
        texts.append(self._log.text)
        assert len(texts) > 3
        for secret in secrets:
            forms = (secret, secret[4:], base64.b64encode(secret.encode()).decode())
            for form in forms:
                leaks = [text for text in texts if form in text]
                assert not leaks, f"{form!r} stands in {leaks[0]!r}"


@pytest.fixture
def audit(caplog: pytest.LogCaptureFixture) -> Iterator[Audit]:
    """An audit of all logs."""
    with caplog.at_level(logging.DEBUG):
        yield Audit(caplog)


async def use(audit: Audit, broker: EmbeddedBroker, options: dict[str, Any]) -> list[KafkaError]:
    """Run each kind of client with these options, through a lost connection where they come so far;
    return what they raised.
    """
    given = {"bootstrap_servers": broker.bootstrap_servers, "request_timeout_ms": 3000, **options}
    raised: list[KafkaError] = []
    for transactional_id in (None, "tx"):
        producer = AIOKafkaProducer(transactional_id=transactional_id, **given)
        try:
            await producer.start()
            if transactional_id is not None:
                await producer.begin_transaction()
            broker.faults.cut(ApiKey.PRODUCE)
            await producer.send_and_wait("t", b"x")
            if transactional_id is not None:
                await producer.commit_transaction()
        except KafkaError as error:
            raised.append(error)
            audit.errors(error)
        broker.faults.clear()
        audit.seen += [repr(producer), repr(producer.statistics())]
        assert audit.objects(producer) > 5
        await producer.stop()
    consumer = AIOKafkaConsumer("t", group_id="g", auto_offset_reset="earliest", **given)
    try:
        await consumer.start()
        broker.faults.cut(ApiKey.FETCH)
        await consumer.getone()
        await consumer.commit()
    except KafkaError as error:
        raised.append(error)
        audit.errors(error)
    broker.faults.clear()
    audit.seen += [repr(consumer), repr(consumer.statistics())]
    assert audit.objects(consumer) > 5
    await consumer.stop()
    return raised


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("is_provided", [False, True], ids=["option", "provider"])
async def test_a_password_is_never_shown(
    audit: Audit, mechanism: str, *, is_provided: bool
) -> None:
    async with EmbeddedBroker(
        security="SASL_PLAINTEXT", users={"alice": SECRET}, mechanisms=[mechanism]
    ) as broker:
        broker.create_topic("t", 1)
        for password, failures in ((SECRET, 0), (WRONG, 3)):
            login: dict[str, Any] = {
                "sasl_plain_username": "alice",
                "sasl_plain_password": password,
            }
            if is_provided:
                credentials = SaslCredentials("alice", password)
                login = {"credentials_provider": lambda given=credentials: given}
            options = {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": mechanism, **login}
            assert len(await use(audit, broker, options)) == failures
        options |= {"socket_connection_setup_timeout_ms": 200, "request_timeout_ms": 400}
        for hurt in (broker.faults.cut, broker.faults.stall):
            hurt(ApiKey.SASL_AUTHENTICATE, times=None)
            producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, **options)
            with pytest.raises(KafkaError) as lost:
                await producer.start()
            audit.errors(lost.value)
            broker.faults.clear()
            await producer.stop()
    audit.check(SECRET, WRONG)


async def test_the_hmac_of_a_delegation_token_is_never_shown(audit: Audit) -> None:
    async with EmbeddedBroker(security="SASL_PLAINTEXT", users={"alice": SECRET}) as broker:
        options = {
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "SCRAM-SHA-256",
            "sasl_scram_tokenauth": True,
            "sasl_plain_username": "token-id",
            "sasl_plain_password": HMAC,
        }
        assert len(await use(audit, broker, options)) == 3
    audit.check(HMAC)


async def test_a_token_is_never_shown(audit: Audit) -> None:
    async with EmbeddedBroker(
        security="SASL_PLAINTEXT", users={"alice": SECRET}, mechanisms=["OAUTHBEARER"]
    ) as broker:
        broker.create_topic("t", 1)
        good, expired = unsecured_token("alice"), unsecured_token("alice", -60)
        for token, failures in ((good, 0), (expired, 3), (f"{good}\x01{SECRET}", 3)):
            options = {
                "security_protocol": "SASL_PLAINTEXT",
                "sasl_mechanism": "OAUTHBEARER",
                "sasl_oauth_token_provider": Token(token),
            }
            assert len(await use(audit, broker, options)) == failures
    audit.check(SECRET, good, expired)


@pytest.mark.parametrize("in_body", [False, True])
async def test_a_client_secret_is_never_shown(audit: Audit, *, in_body: bool) -> None:
    async with EmbeddedBroker(
        security="SASL_PLAINTEXT", users={"alice": SECRET}, mechanisms=["OAUTHBEARER"]
    ) as broker:
        with TokenIssuer() as issuer:
            provider = OidcTokenProvider(issuer.token_url, CLIENT_ID, WRONG, secret_in_body=in_body)
            options = {
                "security_protocol": "SASL_PLAINTEXT",
                "sasl_mechanism": "OAUTHBEARER",
                "sasl_oauth_token_provider": provider,
            }
            assert len(await use(audit, broker, options)) == 3
            audit.seen += [repr(provider), repr(vars(provider))]
    audit.check(WRONG, f"{CLIENT_ID}:{WRONG}")


async def test_a_private_key_is_never_shown(audit: Audit) -> None:
    async with EmbeddedBroker(security="SSL", ssl_client_auth="required") as broker:
        broker.create_topic("t", 1)
        for kind, failures in (("valid", 0), ("unknown_ca", 3)):
            shown = broker.client_certificate("alice", kind)
            options = {
                "security_protocol": "SSL",
                "ssl_cadata": broker.ca_pem,
                "ssl_certfile": shown.certificate_pem + shown.key_pem,
                "ssl_password": SECRET,
            }
            assert len(await use(audit, broker, options)) == failures
            lines = shown.key_pem.splitlines()[1:-1]
            audit.check(SECRET, *lines)
            for wrong in ("\n".join(lines), shown.key_pem, shown.key_pem[:90]):
                changed: dict[str, Any] = {**options, "ssl_certfile": wrong}
                with pytest.raises(KafkaError) as refused:
                    AIOKafkaProducer(**changed)
                audit.errors(refused.value)
            audit.check(SECRET, *lines[1:])


MISTAKES: Final[dict[str, dict[str, Any]]] = {
    "an unknown name": {"sasl_plain_pasword": SECRET},
    "Java's name": {"sasl_jaas_config": f'PlainLoginModule required password="{SECRET}";'},
    "the wrong protocol": {"sasl_plain_password": SECRET, "ssl_password": SECRET.encode()},
    "another wrong option": {**LOGIN, "sasl_plain_password": SECRET, "request_timeout_ms": -1},
    "no text": {**LOGIN, "sasl_plain_password": f"{SECRET}\0"},
    "no Unicode": {**LOGIN, "sasl_plain_password": f"{SECRET}\ud800"},
    "no name": {**LOGIN, "sasl_plain_password": SECRET, "sasl_plain_username": 7},
    "no certificate": {"security_protocol": "SSL", "ssl_password": SECRET, "ssl_certfile": 7},
}


@pytest.mark.parametrize("client", [AIOKafkaProducer, AIOKafkaConsumer])
@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_refused_constructor_shows_no_secret(
    audit: Audit, client: type[Any], mistake: str
) -> None:
    with pytest.raises((KafkaError, TypeError)) as refused:
        client(**MISTAKES[mistake])
    audit.errors(refused.value)
    audit.check(SECRET)


@pytest.mark.parametrize("config", [ProducerConfig, ConsumerConfig])
async def test_a_config_is_neither_shown_nor_pickled(config: type) -> None:
    made = config(
        security_protocol="SASL_PLAINTEXT",
        sasl_plain_username="alice",
        sasl_plain_password=SECRET,
    )
    shown = [repr(made), str(made), repr(dataclasses.asdict(made)), repr(dataclasses.astuple(made))]
    shown += [repr(copy.copy(made)), repr(copy.deepcopy(made)), repr(dataclasses.replace(made))]
    assert SECRET not in "".join(shown)
    with pytest.raises(TypeError, match="a Secret is not pickled"):
        pickle.dumps(made)
    with pytest.raises(KafkaError) as refused:
        config(sasl_plain_username="alice", sasl_plain_password=SECRET, request_timeout_ms=-1)
    assert SECRET not in str(refused.value)
