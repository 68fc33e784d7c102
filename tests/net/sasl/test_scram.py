"""SCRAM: the examples of the RFCs, what the client refuses to believe, and hostile messages."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import SaslAuthenticationFailed
from aiokafka_lite.net.sasl.credentials import SaslCredentials
from aiokafka_lite.net.sasl.scram import (
    MAX_ITERATIONS,
    ScramMechanism,
    ScramName,
    check_server_final,
    client_proof,
    escaped,
    new_nonce,
    read_server_first,
    salted,
    server_signature,
)
from aiokafka_lite.secret import Secret
from tests.net.support.sasl_exchanges import tokens_of

NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def scram(
    name: ScramName = "SCRAM-SHA-256", username: str = "user", *, tokenauth: bool = False
) -> ScramMechanism:
    return ScramMechanism(
        name,
        SaslCredentials(username, "pencil"),
        is_delegation_token=tokenauth,
        make_nonce=lambda: NONCE,
    )


async def test_the_example_of_rfc_7677() -> None:
    assert await tokens_of(scram().exchange("h"), [SERVER_FIRST, SERVER_FINAL]) == [
        b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
        b"c=biws,r="
        + SERVER_FIRST[2:].partition(b",")[0]
        + b",p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
    ]


def test_the_example_of_rfc_5802() -> None:
    signed = (
        b"n=user,r=fyko+d2lbbFgONRv9qkxdawL,"
        b"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096,"
        b"c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j"
    )
    hashed = salted("sha1", Secret(b"pencil"), base64.b64decode("QSXCR+Q6sek8bf92"), 4096)
    assert base64.b64encode(client_proof("sha1", hashed, signed)) == b"v0X8v3Bz2T0CJGbJQyF0X+HI4Ts="
    signature = server_signature("sha1", hashed, signed)
    assert base64.b64encode(signature) == b"rmF9pqV8S7suAoZWja4dJRkFsKQ="


@pytest.mark.parametrize("name", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_a_node_that_knows_the_password_is_believed(name: ScramName) -> None:
    """The node's side, from the RFC, with the hash of each mechanism."""
    hash_name = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}[name]
    salt, first = b"salt", f"r={NONCE}more,s={base64.b64encode(b'salt').decode()},i=8192".encode()
    hashed = salted(hash_name, Secret(b"pencil"), salt, 8192)

    def final(token: bytes) -> bytes:
        bare, _, proof = token.rpartition(b",p=")
        signed = b",".join((f"n=user,r={NONCE}".encode(), first, bare))
        assert base64.b64decode(proof) == client_proof(hash_name, hashed, signed)
        return b"v=" + base64.b64encode(server_signature(hash_name, hashed, signed))

    assert len(await tokens_of(scram(name).exchange("h"), [first, final])) == 2


async def test_a_delegation_token_says_so_in_the_first_message() -> None:
    exchange = scram(tokenauth=True).exchange("h")
    assert exchange.send(None) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO,tokenauth=true"


async def test_names_are_escaped_and_not_normalised() -> None:
    assert escaped("a=b,c=2C") == "a=3Db=2Cc=3D2C"
    first = scram(username="x\u00aa,=").exchange("h").send(None)
    assert first == "n,,n=x\u00aa=2C=3D,r=rOprNGfwEbeRWgbNEkqO".encode()


def test_nonces_differ_and_have_no_comma() -> None:
    nonces = {new_nonce() for _ in range(20)}
    assert len(nonces) == 20
    assert not any("," in nonce or len(nonce) < 24 for nonce in nonces)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (b"", "first SCRAM message is wrong"),
        (b"r=other,s=YQ==,i=4096", "does not continue the client's"),
        (f"r={NONCE},s=YQ==,i=4096".encode(), "does not continue the client's"),
        (f"r={NONCE}x,s=YQ=,i=4096".encode(), "wrong base64"),
        (f"r={NONCE}x,s=YQ==,i=4095".encode(), "4095 iterations, below the limit of 4096"),
        (f"r={NONCE}x,s=YQ==,i=16385".encode(), "above the limit of 16384; raise sasl_scram_max"),
        (f"r={NONCE}x,s=YQ==,i=99999999999".encode(), "is wrong"),
        (f"m=x,r={NONCE}x,s=YQ==,i=4096".encode(), "is wrong"),
        (f"r={NONCE}x,s=YQ==,i=4096,".encode() + b"x" * 5_000, "is wrong"),
    ],
)
def test_a_wrong_first_message_of_the_node_is_refused(message: bytes, says: str) -> None:
    with pytest.raises(SaslAuthenticationFailed, match=says):
        read_server_first(message, NONCE, MAX_ITERATIONS)


def test_more_iterations_are_done_where_the_option_allows_them() -> None:
    first = read_server_first(f"r={NONCE}x,s=YQ==,i=50000,ext=1".encode(), NONCE, 50_000)
    assert first == (f"{NONCE}x", b"a", 50_000)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        (b"", "last SCRAM message is wrong"),
        (b"e=unknown-user", "refused: 'unknown-user'"),
        (b"v=" + base64.b64encode(bytes(32)), "signature is wrong: it does not know"),
        (b"v=!", "is wrong"),
        (b"v=YQ=", "wrong base64"),
    ],
)
async def test_a_node_that_does_not_know_the_password_is_not_believed(
    message: bytes, says: str
) -> None:
    with pytest.raises(SaslAuthenticationFailed, match=says):
        await tokens_of(scram().exchange("h"), [SERVER_FIRST, message])


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_no_bytes_of_a_node_cause_another_error(message: bytes) -> None:
    for read in (
        lambda: read_server_first(message, NONCE, MAX_ITERATIONS),
        lambda: read_server_first(b"r=" + NONCE.encode() + message, NONCE, MAX_ITERATIONS),
        lambda: check_server_final(message, b"expected"),
        lambda: check_server_final(b"v=" + message, b"expected"),
    ):
        with pytest.raises(SaslAuthenticationFailed):
            read()


@given(
    st.integers(0, len(SERVER_FIRST) - 1),
    st.integers(0, 255),
)
def test_a_changed_byte_of_the_node_is_noticed(place: int, value: int) -> None:
    """It is refused, or it changes what the client signs, which the node's signature shows."""
    changed = bytearray(SERVER_FIRST)
    changed[place] = value
    if bytes(changed) == SERVER_FIRST:
        return
    exchange = scram().exchange("h")
    exchange.send(None)
    try:
        challenge = read_server_first(bytes(changed), NONCE, MAX_ITERATIONS)
    except SaslAuthenticationFailed:
        return
    hashed = salted("sha256", Secret(b"pencil"), challenge.salt, challenge.iterations)
    signed = b",".join(
        (f"n=user,r={NONCE}".encode(), bytes(changed), f"c=biws,r={challenge.nonce}".encode())
    )
    with pytest.raises(SaslAuthenticationFailed):
        check_server_final(SERVER_FINAL, server_signature("sha256", hashed, signed))
