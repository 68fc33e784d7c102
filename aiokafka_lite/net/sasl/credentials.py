"""The user name and password of PLAIN and SCRAM, and how a provider is asked for fresh ones."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeAlias

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.long_waits import LongWaits
from aiokafka_lite.errors import IllegalArgumentError, KafkaError, KafkaTimeoutError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.net.security import PROVIDER_TIMEOUT_MS
from aiokafka_lite.secret import Secret, SecretValue


@dataclass(frozen=True, slots=True, init=False)
class SaslCredentials:
    """A user name and its password; for a delegation token its id and its HMAC.

    Raises: IllegalArgumentError for values of a wrong type, and for text that is not valid Unicode
    or has a NUL. The error never shows the password.
    """

    username: str
    password: Secret

    def __init__(self, username: str, password: SecretValue) -> None:
        if not isinstance(password, str | bytes | Secret):
            raise IllegalArgumentError(
                f"the password is of type {type(password).__name__}; it must be a str or a Secret"
            )
        password = Secret(password)  # before any other error, whose frames would show it
        if not isinstance(username, str):
            raise IllegalArgumentError(
                f"the user name is of type {type(username).__name__}; it must be a str"
            )
        for what, value in (("user name", Secret(username)), ("password", password)):
            if not value.is_encodable:
                raise IllegalArgumentError(f"the {what} is not valid Unicode; give it as a str")
            if "\0" in value.reveal_text():
                raise IllegalArgumentError(f"the {what} has a NUL character, which SASL forbids")
            if not value:
                raise IllegalArgumentError(f"the {what} is empty; set it")
        object.__setattr__(self, "username", username)
        object.__setattr__(self, "password", password)


CredentialsProvider: TypeAlias = Callable[[], SaslCredentials | Awaitable[SaslCredentials]]
"""Returns the present credentials, or an awaitable of them. It is called once per authentication,
so a password that changed is used by the next one."""


def present_credentials(
    given: SaslCredentials | CredentialsProvider, timeout_ms: float, clock: Clock
) -> Generator[Awaitable[Any], Any, SaslCredentials]:
    """Return `given`, or what it provides. A part of an exchange: use it by `yield from`.

    Raises: IllegalArgumentError if the provider gives anything else; what `ask_provider` raises.
    """
    if isinstance(given, SaslCredentials):
        return given
    found = yield ask_provider(given, "credentials_provider", timeout_ms, clock)
    if not isinstance(found, SaslCredentials):
        raise IllegalArgumentError(
            f"credentials_provider gave a value of type {type(found).__name__}; it must give"
            " SaslCredentials(username, password)"
        )
    return found


async def ask_provider(
    provider: Callable[[], Any],
    what: str,
    timeout_ms: float = PROVIDER_TIMEOUT_MS,
    clock: Clock = SYSTEM_CLOCK,
    *,
    option: str = "sasl_provider_timeout_ms",
) -> Any:
    """Return what `provider()` gives, or the result of the awaitable that it gives.

    `option` is the one to raise if `timeout_ms` is too short.

    Raises: KafkaTimeoutError if it took longer than `timeout_ms`; KafkaError if the provider
    cancelled itself; what the provider raises.
    Cancelled: the provider is cancelled.
    """
    task = asyncio.current_task()
    try:
        waits = LongWaits(clock, "authentication")
        with waits.of(f"{what} to give what it should", "make it faster"):
            async with deadline(clock, timeout_ms / 1000) as bound:
                found = provider()
                return await found if inspect.isawaitable(found) else found
    except TimeoutError as error:
        if not bound.expired:
            raise
        raise KafkaTimeoutError(
            f"{what} gave nothing within {timeout_ms:,.0f} ms; raise {option} if it needs longer"
        ) from error
    except asyncio.CancelledError as error:
        if task is not None and task.cancelling():
            raise
        raise KafkaError(f"{what} was cancelled by its own code") from error


__all__ = [
    "CredentialsProvider",
    "SaslCredentials",
    "ask_provider",
    "present_credentials",
]
