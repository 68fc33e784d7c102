"""A token endpoint: what it is sent, what it answers, and what goes wrong."""

import base64
import json
import random
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from aiokafka_lite.errors import AuthenticationFailedError, KafkaConfigurationError
from aiokafka_lite.net.sasl.tokens.token_endpoint import MOST_BYTES, TokenEndpoint
from aiokafka_lite.secret import Secret
from aiokafka_lite.testing.fake_clock import FakeClock

URL = "https://login.example.org/token"
Answer = Callable[[httpx.Request], httpx.Response]


def endpoint(answer: Answer, clock: FakeClock) -> TokenEndpoint:
    return TokenEndpoint(
        URL, clock=clock, rng=random.Random(1), transport=httpx.MockTransport(answer)
    )


async def refused(answer: Answer) -> AuthenticationFailedError:
    clock = FakeClock(autojump_threshold_s=0.01)
    with pytest.raises(AuthenticationFailedError) as caught:
        await endpoint(answer, clock).ask({"grant_type": "x"}, ("me", Secret("sesame")))
    assert "sesame" not in str(caught.value)
    return caught.value


async def test_the_form_and_the_secret_are_sent_and_the_token_is_returned() -> None:
    seen: list[tuple[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.content.decode(), request.headers["authorization"]))
        return httpx.Response(200, json={"access_token": "abc", "expires_in": 60})

    clock = FakeClock()
    token = await endpoint(answer, clock).ask(
        {"grant_type": "x", "scope": "a b"}, ("me", Secret("word"))
    )
    assert (token.text, token.expires_s) == (Secret("abc"), clock.time() + 60)
    assert seen == [("grant_type=x&scope=a+b", "Basic bWU6d29yZA==")]


@pytest.mark.parametrize(
    ("lifetime", "known"), [("60", True), (None, False), (-1, False), ("soon", False)]
)
async def test_the_lifetime_may_be_missing(lifetime: Any, known: bool) -> None:
    body = {"access_token": "opaque", "expires_in": lifetime}
    token = await endpoint(lambda _: httpx.Response(200, json=body), FakeClock()).ask({})
    assert (token.expires_s is not None) == known


@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        (401, b'{"error":"invalid_client","error_description":"unknown"}', "invalid_client: unk"),
        (200, b'{"error":"unsupported_grant_type"}', "200 and unsupported_grant_type"),
        (200, b'{"access_token":7}', "200 and no access_token"),
        (200, b"[]", "no access_token"),
        (200, b"<html>", "no access_token"),
        (302, b"", "302 and no access_token"),
    ],
)
async def test_a_refusal_says_what_the_endpoint_said(status: int, body: bytes, says: str) -> None:
    error = await refused(lambda _: httpx.Response(status, content=body))
    assert says in str(error)
    assert URL in str(error)


async def test_an_endpoint_that_repeats_the_secret_is_not_quoted() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        said = f"the secret in {request.content.decode()} is not sesame"
        return httpx.Response(401, json={"error": "sesame", "error_description": said})

    clock = FakeClock()
    with pytest.raises(AuthenticationFailedError, match=r"is not \[hidden\]") as caught:
        await endpoint(answer, clock).ask(
            {"client_secret": Secret("hunter2")}, ("me", Secret("sesame"))
        )
    assert "hunter2" not in str(caught.value)
    assert "sesame" not in str(caught.value)


async def test_id_and_secret_may_be_url_encoded_for_http_basic() -> None:
    """As RFC 6749, section 2.3.1, has it. Neither form of the secret is shown."""
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(base64.b64decode(request.headers["authorization"].split()[1]).decode())
        return httpx.Response(401, json={"error": "me:a b:ü/", "error_description": seen[0]})

    encoding = TokenEndpoint(
        URL,
        clock=FakeClock(),
        rng=random.Random(1),
        transport=httpx.MockTransport(answer),
        header_urlencode=True,
    )
    with pytest.raises(AuthenticationFailedError) as caught:
        await encoding.ask({}, ("m:e", Secret("a b:ü/")))
    assert seen == ["m%3Ae:a+b%3A%C3%BC%2F"]
    assert "a b" not in str(caught.value)
    assert "a+b" not in str(caught.value)


async def test_errors_have_no_frames_of_httpx_whose_variables_hold_the_secret() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadError("reset")

    error = await refused(answer)
    assert isinstance(error.__cause__, httpx.ReadError)
    assert error.__cause__.__traceback__ is None


async def test_an_endpoint_that_is_overloaded_is_asked_again() -> None:
    answers = [
        httpx.Response(503),
        httpx.Response(429),
        httpx.Response(200, json={"access_token": "a"}),
    ]
    clock = FakeClock(autojump_threshold_s=0.01)
    token = await endpoint(lambda _: answers.pop(0), clock).ask({})
    assert (token.text, answers) == (Secret("a"), [])
    assert 0.2 < clock.monotonic() < 0.5


async def test_a_network_that_fails_is_named_after_the_retries() -> None:
    asked = 0

    def broken(request: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        raise httpx.ConnectError("no route")

    error = await refused(broken)
    assert "cannot be asked: no route" in str(error)
    assert isinstance(error.__cause__, httpx.ConnectError)
    assert asked == 4


async def test_an_endless_answer_is_not_read() -> None:
    large = json.dumps({"access_token": "x" * MOST_BYTES}).encode()
    error = await refused(lambda _: httpx.Response(200, content=large))
    assert "more than 1048576 bytes" in str(error)


@pytest.mark.parametrize(
    "url", ["http://login.example.org/token", "ftp://localhost/t", "https:///x", "token", ""]
)
def test_a_url_that_would_show_the_secret_is_refused(url: str) -> None:
    with pytest.raises(KafkaConfigurationError, match="is no https URL"):
        TokenEndpoint(url, clock=FakeClock(), rng=random.Random())


@pytest.mark.parametrize("url", ["http://localhost:1/t", "http://127.0.0.1:1/t", "http://[::1]/t"])
def test_this_machine_may_be_asked_without_encryption(url: str) -> None:
    assert TokenEndpoint(url, clock=FakeClock(), rng=random.Random()).url == url


def test_a_password_in_a_url_is_not_shown() -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        TokenEndpoint("http://me:sesame@a.b/t?k=sesame", clock=FakeClock(), rng=random.Random())
    assert "sesame" not in str(caught.value)


async def test_without_httpx_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(KafkaConfigurationError, match=r"pip install 'aiokafka-lite\[oauth\]'"):
        await endpoint(lambda _: httpx.Response(200), FakeClock()).ask({})
