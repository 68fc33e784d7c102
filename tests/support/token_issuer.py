"""An OpenID provider for tests: it signs tokens with RS256, and serves keys and tokens by HTTP.

It runs in a thread. Kafka reads the keys from `jwks_url`. Clients get tokens from `token_url` with
the grants client_credentials and jwt-bearer. A test can also make a token with `sign`.
"""

import base64
import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from aiokafka_lite.clock import SYSTEM_CLOCK

AUDIENCE: Final = "kafka-of-tests"
KEY_ID: Final = "key-1"
CLIENT_ID: Final = "alice"
CLIENT_SECRET: Final = "secret"
_GRANTS: Final = ("client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer")


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


def unsecured_token(subject: str, lifetime_s: float = 3600) -> str:
    """Return a token without a signature, as Kafka's unsecured validator accepts it."""
    now = SYSTEM_CLOCK.time()
    claims = {"sub": subject, "iat": int(now), "exp": int(now + lifetime_s)}
    return f"{_base64(_json({'alg': 'none'}))}.{_base64(_json(claims))}."


def private_key_pem() -> str:
    """Return a new RSA key, not encrypted."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


class TokenIssuer:
    """The provider, from `with` to its end."""

    def __init__(self, lifetime_s: float = 3600) -> None:
        self.lifetime_s = lifetime_s
        """The lifetime of a token from `token_url`, in seconds."""
        self.issued = 0
        """How many tokens clients have fetched by HTTP."""
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.assertions: list[str] = []
        """The assertions that clients have shown."""
        self._assertion_key: rsa.RSAPublicKey | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.issuer = self  # type: ignore[attr-defined]  # what the handlers look for
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def issuer(self) -> str:
        """The provider's address, which its tokens contain."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def jwks_url(self) -> str:
        """The address of the public key."""
        return f"{self.issuer}/jwks"

    @property
    def token_url(self) -> str:
        """The address from which clients fetch tokens."""
        return f"{self.issuer}/token"

    def sign(self, subject: str, lifetime_s: float | None = None, **claims: Any) -> str:
        """Return a token for a user. With a negative lifetime it has already expired."""
        now = SYSTEM_CLOCK.time()
        lives = self.lifetime_s if lifetime_s is None else lifetime_s
        content = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "sub": subject,
            "iat": int(now),
            "exp": int(now + lives),
            **claims,
        }
        header = {"alg": "RS256", "typ": "JWT", "kid": KEY_ID}
        signed = f"{_base64(_json(header))}.{_base64(_json(content))}"
        signature = self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signed}.{_base64(signature)}"

    def accept_assertions_of(self, key: rsa.RSAPublicKey) -> None:
        """Check from now on that assertions are signed by the owner of this key."""
        self._assertion_key = key

    def _accepts(self, assertion: str) -> bool:
        if self._assertion_key is None:
            return True
        signed, _, signature = assertion.rpartition(".")
        raw = base64.urlsafe_b64decode(signature + "=" * (-len(signature) % 4))
        try:
            self._assertion_key.verify(raw, signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return False
        return True

    def jwks(self) -> dict[str, Any]:
        """Return the public key in the format of RFC 7517."""
        numbers = self._key.public_key().public_numbers()
        modulus = numbers.n.to_bytes(256)
        key = {"kty": "RSA", "kid": KEY_ID, "use": "sig", "alg": "RS256"}
        return {"keys": [{**key, "n": _base64(modulus), "e": _base64(numbers.e.to_bytes(3))}]}

    def token_response(self, form: dict[str, list[str]], authorization: str) -> dict[str, Any]:
        """Return the body of a response to a request for a token. `error` in it names a fault."""
        if form.get("grant_type", [""])[0] not in _GRANTS:
            return {"error": "unsupported_grant_type"}
        assertion = form.get("assertion", [""])[0]
        credentials = _base64_credentials(authorization) or (
            form.get("client_id", [""])[0],
            form.get("client_secret", [""])[0],
        )
        if not assertion and credentials != (CLIENT_ID, CLIENT_SECRET):
            return {"error": "invalid_client"}
        if assertion:
            self.assertions.append(assertion)
            if not self._accepts(assertion):
                return {"error": "invalid_grant"}
        self.issued += 1
        return {
            "access_token": self.sign(CLIENT_ID),
            "token_type": "Bearer",
            "expires_in": int(self.lifetime_s),
        }

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _base64_credentials(authorization: str) -> tuple[str, str] | None:
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    name, _, password = base64.b64decode(value).decode().partition(":")
    return urllib.parse.unquote_plus(name), urllib.parse.unquote_plus(password)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _issuer(self) -> TokenIssuer:
        found: TokenIssuer = self.server.issuer  # type: ignore[attr-defined]
        return found

    def do_GET(self) -> None:
        if self.path == "/jwks":
            self._answer(200, self._issuer.jwks())
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = urllib.parse.parse_qs(body)
        answer = self._issuer.token_response(form, self.headers.get("Authorization", ""))
        self._answer(400 if "error" in answer else 200, answer)

    def _answer(self, status: int, value: dict[str, Any]) -> None:
        body = _json(value)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Say nothing."""
