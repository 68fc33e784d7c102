"""The broker's side of SASL SCRAM, with delegation tokens. Source: RFC 5802, ScramSaslServer.

The formulas stand here a second time, apart from the client's, so that each checks the other. The
one rule Apache Kafka leaves out: the channel binding must repeat the header of the first message.
Does not wait.
"""

import hashlib
import hmac
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple, Self

from aiokafka_lite.testing.broker.security.mechanism import (
    Accepted,
    Exchange,
    LoginRefusedError,
    SaslFormatError,
)

HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
ITERATIONS = 4096
"""The least that Apache Kafka allows, and its default."""

_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_VALUE = r"[\x01-\x2b\x2d-\x7f]+"
_NONCE = r"[\x21-\x2b\x2d-\x7e]+"
_EXTENSIONS = rf"(?:,[A-Za-z]+={_VALUE})*"
_FIRST = re.compile(
    rf"(?P<header>n,(?:a=(?P<authzid>{_NAME}))?,)"
    rf"(?P<bare>n=(?P<name>{_NAME}),r=(?P<nonce>{_NONCE})(?P<extensions>{_EXTENSIONS}))"
)
_BASE64 = r"[A-Za-z0-9+/]+=*"
_FINAL = re.compile(
    rf"(?P<bare>c=(?P<binding>{_BASE64}),r=(?P<nonce>{_NONCE}){_EXTENSIONS}),p=(?P<proof>{_BASE64})"
)


class BrokerToken(NamedTuple):
    """A delegation token that stands for its owner (KIP-48): of the broker's options, or made."""

    owner: str
    hmac: str
    """What the client uses as its password: base64, in Apache Kafka."""


FindToken = Callable[[str], tuple[BrokerToken, int | None] | None]
"""Returns a token by its id, and its end in milliseconds since 1970, None for never."""


class ScramCredential:
    """What a broker keeps of a password, for one hash. The keys are made at the first use."""

    def __init__(self, hash_name: str, password: str) -> None:
        self.hash_name = hash_name
        self.salt = secrets.token_bytes(16)
        self.iterations = ITERATIONS
        self._password = password.encode()

    @classmethod
    def of_salted(cls, hash_name: str, salted: bytes, salt: bytes, iterations: int) -> Self:
        """Return what a client has hashed."""
        made = cls(hash_name, "")
        made.salt, made.iterations = salt, iterations
        made._salted = salted
        return made

    @cached_property
    def _salted(self) -> bytes:
        return hashlib.pbkdf2_hmac(self.hash_name, self._password, self.salt, self.iterations)

    @cached_property
    def stored_key(self) -> bytes:
        """H(client key)."""
        return hashlib.new(self.hash_name, self.sign(self._salted, b"Client Key")).digest()

    @cached_property
    def server_key(self) -> bytes:
        """What the broker proves itself with."""
        return self.sign(self._salted, b"Server Key")

    def sign(self, key: bytes, message: bytes) -> bytes:
        """Return the HMAC."""
        return hmac.digest(key, message, self.hash_name)

    def accepts(self, proof: bytes, message: bytes) -> bool:
        """Return whether `proof` was made with the password."""
        signature = self.sign(self.stored_key, message)
        if len(proof) != len(signature):
            return False
        client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        found = hashlib.new(self.hash_name, client_key).digest()
        return hmac.compare_digest(found, self.stored_key)


class FoundCredential(NamedTuple):
    """What a client must prove to know, and whose session it gets."""

    owner: str
    credential: ScramCredential
    expires_at_ms: int | None


class ScramUsers:
    """The credentials of users and delegation tokens, for one mechanism."""

    def __init__(self, mechanism: str, passwords: Mapping[str, str], find_token: FindToken) -> None:
        """`passwords` by user name."""
        self.hash_name = HASHES[mechanism]
        self._find_token = find_token
        self._of_users = {
            user: ScramCredential(self.hash_name, password) for user, password in passwords.items()
        }
        self._of_tokens: dict[str, ScramCredential] = {}

    @property
    def names(self) -> list[str]:
        """The names of the users."""
        return list(self._of_users)

    def credential(self, user: str) -> ScramCredential | None:
        """Return the credential of a user."""
        return self._of_users.get(user)

    def put(self, user: str, credential: ScramCredential) -> None:
        """Add a user, or change its credential."""
        self._of_users[user] = credential

    def set_password(self, user: str, password: str) -> None:
        """Add a user, or change its password."""
        self.put(user, ScramCredential(self.hash_name, password))

    def remove(self, user: str) -> None:
        """Remove a user, if it is known."""
        self._of_users.pop(user, None)

    def find(self, name: str, *, is_token: bool) -> FoundCredential:
        """Return what a client must prove to know. Raises: SaslFormatError without a credential."""
        if not is_token:
            credential = self._of_users.get(name)
            if credential is None:
                raise SaslFormatError("no such user")
            return FoundCredential(name, credential, None)
        found = self._find_token(name)
        if found is None:
            raise SaslFormatError("no such delegation token")
        token, expires_at_ms = found
        credential = self._of_tokens.get(token.hmac)
        if credential is None:
            credential = ScramCredential(self.hash_name, token.hmac)
            self._of_tokens[token.hmac] = credential
        return FoundCredential(token.owner, credential, expires_at_ms)


def scram_exchange(users: ScramUsers) -> Exchange:
    """Take the two messages of SCRAM, and accept a user who proves to know the password.

    Raises: LoginRefusedError, SaslFormatError.
    """
    first = _matched(_FIRST, (yield b""), "client-first")
    extensions = dict(part.split("=", 1) for part in first["extensions"].split(",")[1:])
    name = first["name"].replace("=2C", ",").replace("=3D", "=")
    is_token = extensions.get("tokenauth", "").lower() == "true"
    owner, credential, expires_at_ms = users.find(name, is_token=is_token)
    if first["authzid"] not in (None, "", name):
        raise LoginRefusedError(
            "Authentication failed: Client requested an authorization id that is different from "
            "username"
        )
    nonce = first["nonce"] + secrets.token_hex(16)
    server_first = f"r={nonce},s={b64encode(credential.salt).decode()},i={credential.iterations}"
    final = _matched(_FINAL, (yield server_first.encode()), "client-final")
    if final["nonce"] != nonce:
        raise SaslFormatError("the nonce of client-final is not that of server-first")
    if _decoded(final["binding"]) != first["header"].encode():
        raise SaslFormatError("the channel binding does not repeat the header of client-first")
    message = f"{first['bare']},{server_first},{final['bare']}".encode()
    if not credential.accepts(_decoded(final["proof"]), message):
        raise SaslFormatError("the proof was made with another password")
    signature = credential.sign(credential.server_key, message)
    return Accepted(owner, b"v=" + b64encode(signature), expires_at_ms, is_token=is_token)


def _matched(pattern: re.Pattern[str], token: bytes, name: str) -> re.Match[str]:
    found = pattern.fullmatch(token.decode("utf-8", "replace"))
    if found is None:
        raise SaslFormatError(f"this is no {name} message")
    return found


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError as error:
        raise SaslFormatError("a part of a SCRAM message is not base64") from error


__all__ = [
    "ITERATIONS",
    "BrokerToken",
    "FoundCredential",
    "ScramCredential",
    "ScramUsers",
    "scram_exchange",
]
