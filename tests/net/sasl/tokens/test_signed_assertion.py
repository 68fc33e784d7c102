"""Assertions that the client signs itself: claims, algorithms, keys that cannot be used."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from aiokafka_lite.errors import AuthenticationFailedError, KafkaConfigurationError
from aiokafka_lite.net.sasl.tokens.jwt_bearer import JwtBearerTokenProvider
from aiokafka_lite.net.sasl.tokens.signed_assertion import SignedAssertion
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.support.token_issuer import TokenIssuer

RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def pem(key: Any, password: bytes | None = None) -> str:
    locked = NoEncryption() if password is None else BestAvailableEncryption(password)
    data: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, locked)
    return data.decode()


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


async def parts(assertion: SignedAssertion) -> tuple[dict[str, Any], dict[str, Any], bytes, bytes]:
    """Return header, claims, what was signed, and the signature."""
    header, claims, signature = (await assertion()).split(".")
    signed = f"{header}.{claims}".encode()
    return json.loads(decoded(header)), json.loads(decoded(claims)), signed, decoded(signature)


async def test_the_claims_are_signed_with_rs256() -> None:
    clock = FakeClock()
    now_s = int(clock.time())
    assertion = SignedAssertion(
        pem(RSA_KEY),
        issuer="me",
        subject="alice",
        audience="https://a/t",
        key_id="k-1",
        claims={"tenant": 7},
        clock=clock,
    )
    header, claims, signed, signature = await parts(assertion)
    assert header == {"alg": "RS256", "typ": "JWT", "kid": "k-1"}
    assert claims == {
        "iss": "me",
        "sub": "alice",
        "aud": "https://a/t",
        "tenant": 7,
        "iat": now_s,
        "nbf": now_s - 60,
        "exp": now_s + 300,
    }
    RSA_KEY.public_key().verify(signature, signed, padding.PKCS1v15(), hashes.SHA256())


async def test_es256_has_the_two_numbers_of_the_signature() -> None:
    assertion = SignedAssertion(pem(EC_KEY, b"word"), algorithm="ES256", password="word")
    _, _, signed, signature = await parts(assertion)
    assert len(signature) == 64
    der = encode_dss_signature(int.from_bytes(signature[:32]), int.from_bytes(signature[32:]))
    EC_KEY.public_key().verify(der, signed, ec.ECDSA(hashes.SHA256()))


async def test_each_assertion_may_have_its_own_id() -> None:
    assertion = SignedAssertion(pem(RSA_KEY), has_id=True)
    assert (await parts(assertion))[1]["jti"] != (await parts(assertion))[1]["jti"]


async def test_a_key_file_is_read_for_each_assertion(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_text(pem(EC_KEY))
    assertion = SignedAssertion(str(path))
    with pytest.raises(AuthenticationFailedError, match=r"key\.pem is no key for RS256; give an R"):
        await assertion()
    path.write_text(pem(RSA_KEY))
    assert (await assertion()).count(".") == 2
    path.unlink()
    with pytest.raises(AuthenticationFailedError, match=r"key\.pem cannot be read: No such file"):
        await SignedAssertion(path)()


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("-----BEGIN PRIVATE KEY-----\nopen-sesame\n-----END PRIVATE KEY-----\n", {}),
        (pem(RSA_KEY, b"open-sesame"), {}),
        (pem(RSA_KEY, b"open-sesame"), {"password": "hunter2"}),
        (pem(RSA_KEY), {"algorithm": "ES256"}),
        (pem(ec.generate_private_key(ec.SECP384R1())), {"algorithm": "ES256"}),
    ],
    ids=["no key", "locked", "wrong password", "RSA for ES256", "P-384 for ES256"],
)
async def test_a_key_that_cannot_be_used_is_not_shown(key: str, options: dict[str, Any]) -> None:
    with pytest.raises(AuthenticationFailedError, match=r"the private key (cannot|is)") as raised:
        await SignedAssertion(key, **options)()
    text = str(raised.value)
    assert not any(line in text for line in (*key.splitlines()[1:-1], "sesame", "hunter2"))


def test_another_algorithm_is_refused() -> None:
    wrong: Any = "none"
    with pytest.raises(KafkaConfigurationError, match="algorithm='none' is not one of RS256, ES25"):
        SignedAssertion("key.pem", algorithm=wrong)


async def test_a_provider_of_tokens_takes_a_signed_assertion() -> None:
    with TokenIssuer() as issuer:
        issuer.accept_assertions_of(RSA_KEY.public_key())
        good = SignedAssertion(pem(RSA_KEY), subject="alice", audience=issuer.token_url)
        assert await JwtBearerTokenProvider(issuer.token_url, good).token()
        other = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        forged = SignedAssertion(pem(other), subject="alice", audience=issuer.token_url)
        with pytest.raises(AuthenticationFailedError, match="invalid_grant"):
            await JwtBearerTokenProvider(issuer.token_url, forged).token()
