"""The grant jwt-bearer from Java's properties."""

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.security_properties import client_options
from aiokafka_lite.net.sasl.tokens.jwt_bearer import JwtBearerTokenProvider
from aiokafka_lite.secret import Secret
from tests.support.token_issuer import TokenIssuer

RETRIEVER = "org.apache.kafka.common.security.oauthbearer.JwtBearerJwtRetriever"


def provider_of(url: str, **assertion: str) -> JwtBearerTokenProvider:
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.oauthbearer.jwt.retriever.class": RETRIEVER,
    }
    for name, value in assertion.items():
        properties[f"sasl.oauthbearer.assertion.{name.replace('_', '.')}"] = value
    options = client_options({name: Secret(value) for name, value in properties.items()})
    provider = options["sasl_oauth_token_provider"]
    assert isinstance(provider, JwtBearerTokenProvider)
    return provider


async def test_a_private_key_signs_the_claims(tmp_path: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    path = tmp_path / "key.pem"
    locked = BestAvailableEncryption(b"word")
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked))
    with TokenIssuer() as issuer:
        issuer.accept_assertions_of(key.public_key())
        provider = provider_of(
            issuer.token_url,
            private_key_file=str(path),
            private_key_passphrase="word",
            algorithm="RS256",
            claim_iss="me",
            claim_sub="alice",
            claim_aud="you",
            claim_exp_seconds="100",
            claim_nbf_seconds="5",
            claim_jti_include="true",
        )
        assert await provider.token()
        payload = issuer.assertions[0].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    assert (claims["iss"], claims["sub"], claims["aud"]) == ("me", "alice", "you")
    assert (claims["exp"] - claims["iat"], claims["iat"] - claims["nbf"]) == (100, 5)
    assert claims["jti"]


async def test_a_file_has_an_assertion_of_another_party(tmp_path: Path) -> None:
    path = tmp_path / "assertion"
    with TokenIssuer() as issuer:
        path.write_text(issuer.sign("alice"))
        assert await provider_of(issuer.token_url, file=str(path)).token()
        assert issuer.assertions == [path.read_text()]


@pytest.mark.parametrize(
    ("assertion", "says"),
    [
        ({}, "needs an assertion; set sasl.oauthbearer.assertion.file or"),
        (
            {"private_key_file": "k", "claim_exp_seconds": "soon"},
            "assertion.claim.exp.seconds='soon' is no number of seconds",
        ),
        ({"private_key_file": "k", "algorithm": "HS256"}, "algorithm='HS256' is not one of RS256"),
        (
            {"private_key_file": "k", "template_file": "t"},
            "sasl.oauthbearer.assertion.template.file is not supported",
        ),
    ],
)
def test_what_cannot_be_kept_is_a_fault(assertion: dict[str, str], says: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=says):
        provider_of("https://a/t", **assertion)


def test_another_retriever_is_named() -> None:
    properties = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.token.endpoint.url": "https://a/t",
        "sasl.oauthbearer.jwt.retriever.class": "com.example.Mine",
    }
    with pytest.raises(KafkaConfigurationError, match=r"'com\.example\.Mine' is not known"):
        client_options({name: Secret(value) for name, value in properties.items()})
