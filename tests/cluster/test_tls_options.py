"""The options of TLS: which go together, what each mistake is told, and what stays hidden."""

import asyncio
import pickle
import ssl
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.errors import KafkaConfigurationError
from tests.support.certificates import PASSWORD, Authority, Issued


@pytest.fixture(scope="module")
def client() -> Issued:
    return Authority().issue("client@example.org")


async def context_of(config: ClientConfig) -> ssl.SSLContext:
    next_context = config.security().next_tls_context
    assert next_context is not None
    return await next_context()


def test_plaintext_is_not_encrypted() -> None:
    assert ClientConfig().security().next_tls_context is None


async def test_a_context_of_the_user_is_used_as_it_is() -> None:
    given = ssl.create_default_context()
    config = ClientConfig(security_protocol="SSL", ssl_context=given)
    assert await context_of(config) is given


async def test_options_make_a_context(client: Issued) -> None:
    config = ClientConfig(
        security_protocol="SSL",
        ssl_cafile=client.authority.pem,
        ssl_certfile=client.certificate_pem,
        ssl_keyfile=client.encrypted_key_pem,
        ssl_password=PASSWORD,
        ssl_check_hostname=False,
        ssl_ciphers="ECDHE+AESGCM",
    )
    context = await context_of(config)
    assert len(context.get_ca_certs()) == 1
    assert not context.check_hostname


async def test_ssl_alone_trusts_the_authorities_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """aiokafka asks for a context here; Java and this client have a default."""
    monkeypatch.setenv("SSL_CERT_FILE", str(Authority().write(tmp_path / "system.pem")))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    context = await context_of(ClientConfig(security_protocol="SSL"))
    assert len(context.get_ca_certs()) == 1
    assert context.check_hostname


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ssl_cafile": "ca.pem"}, "ssl_cafile has no effect with security_protocol='PLAINTEXT'"),
        (
            {"ssl_context": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)},
            "ssl_context has no effect with security_protocol='PLAINTEXT', the default; set that",
        ),
        ({"ssl_check_hostname": False}, "ssl_check_hostname has no effect"),
        (
            {
                "security_protocol": "SSL",
                "ssl_context": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
                "ssl_cafile": "ca.pem",
            },
            "ssl_cafile contradicts ssl_context; set it in the context, or set only one",
        ),
        ({"security_protocol": "SSL", "ssl_cafile": "/no/ca.pem"}, "ssl_cafile='/no/ca.pem' can"),
        ({"security_protocol": "SSL", "ssl_cafile": 5}, "ssl_cafile is of type int; set it to PEM"),
        ({"security_protocol": "SSL", "ssl_context": "ca"}, "ssl_context is of type str; set it"),
        (
            {"security_protocol": "SSL", "ssl_check_hostname": None},
            "ssl_check_hostname is of type NoneType; set it to True or False",
        ),
        (
            {"security_protocol": "SSL", "ssl_keyfile": "/no/key.pem"},
            "ssl_keyfile has no effect without ssl_certfile",
        ),
        ({"security_protocol": "TLS"}, "`security_protocol` should be SSL or PLAINTEXT"),
    ],
)
@pytest.mark.parametrize("client_class", [AIOKafkaConsumer, AIOKafkaProducer])
def test_a_mistake_is_told_at_construction(
    client_class: Any, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        client_class(**options)
    assert sentence in str(caught.value)
    assert PASSWORD not in str(caught.value)


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SASL_PLAINTEXT"])
def test_options_of_tls_beside_a_protocol_that_was_named_have_no_effect(protocol: Any) -> None:
    """As settings have them that differ by the protocol alone."""
    named: dict[str, Any] = {"sasl_plain_username": "ann", "sasl_plain_password": PASSWORD}
    config = ClientConfig(
        security_protocol=protocol,
        ssl_context=ssl.create_default_context(),
        ssl_password=PASSWORD,
        ssl_check_hostname=False,
        **named,
    )
    assert config.next_tls_context() is None


def test_keys_and_passwords_do_not_stand_in_texts_nor_pickles(client: Issued) -> None:
    together = client.certificate_pem + client.encrypted_key_pem
    config = ClientConfig(security_protocol="SSL", ssl_certfile=together, ssl_password=PASSWORD)
    shown = f"{config!r} {config.security()!r} {config.ssl_certfile!s} {config.ssl_password!r}"
    assert "PRIVATE" not in shown
    assert PASSWORD not in shown
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(config)
    asyncio.run(context_of(config))
