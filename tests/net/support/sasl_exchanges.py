"""Runs the exchange of a mechanism, or the steps of an authentication, without a socket."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.handshake import AuthenticationStep, AuthenticationSteps, HandshakeRequest
from aiokafka_lite.net.sasl.mechanism import SaslExchange
from aiokafka_lite.net.step_runner import run_steps
from aiokafka_lite.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from aiokafka_lite.protocol.messages.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.schema.message import Response
from aiokafka_lite.secret import Secret
from tests.net.support.scripted_node import answer_bytes

ENDPOINT = Endpoint("broker", 9092)
NEWEST = NodeApiVersions({17: (0, 1), 36: (0, 2)})


async def tokens_of(
    exchange: SaslExchange, answers: Iterable[bytes | Callable[[bytes], bytes]]
) -> list[bytes]:
    """Return the client's tokens; each is answered by the next of `answers`."""
    remaining = iter(answers)
    sent: list[bytes] = []
    answer: Any = None
    while True:
        try:
            step = exchange.send(answer)
        except StopIteration:
            assert not list(remaining), "the exchange took fewer answers than there are"
            return sent
        while not isinstance(step, bytes | Secret):
            try:
                result = await step
            except Exception as error:  # noqa: BLE001  the mechanism's matter
                step = exchange.throw(error)
            else:
                step = exchange.send(result)
        sent.append(Secret(step).reveal_bytes())
        given = next(remaining)
        answer = given if isinstance(given, bytes) else given(sent[-1])


class SaslNode:
    """Answers the steps of an authentication: SaslHandshake, then tokens."""

    def __init__(
        self,
        *answers: bytes | tuple[int, str | None],
        handshake_error: int = 0,
        mechanisms: tuple[str, ...] = ("PLAIN",),
        session_lifetime_ms: int = 0,
    ) -> None:
        self.requests: list[tuple[str, int]] = []
        """Name and version of each request; ("token", -1) for a bare token."""
        self.tokens: list[bytes] = []
        self._answers = list(answers)
        self._handshake = SaslHandshakeResponse(
            error_code=handshake_error, mechanisms=list(mechanisms)
        )
        self._session_lifetime_ms = session_lifetime_ms

    async def run(self, steps: AuthenticationSteps) -> int:
        return await run_steps(steps, self.answer)

    async def answer(self, step: AuthenticationStep) -> Any:
        if isinstance(step, bytes | Secret):
            self.requests.append(("token", -1))
            self.tokens.append(Secret(step).reveal_bytes())
            return memoryview(self._next())
        if not isinstance(step, HandshakeRequest):
            return await step
        self.requests.append((type(step.request).__name__, step.version))
        response: Response = self._handshake
        if isinstance(step.request, SaslAuthenticateRequest):
            self.tokens.append(step.request.auth_bytes)
            response = self._authenticated(step.version)
        else:
            assert isinstance(step.request, SaslHandshakeRequest)
        return memoryview(answer_bytes(response, step.version, 0))[4:]

    def _authenticated(self, version: int) -> SaslAuthenticateResponse:
        answer = self._answers.pop(0)
        is_token = isinstance(answer, bytes)
        code, message = (0, None) if isinstance(answer, bytes) else answer
        return SaslAuthenticateResponse(
            error_code=code,
            error_message=message,
            auth_bytes=answer if isinstance(answer, bytes) else b"",
            session_lifetime_ms=self._session_lifetime_ms if is_token and version else 0,
        )

    def _next(self) -> bytes:
        answer = self._answers.pop(0)
        assert isinstance(answer, bytes)
        return answer
