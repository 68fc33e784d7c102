"""The ready token providers, with a provider of tokens by HTTP and a real Kafka that checks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaProducer,
    FileTokenProvider,
    JwtBearerTokenProvider,
    OidcTokenProvider,
)
from aiokafka_lite.errors import KafkaError
from tests.support.secured_kafka import OIDC, USER, SecuredKafka, Way
from tests.support.token_issuer import CLIENT_ID, CLIENT_SECRET

WAY = Way(OIDC, "SASL_SSL", "OAUTHBEARER")

pytestmark = [pytest.mark.real_kafka, pytest.mark.asyncio(loop_factories=["asyncio"])]

MakeProvider = Callable[[SecuredKafka, Path], Any]


def by_client_credentials(lab: SecuredKafka, _: Path) -> Any:
    return OidcTokenProvider(lab.issuer.token_url, CLIENT_ID, CLIENT_SECRET)


def by_secret_in_body(lab: SecuredKafka, _: Path) -> Any:
    url = lab.issuer.token_url
    return OidcTokenProvider(url, CLIENT_ID, CLIENT_SECRET, secret_in_body=True)


def by_assertion(lab: SecuredKafka, _: Path) -> Any:
    return JwtBearerTokenProvider(lab.issuer.token_url, lambda: lab.issuer.sign(CLIENT_ID))


def by_file(lab: SecuredKafka, folder: Path) -> Any:
    (folder / "token").write_text(lab.issuer.sign(USER))
    return FileTokenProvider(folder / "token")


@pytest.mark.parametrize("make", [by_client_credentials, by_secret_in_body, by_assertion, by_file])
async def test_a_provider_gets_what_kafka_accepts(
    lab: SecuredKafka, make: MakeProvider, topic_name: str, tmp_path: Path
) -> None:
    issued = lab.issuer.issued
    options = lab.ours(WAY) | {"sasl_oauth_token_provider": make(lab, tmp_path)}
    async with AIOKafkaProducer(**options) as producer:
        assert (await producer.send_and_wait(topic_name, b"x")).offset == 0
    # One token serves all connections of the client.
    assert lab.issuer.issued - issued == (0 if make is by_file else 1)


async def test_a_refused_client_is_told(lab: SecuredKafka) -> None:
    provider = OidcTokenProvider(lab.issuer.token_url, CLIENT_ID, "not-the-one")
    producer = AIOKafkaProducer(**lab.ours(WAY) | {"sasl_oauth_token_provider": provider})
    with pytest.raises(KafkaError, match="invalid_client") as raised:
        await producer.start()
    await producer.stop()
    assert "not-the-one" not in str(raised.value)
