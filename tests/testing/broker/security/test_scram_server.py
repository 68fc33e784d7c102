"""SCRAM on the broker's side, with the values of RFC 7677 and a client written here."""

import hashlib
import hmac
from base64 import b64decode, b64encode

import pytest

from aiokafka_lite.testing.broker.security.mechanism import (
    Accepted,
    LoginRefusedError,
    SaslFormatError,
)
from aiokafka_lite.testing.broker.security.scram_server import (
    BrokerToken,
    ScramCredential,
    ScramUsers,
    scram_exchange,
)

USERS = {"alice": "secret", "a,b=c": "pässwörd"}
TOKENS = {"token-id": (BrokerToken("alice", "aG1hYw=="), None)}


class Login:
    """A client of SCRAM that can be made to lie."""

    def __init__(self, mechanism: str = "SCRAM-SHA-256") -> None:
        self.exchange = scram_exchange(ScramUsers(mechanism, USERS, TOKENS.get))
        next(self.exchange)
        self.hash_name = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}[mechanism]

    def run(
        self,
        name: str,
        password: str,
        *,
        extensions: str = "",
        header: str = "n,,",
        binding: str = "n,,",
        nonce_end: str = "",
    ) -> Accepted:
        bare = f"n={name},r=abc{extensions}"
        server_first = self.exchange.send(f"{header}{bare}".encode()).decode()
        parts = dict(part.split("=", 1) for part in server_first.split(","))
        assert parts["r"].startswith("abc")
        assert int(parts["i"]) == 4096
        final = f"c={b64encode(binding.encode()).decode()},r={parts['r']}{nonce_end}"
        message = f"{bare},{server_first},{final}".encode()
        salted = hashlib.pbkdf2_hmac(
            self.hash_name, password.encode(), b64decode(parts["s"]), int(parts["i"])
        )
        client_key = self.sign(salted, b"Client Key")
        signature = self.sign(hashlib.new(self.hash_name, client_key).digest(), message)
        proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
        try:
            self.exchange.send(f"{final},p={b64encode(proof).decode()}".encode())
        except StopIteration as end:
            accepted = end.value
            assert isinstance(accepted, Accepted)
            expected = self.sign(self.sign(salted, b"Server Key"), message)
            assert accepted.answer == b"v=" + b64encode(expected)
            return accepted
        raise AssertionError("the exchange goes on")

    def sign(self, key: bytes, message: bytes) -> bytes:
        return hmac.digest(key, message, self.hash_name)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize(
    ("name", "password", "owner"),
    [("alice", "secret", "alice"), ("a=2Cb=3Dc", "pässwörd", "a,b=c")],
)
def test_a_user_with_the_password_is_accepted(
    mechanism: str, name: str, password: str, owner: str
) -> None:
    assert Login(mechanism).run(name, password).name == owner


def test_the_proof_of_the_rfc_is_accepted() -> None:
    credential = ScramCredential("sha256", "pencil")
    credential.salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    message = (
        b"n=user,r=rOprNGfwEbeRWgbNEkqO,"
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    )
    proof = b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    assert credential.accepts(proof, message)
    assert not credential.accepts(proof[:-1], message)
    signature = credential.sign(credential.server_key, message)
    assert b64encode(signature) == b"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def test_a_delegation_token_logs_its_owner_in() -> None:
    assert Login().run("token-id", "aG1hYw==", extensions=",tokenauth=true").name == "alice"


def test_a_delegation_token_needs_tokenauth_and_a_user_must_not_have_it() -> None:
    with pytest.raises(SaslFormatError):
        Login().run("token-id", "aG1hYw==")
    with pytest.raises(SaslFormatError):
        Login().run("alice", "secret", extensions=",tokenauth=true")


@pytest.mark.parametrize(
    ("name", "password"), [("alice", "wrong"), ("bob", "secret"), ("alice", "")]
)
def test_wrong_credentials_are_refused_without_a_word(name: str, password: str) -> None:
    with pytest.raises(SaslFormatError):
        Login().run(name, password)


def test_another_nonce_or_channel_binding_is_refused() -> None:
    with pytest.raises(SaslFormatError, match="nonce"):
        Login().run("alice", "secret", nonce_end="x")
    with pytest.raises(SaslFormatError, match="channel binding"):
        Login().run("alice", "secret", binding="y,,")


def test_an_authorization_id_is_that_of_the_user() -> None:
    header = "n,a=alice,"
    assert Login().run("alice", "secret", header=header, binding=header).name == "alice"
    with pytest.raises(LoginRefusedError, match="authorization id"):
        Login().run("alice", "secret", header="n,a=bob,", binding="n,a=bob,")


@pytest.mark.parametrize(
    "token",
    [
        b"",
        b"n,,n=alice",
        b"y,,n=alice,r=abc",
        b"n,,n=a=b,r=abc",
        "n,,n=jürgen,r=a".encode(),
        b"\xff",
    ],
)
def test_a_first_message_of_another_form_is_refused(token: bytes) -> None:
    with pytest.raises(SaslFormatError, match="client-first"):
        Login().exchange.send(token)


@pytest.mark.parametrize("token", [b"", b"c=biws,r=abc", b"c=biws,p=eA==", b"\0"])
def test_a_final_message_of_another_form_is_refused(token: bytes) -> None:
    login = Login()
    login.exchange.send(b"n,,n=alice,r=abc")
    with pytest.raises(SaslFormatError, match="client-final"):
        login.exchange.send(token)


def test_a_changed_password_is_used_at_the_next_login() -> None:
    known = ScramUsers("SCRAM-SHA-256", {"alice": "secret"}, TOKENS.get)
    first = known.find("alice", is_token=False)
    assert known.find("alice", is_token=False) == first
    known.set_password("alice", "new")
    assert known.find("alice", is_token=False) != first
