"""SCRAM-SHA-256 and SCRAM-SHA-512: both sides prove that they know the password, unseen.

User names and passwords are raw UTF-8. Kafka's brokers and tools do no SASLprep, so a client that
normalised would lock out users. Source: RFC 5802, RFC 7677, KIP-48 (delegation tokens).
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import os
import re
from collections.abc import Callable
from typing import Final, Literal, NamedTuple

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import SaslAuthenticationFailed
from aiokafka_lite.net.sasl.credentials import (
    CredentialsProvider,
    SaslCredentials,
    present_credentials,
)
from aiokafka_lite.net.sasl.mechanism import SaslExchange
from aiokafka_lite.net.security import PROVIDER_TIMEOUT_MS
from aiokafka_lite.secret import Secret

ScramName = Literal["SCRAM-SHA-256", "SCRAM-SHA-512"]

MIN_ITERATIONS: Final = 4_096
"""Fewer make the password easy to guess for a false node. Source: Kafka's ScramMechanism."""
MAX_ITERATIONS: Final = 16_384
"""More than brokers store by their tools cost this machine's time. Source: Kafka's ScramFormatter.
"""

_HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
_GS2_HEADER: Final = "n,,"  # without channel binding and authorization identity
_MOST_BYTES: Final = 4_096
_SERVER_FIRST: Final = re.compile(
    r"r=(?P<nonce>[\x21-\x2b\x2d-\x7e]+),s=(?P<salt>[A-Za-z0-9+/=]+)"
    r",i=(?P<iterations>[0-9]{1,9})(?:,.*)?",
    re.DOTALL,
)
_SERVER_FINAL: Final = re.compile(
    r"(?:e=(?P<error>[^,]+)|v=(?P<signature>[A-Za-z0-9+/=]+))(?:,.*)?", re.DOTALL
)


def new_nonce() -> str:
    """Return 192 random bits as text."""
    return base64.b64encode(os.urandom(24)).decode()


class ScramMechanism:
    """SCRAM with these credentials, or with those of a provider.

    With `is_delegation_token` they are the id and the HMAC of a delegation token (KIP-48).
    """

    def __init__(
        self,
        name: ScramName,
        credentials: SaslCredentials | CredentialsProvider,
        *,
        is_delegation_token: bool = False,
        max_iterations: int = MAX_ITERATIONS,
        make_nonce: Callable[[], str] = new_nonce,
        provider_timeout_ms: float = PROVIDER_TIMEOUT_MS,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self.name = name
        self._credentials = credentials
        self._is_delegation_token = is_delegation_token
        self._max_iterations = max_iterations
        self._make_nonce = make_nonce
        self._provider_timeout_ms = provider_timeout_ms
        self._clock = clock

    def exchange(self, host: str) -> SaslExchange:  # noqa: ARG002  the same for every node
        """Send two tokens, and check the node's proof. The hash of the password is computed in a
        thread."""
        user = yield from present_credentials(
            self._credentials, self._provider_timeout_ms, self._clock
        )
        nonce = self._make_nonce()
        first_bare = f"n={escaped(user.username)},r={nonce}"
        if self._is_delegation_token:
            first_bare += ",tokenauth=true"
        server_first = yield (_GS2_HEADER + first_bare).encode()
        challenge = read_server_first(server_first, nonce, self._max_iterations)
        hash_name = _HASHES[self.name]
        salted_password = yield asyncio.to_thread(
            salted, hash_name, user.password, challenge.salt, challenge.iterations
        )
        binding = base64.b64encode(_GS2_HEADER.encode()).decode()
        final_bare = f"c={binding},r={challenge.nonce}"
        signed = b",".join((first_bare.encode(), server_first, final_bare.encode()))
        proof = client_proof(hash_name, salted_password, signed)
        server_final = yield f"{final_bare},p={base64.b64encode(proof).decode()}".encode()
        expected = server_signature(hash_name, salted_password, signed)
        check_server_final(server_final, expected)


class ServerFirst(NamedTuple):
    """The node's first message."""

    nonce: str
    salt: bytes
    iterations: int


def escaped(username: str) -> str:
    """Return a user name as SCRAM's messages carry it. Source: RFC 5802, section 5.1."""
    return username.replace("=", "=3D").replace(",", "=2C")


def read_server_first(message: bytes, nonce: str, max_iterations: int) -> ServerFirst:
    """Return the node's first message, once it has passed all checks.

    Raises: SaslAuthenticationFailed if it cannot be read; if its nonce does not begin with the
    client's and go on; if its iterations are outside of `MIN_ITERATIONS` to `max_iterations`.
    """
    found = _SERVER_FIRST.fullmatch(_text(message))
    if found is None:
        raise SaslAuthenticationFailed(
            f"the node's first SCRAM message is wrong: {_shown(message)}"
        )
    if not found["nonce"].startswith(nonce) or len(found["nonce"]) == len(nonce):
        raise SaslAuthenticationFailed(
            "the node's nonce does not continue the client's; another party may have answered"
        )
    iterations = int(found["iterations"])
    if iterations < MIN_ITERATIONS:
        raise SaslAuthenticationFailed(
            f"the node asks for {iterations} iterations, below the limit of {MIN_ITERATIONS}; a"
            " password sent so could be guessed. Set the user's credentials again with more"
            " iterations"
        )
    if iterations > max_iterations:
        raise SaslAuthenticationFailed(
            f"the node asks for {iterations} iterations, above the limit of {max_iterations}; raise"
            " sasl_scram_max_iterations if the cluster really uses so many"
        )
    return ServerFirst(found["nonce"], _decoded(found["salt"], message), iterations)


def check_server_final(message: bytes, expected_signature: bytes) -> None:
    """Return if the node has proved that it knows the user's credentials.

    Raises: SaslAuthenticationFailed if the node sent an error, a wrong signature or neither.
    """
    found = _SERVER_FINAL.fullmatch(_text(message))
    if found is None:
        raise SaslAuthenticationFailed(f"the node's last SCRAM message is wrong: {_shown(message)}")
    if found["error"] is not None:
        raise SaslAuthenticationFailed(f"the node refused: {quoted(found['error'][:200])}")
    if not hmac.compare_digest(_decoded(found["signature"], message), expected_signature):
        raise SaslAuthenticationFailed(
            "the node's signature is wrong: it does not know the user's credentials, so it may not"
            " be the node that it claims to be"
        )


def salted(hash_name: str, password: Secret, salt: bytes, iterations: int) -> Secret:
    """Return the hash that stands for the password in the proofs. It takes some milliseconds.
    Source: RFC 5802, section 2.2 (Hi)."""
    return Secret(hashlib.pbkdf2_hmac(hash_name, password.reveal_bytes(), salt, iterations))


def client_proof(hash_name: str, salted_password: Secret, signed: bytes) -> bytes:
    """Return the proof that the client knows the password. Source: RFC 5802, section 3."""
    client_key = hmac.digest(salted_password.reveal_bytes(), b"Client Key", hash_name)
    stored_key = hashlib.new(hash_name, client_key).digest()
    signature = hmac.digest(stored_key, signed, hash_name)
    return bytes(a ^ b for a, b in zip(client_key, signature, strict=True))


def server_signature(hash_name: str, salted_password: Secret, signed: bytes) -> bytes:
    """Return what proves that the node knows the credentials. Source: RFC 5802, section 3."""
    server_key = hmac.digest(salted_password.reveal_bytes(), b"Server Key", hash_name)
    return hmac.digest(server_key, signed, hash_name)


def _text(message: bytes) -> str:
    return message.decode("utf-8", "replace") if len(message) <= _MOST_BYTES else ""


def _decoded(text: str, message: bytes) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise SaslAuthenticationFailed(
            f"a SCRAM message of the node has wrong base64: {_shown(message)}"
        ) from error


def _shown(message: bytes) -> str:
    """Describe a message of a node, which may be hostile, by its size alone."""
    return f"{len(message)} bytes that RFC 5802 does not allow"


__all__ = [
    "MAX_ITERATIONS",
    "MIN_ITERATIONS",
    "ScramMechanism",
    "ScramName",
    "ServerFirst",
    "check_server_final",
    "client_proof",
    "escaped",
    "new_nonce",
    "read_server_first",
    "salted",
    "server_signature",
]
