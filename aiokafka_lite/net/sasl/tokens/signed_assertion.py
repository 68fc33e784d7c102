"""Signs who the client is, with its private key: an assertion for `JwtBearerTokenProvider`.

Needs cryptography, which the extra `oauth` brings. It reads the key and signs in a thread.
Source: RFC 7515, RFC 7519, RFC 7523; KIP-1139, whose names and defaults the parameters have.
"""

import asyncio
import base64
import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import AuthenticationFailedError, KafkaConfigurationError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.options.secret_options import may_be_path
from aiokafka_lite.secret import Secret, SecretValue

AssertionAlgorithm = Literal["RS256", "ES256"]
LIFETIME_S: Final = 300
NOT_BEFORE_S: Final = 60
_P256_BYTES: Final = 32


class SignedAssertion:
    """Gives a new assertion at each call, as `JwtBearerTokenProvider` asks for it."""

    def __init__(
        self,
        private_key: SecretValue | os.PathLike[str],
        *,
        algorithm: AssertionAlgorithm = "RS256",
        password: SecretValue | None = None,
        issuer: str | None = None,
        subject: str | None = None,
        audience: str | None = None,
        lifetime_s: float = LIFETIME_S,
        not_before_s: float = NOT_BEFORE_S,
        has_id: bool = False,
        key_id: str | None = None,
        claims: Mapping[str, Any] | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        """`private_key` is PEM: the text, or the path of a file, which is read for each assertion.
        `password` opens an encrypted key.

        `issuer`, `subject` and `audience` are the claims iss, sub and aud. The assertion is valid
        from `not_before_s` before now until `lifetime_s` after now. With `has_id` each has another
        jti. `key_id` names the key in the header (kid). `claims` are further ones.

        Raises: KafkaConfigurationError for an algorithm that is not known.
        """
        if algorithm not in get_args(AssertionAlgorithm):
            names = ", ".join(get_args(AssertionAlgorithm))
            raise KafkaConfigurationError(f"algorithm={quoted(algorithm)} is not one of {names}")
        self._key = _hidden_key(private_key)
        self._password = None if password is None else Secret(password)
        self._header = {"alg": algorithm, "typ": "JWT"}
        if key_id is not None:
            self._header["kid"] = key_id
        named = {"iss": issuer, "sub": subject, "aud": audience}
        self._claims = {name: text for name, text in named.items() if text is not None}
        self._claims |= dict(claims or {})
        self._lifetime_s = lifetime_s
        self._not_before_s = not_before_s
        self._has_id = has_id
        self._clock = clock

    async def __call__(self) -> str:
        """Return a new assertion.

        Raises: AuthenticationFailedError if the key cannot be read or used;
        KafkaConfigurationError without cryptography.
        """
        return (await asyncio.to_thread(self._signed)).reveal_text()

    def _signed(self) -> Secret:
        parts = (_base64(json.dumps(part).encode()) for part in (self._header, self._present()))
        text = ".".join(parts)
        return Secret(f"{text}.{_base64(self._signature(text.encode()))}")

    def _present(self) -> dict[str, Any]:
        now_s = int(self._clock.time())
        times = {
            "iat": now_s,
            "nbf": int(now_s - self._not_before_s),
            "exp": int(now_s + self._lifetime_s),
        }
        ids = {"jti": str(uuid.uuid4())} if self._has_id else {}
        return {**times, **ids, **self._claims}

    def _signature(self, data: bytes) -> bytes:
        key = self._loaded()
        try:
            from cryptography.hazmat.primitives import hashes  # noqa: PLC0415
            from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa  # noqa: PLC0415
            from cryptography.hazmat.primitives.asymmetric.utils import (  # noqa: PLC0415
                decode_dss_signature,
            )
        except ImportError as error:
            raise _missing(error) from error
        if self._header["alg"] == "RS256" and isinstance(key, rsa.RSAPrivateKey):
            return key.sign(data, padding.PKCS1v15(), hashes.SHA256())
        is_p256 = isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == "secp256r1"
        if self._header["alg"] == "ES256" and is_p256:
            r, s = decode_dss_signature(key.sign(data, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(_P256_BYTES) + s.to_bytes(_P256_BYTES)
        wanted = "an RSA key" if self._header["alg"] == "RS256" else "an elliptic key on P-256"
        raise AuthenticationFailedError(
            f"{self._name} is no key for {self._header['alg']}; give {wanted}, or another algorithm"
        )

    def _loaded(self) -> Any:
        try:
            from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415
                load_pem_private_key,
            )
        except ImportError as error:
            raise _missing(error) from error
        password = self._password
        try:
            return load_pem_private_key(
                self._content().reveal_bytes(),
                None if password is None else password.reveal_bytes(),
            )
        except (ValueError, TypeError) as error:
            raise AuthenticationFailedError(
                f"{self._name} cannot be used ({reason_of(error)}); check the PEM and its password"
            ) from None

    def _content(self) -> Secret:
        if isinstance(self._key, Secret):
            return self._key
        try:
            return Secret(self._key.read_bytes())
        except OSError as error:
            raise AuthenticationFailedError(
                f"{self._name} cannot be read: {error.strerror}; check the path"
            ) from error

    @property
    def _name(self) -> str:
        return "the private key" if isinstance(self._key, Secret) else f"the key file {self._key}"


def _hidden_key(given: SecretValue | os.PathLike[str]) -> Secret | Path:
    if isinstance(given, os.PathLike):
        return Path(given)
    key = Secret(given)
    return Path(key.reveal_text()) if may_be_path(key.reveal_text()) else key


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _missing(error: ImportError) -> KafkaConfigurationError:
    return KafkaConfigurationError(
        f"SignedAssertion needs cryptography: pip install 'aiokafka-lite[oauth]' ({error})"
    )


__all__ = ["LIFETIME_S", "NOT_BEFORE_S", "AssertionAlgorithm", "SignedAssertion"]
