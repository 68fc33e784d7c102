"""SaslHandshake and SaslAuthenticate around a mechanism: versions, errors, session lifetimes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import (
    AuthenticationFailedError,
    IllegalSaslStateError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
from aiokafka_lite.net.handshake import AuthenticationStep, HandshakeRequest
from aiokafka_lite.net.sasl.authentication import MOST_TOKENS, SaslAuthentication
from aiokafka_lite.net.sasl.credentials import SaslCredentials
from aiokafka_lite.net.sasl.mechanism import SaslExchange
from aiokafka_lite.net.sasl.plain import PlainMechanism
from aiokafka_lite.net.step_runner import run_steps
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.secret import Secret
from tests.net.support.sasl_exchanges import ENDPOINT, NEWEST, SaslNode


def plain() -> PlainMechanism:
    return PlainMechanism(SaslCredentials("alice", "open sesame"))


async def authenticated(node: SaslNode, versions: NodeApiVersions = NEWEST) -> int:
    return await node.run(SaslAuthentication(plain)(ENDPOINT, versions))


async def test_the_newest_versions_are_used_and_the_lifetime_is_returned() -> None:
    node = SaslNode(b"", session_lifetime_ms=3_600_000)
    assert await authenticated(node) == 3_600_000
    assert node.requests == [("SaslHandshakeRequest", 1), ("SaslAuthenticateRequest", 2)]
    assert node.tokens == [b"\0alice\0open sesame"]


async def test_version_0_of_sasl_authenticate_has_no_lifetime() -> None:
    node = SaslNode(b"", session_lifetime_ms=5)
    assert await authenticated(node, NodeApiVersions({17: (0, 1), 36: (0, 0)})) == 0
    assert node.requests[-1] == ("SaslAuthenticateRequest", 0)


@pytest.mark.parametrize("ranges", [{17: (0, 0), 36: (0, 2)}, {17: (0, 1)}])
async def test_a_node_without_sasl_authenticate_gets_bare_tokens(
    ranges: dict[int, tuple[int, int]],
) -> None:
    node = SaslNode(b"")
    assert await authenticated(node, NodeApiVersions(ranges)) == 0
    assert node.requests == [("SaslHandshakeRequest", 0), ("token", -1)]


async def refused(node: SaslNode, versions: NodeApiVersions = NEWEST) -> AuthenticationFailedError:
    with pytest.raises(AuthenticationFailedError) as caught:
        await authenticated(node, versions)
    assert "sesame" not in str(caught.value)
    return caught.value


async def test_a_refusal_has_the_nodes_words_the_mechanism_and_the_remedy() -> None:
    error = await refused(SaslNode((58, "Authentication failed: Invalid username or password")))
    assert error.args[0] == (
        "the authentication by PLAIN failed: the node refused: Authentication failed: Invalid"
        " username or password; check sasl_plain_username and sasl_plain_password"
    )
    assert isinstance(error.__cause__, SaslAuthenticationFailed)


async def test_a_mechanism_that_the_node_lacks_is_named_with_those_it_has() -> None:
    error = await refused(SaslNode(handshake_error=33, mechanisms=("GSSAPI", "OAUTHBEARER")))
    assert "by PLAIN failed: the node does not offer it; it offers GSSAPI, OAUTHBEARER; set" in str(
        error
    )
    assert isinstance(error.__cause__, UnsupportedSaslMechanismError)


async def test_a_listener_without_sasl_is_recognised() -> None:
    error = await refused(SaslNode(handshake_error=34))
    assert "set security_protocol to that of the listener" in str(error)
    assert isinstance(error.__cause__, IllegalSaslStateError)


async def test_a_node_without_sasl_is_named_as_such() -> None:
    error = await refused(SaslNode(), NodeApiVersions({18: (0, 4)}))
    assert "the broker does not have SaslHandshake" in str(error)


async def test_an_endless_exchange_is_ended() -> None:
    class Endless:
        name = "ENDLESS"

        def exchange(self, host: str) -> SaslExchange:
            while True:
                yield b"more"

    node = SaslNode(*[b""] * 100)
    with pytest.raises(AuthenticationFailedError, match=f"no end after {MOST_TOKENS} tokens"):
        await node.run(SaslAuthentication(Endless)(ENDPOINT, NEWEST))
    assert len(node.tokens) == MOST_TOKENS


async def test_the_first_token_is_made_before_anything_is_sent() -> None:
    class Slow:
        name = "SLOW"

        def exchange(self, host: str) -> SaslExchange:
            assert not node.requests
            word = yield asyncio.sleep(0, "hello")
            assert not node.requests
            answer = yield word.encode()
            assert answer == b"prove it"
            try:
                yield failing()
            except LookupError:
                yield b"proof"

    async def failing() -> None:
        raise LookupError

    node = SaslNode(b"prove it", b"")
    await node.run(SaslAuthentication(Slow)(ENDPOINT, NEWEST))
    assert node.tokens == [b"hello", b"proof"]


async def test_what_a_mechanism_raises_is_the_cause() -> None:
    class Broken:
        name = "BROKEN"

        def exchange(self, host: str) -> SaslExchange:
            raise ZeroDivisionError("division by zero")
            yield b""

    with pytest.raises(AuthenticationFailedError, match="by BROKEN failed: division") as caught:
        await SaslNode().run(SaslAuthentication(Broken)(ENDPOINT, NEWEST))
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert "check the credentials that the mechanism uses" in str(caught.value)


@pytest.mark.parametrize(
    ("error", "ends"),
    [
        (KafkaTimeoutError("nothing within 4 s; raise the bound"), "raise the bound"),
        (AuthenticationFailedError("the endpoint refused; check it"), "check it"),
        (LookupError("sealed"), "sealed; check sasl_plain_username and sasl_plain_password"),
    ],
)
async def test_the_error_of_a_provider_keeps_its_own_remedy(error: Exception, ends: str) -> None:
    async def provider() -> SaslCredentials:
        raise error

    with pytest.raises(AuthenticationFailedError, match="by PLAIN failed: ") as caught:
        await SaslNode().run(SaslAuthentication(lambda: PlainMechanism(provider))(ENDPOINT, NEWEST))
    assert str(caught.value).endswith(ends)
    assert caught.value.__cause__ is error


async def test_a_lost_connection_is_no_matter_of_credentials() -> None:
    async def lost(step: AuthenticationStep) -> Any:
        raise KafkaConnectionError("broken")

    with pytest.raises(KafkaConnectionError, match="broken"):
        await run_steps(SaslAuthentication(plain)(ENDPOINT, NEWEST), lost)


@given(
    st.lists(st.binary(max_size=60), max_size=3),
    st.sampled_from(
        [NEWEST, NodeApiVersions({17: (0, 0)}), NodeApiVersions({17: (0, 1), 36: (0, 1)})]
    ),
)
def test_no_frames_of_a_node_cause_another_error(
    frames: list[bytes], versions: NodeApiVersions
) -> None:
    """Each frame is what follows the correlation id; the client ends with an error or a session."""
    steps = SaslAuthentication(plain)(ENDPOINT, versions)
    said = ""
    try:
        step = next(steps)
        for frame in [*frames, b"", b"", b""]:
            assert isinstance(step, HandshakeRequest | bytes | Secret)
            step = steps.send(memoryview(bytes(4) + frame))
    except KafkaError as error:
        said = str(error)
    except StopIteration as done:
        said = str(int(done.value))
    assert said
    assert "sesame" not in said
