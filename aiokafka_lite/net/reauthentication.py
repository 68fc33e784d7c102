"""Authenticates an open connection again before its session ends (KIP-368).

A node closes the connection at the first request after the end of the session. So the client begins
at a random 85 to 95 % of the session's lifetime, as Java does. Each time runs in a short task of
the client. The requests of the application go on while it gets its credentials. They wait in the
mailbox from SaslHandshake to the node's consent, or from the end of the session on.

The node handles the requests of a connection in their order. So responses to earlier requests come
first, and nothing is lost, reordered or failed. If an authentication fails, the connection ends
with that error as its cause, and the next connection authenticates anew.
"""

import random
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, Protocol, TypeAlias

from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.errors import KafkaConnectionError, KafkaError, KafkaTimeoutError
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.handshake import AuthenticationStep, HandshakeRequest
from aiokafka_lite.net.security import Authentication, authenticate
from aiokafka_lite.net.step_runner import run_steps
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.secret import Secret

EARLIEST: Final = 0.85
LATEST: Final = 0.95
"""Parts of the session's lifetime between which the client authenticates again. Source:
SaslClientAuthenticator."""

HOLD: Final = 0.97
"""Part of the lifetime after which requests wait: what is sent later may find the session ended."""

MIN_INTERVAL_S: Final = 1.0
"""A node refuses SaslHandshake within this time of the last one. Source: KafkaChannel."""

SpawnTask: TypeAlias = Callable[[str, Callable[[], Coroutine[Any, Any, None]]], OwnedTask | None]
"""Starts a task with a name; returns None if the client is about to end."""


class AuthenticatedConnection(Protocol):
    """What the re-authentication needs of its connection."""

    name: str
    endpoint: Endpoint

    def hold_requests(self) -> None:
        """Keep all requests in the mailbox."""

    def release_requests(self) -> None:
        """Send requests again, those of the mailbox first."""

    def send_step(self, step: HandshakeRequest) -> Awaitable[memoryview]:
        """Send a request before those of the mailbox; return a future for its response's frame."""

    def close(self, cause: KafkaError | None = None) -> None:
        """End the connection."""


class Reauthentication:
    """Keeps the session of one open connection from ending."""

    def __init__(
        self,
        connection: AuthenticatedConnection,
        authentication: Authentication,
        versions: NodeApiVersions,
        *,
        clock: Clock,
        rng: random.Random,
        spawn: SpawnTask,
        credentials_timeout_s: float,
    ) -> None:
        """`credentials_timeout_s` bounds each wait of the authentication for credentials."""
        self._connection = connection
        self._authentication = authentication
        self._versions = versions
        self._clock = clock
        self._rng = rng
        self._spawn = spawn
        self._credentials_timeout_s = credentials_timeout_s
        self._lifetime_s = 0.0
        self._ends_s = 0.0
        self._timers: list[TimerHandle] = []
        self._task: OwnedTask | None = None

    def session_began(self, lifetime_ms: int) -> None:
        """Plan the next authentication of a session that began now; with 0 there is none."""
        self._drop_timers()
        if not lifetime_ms:
            return
        now_s = self._clock.monotonic()
        self._lifetime_s = lifetime_s = lifetime_ms / 1000
        self._ends_s = now_s + lifetime_s
        again_s = now_s + max(MIN_INTERVAL_S, lifetime_s * self._rng.uniform(EARLIEST, LATEST))
        hold_s = now_s + lifetime_s * HOLD
        self._timers = [
            self._clock.call_at(again_s, self._begin),
            self._clock.call_at(hold_s, self._connection.hold_requests),
        ]

    def remedy_of_loss(self) -> str | None:
        """Return what a node that closed the connection may have meant by it; None: nothing of
        sessions.

        A request reaches the node later than the session ends here, so short sessions count too.
        """
        is_short = 0 < self._lifetime_s < MIN_INTERVAL_S
        if not is_short and not 0 < self._ends_s <= self._clock.monotonic():
            return None
        return (
            f"after the end of its session of {self._lifetime_s * 1000:,.0f} ms; raise"
            " connections.max.reauth.ms of the broker, or use tokens that are valid for longer"
        )

    def stop(self) -> None:
        """Give up, because the connection has ended. Does not wait."""
        self._drop_timers()
        task, self._task = self._task, None
        if task is not None:
            task.cancel()

    def _drop_timers(self) -> None:
        timers, self._timers = self._timers, []
        for timer in timers:
            timer.cancel()

    def _begin(self) -> None:
        self._task = task = self._spawn(f"authenticate[{self._connection.name}]", self._run)
        if task is not None:
            task.add_done_callback(self._has_ended)

    def _has_ended(self, task: OwnedTask) -> None:
        """Close the connection if its task was cancelled before the first step of `_run`."""
        if self._task is task:
            self._task = None
            self._connection.close(_given_up(self._connection.name))

    async def _run(self) -> None:
        try:
            steps = authenticate(
                self._authentication,
                self._connection.endpoint,
                self._versions,
                node=self._connection.name,
            )
            lifetime_ms = await run_steps(steps, self._answer_to)
        except BaseException as error:
            self._task = None  # so that `stop` does not cancel the task that it runs in
            self._connection.close(_cause(self._connection.name, error))
            if not isinstance(error, Exception):
                raise
        else:
            self._task = None
            self.session_began(lifetime_ms)
            self._connection.release_requests()

    async def _answer_to(self, step: AuthenticationStep) -> Any:
        if isinstance(step, HandshakeRequest):
            self._connection.hold_requests()
            return await self._connection.send_step(step)
        if isinstance(step, bytes | Secret):
            raise KafkaConnectionError(
                f"{self._connection.name} has no SaslAuthenticate any more; the client connects"
                " again"
            )
        try:
            async with deadline(self._clock, self._credentials_timeout_s) as bound:
                return await step
        except TimeoutError as error:
            if not bound.expired:
                raise
            raise KafkaTimeoutError(
                f"the credentials, such as a token, did not come within"
                f" {self._credentials_timeout_s * 1000:,.0f} ms"
            ) from error


def _cause(name: str, error: BaseException) -> KafkaError:
    if isinstance(error, KafkaError):
        return error
    given_up = _given_up(name)
    given_up.__cause__ = error
    return given_up


def _given_up(name: str) -> KafkaConnectionError:
    return KafkaConnectionError(f"authenticating again with {name} was given up")


__all__ = [
    "EARLIEST",
    "HOLD",
    "LATEST",
    "MIN_INTERVAL_S",
    "AuthenticatedConnection",
    "Reauthentication",
    "SpawnTask",
]
