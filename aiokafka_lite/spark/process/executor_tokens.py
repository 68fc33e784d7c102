"""Keeps the delegation tokens of a planning process: executors log in by them (KIP-48).

A token is made with the user's credentials when it is first needed. It is renewed when three
quarters of its time have passed, as far as its greatest age allows; then another one is made. Who
plans asks before each batch. It waits, in the loop of `worker`.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.kafka_error import KafkaError, reason_of
from aiokafka_lite.spark.options.admin_arguments import admin_arguments
from aiokafka_lite.spark.options.sealed_properties import SECURITY, SealedProperties
from aiokafka_lite.spark.process.worker import Worker, worker

if TYPE_CHECKING:
    from aiokafka_lite.admin import DelegationToken

logger = logging.getLogger(__name__)

_RENEW_AT: Final = 0.75
"""The part of a token's time after which it is renewed, as in Spark's own connector."""


class TokenSource(Protocol):
    """Asks a cluster for tokens. It blocks. Raises: KafkaError."""

    def create(self, client: Mapping[str, object]) -> "DelegationToken": ...

    def renew(self, client: Mapping[str, object], token: "DelegationToken") -> int:
        """Return the new time of expiry, in ms."""
        ...


class AdminTokens:
    """Asks by an admin client, made for each question."""

    def __init__(self, find_worker: Callable[[], Worker] = worker) -> None:
        self._find_worker = find_worker

    def create(self, client: Mapping[str, object]) -> "DelegationToken":
        async def ask() -> "DelegationToken":
            from aiokafka_lite.admin import AIOKafkaAdminClient  # noqa: PLC0415 - only where it is used

            async with AIOKafkaAdminClient(**admin_arguments(client)) as admin:
                return await admin.create_delegation_token()

        return self._find_worker().run(ask)

    def renew(self, client: Mapping[str, object], token: "DelegationToken") -> int:
        async def ask() -> int:
            from aiokafka_lite.admin import AIOKafkaAdminClient  # noqa: PLC0415 - only where it is used

            async with AIOKafkaAdminClient(**admin_arguments(client)) as admin:
                return await admin.renew_delegation_token(token.hmac)

        return self._find_worker().run(ask)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A token, and its times by the clock of this process, which may differ from the broker's."""

    token: "DelegationToken"
    renew_s: float
    expires_s: float

    @classmethod
    def received(cls, token: "DelegationToken", now_s: float) -> "_Kept":
        life_s = (token.expiry_timestamp - token.issue_timestamp) / 1000
        return cls(token, now_s + _RENEW_AT * life_s, now_s + life_s)

    def renewed(self, expiry_timestamp: int, now_s: float) -> "_Kept":
        longer_s = (expiry_timestamp - self.token.expiry_timestamp) / 1000
        expires_s = self.expires_s + longer_s
        token = self.token._replace(expiry_timestamp=expiry_timestamp)
        return _Kept(token, now_s + _RENEW_AT * (expires_s - now_s), expires_s)

    @property
    def may_be_renewed(self) -> bool:
        return self.token.expiry_timestamp < self.token.max_timestamp


class ExecutorTokens:
    """The tokens of this process: one for each user of each cluster."""

    def __init__(self, source: TokenSource | None = None, clock: Clock = SYSTEM_CLOCK) -> None:
        self._source = AdminTokens() if source is None else source
        self._clock = clock
        self._kept: dict[tuple[object, ...], _Kept] = {}

    def for_executors(self, client: Mapping[str, object], mechanism: str) -> SealedProperties:
        """Return the security properties of a client that logs in by a token of the user.

        `client` has the user's own ones. Nothing is asked while the token of an earlier call is
        fresh. A renewal that fails is a warning as long as the token is valid.

        Raises: KafkaConfigurationError naming cause and remedy, if there is no valid token.
        """
        own = client[SECURITY]
        assert isinstance(own, SealedProperties)
        key = (client.get("bootstrap_servers"), own)
        self._kept[key] = kept = self._fresh(client, self._kept.get(key))
        return own.for_token(kept.token.token_id, kept.token.password, mechanism)

    def _fresh(self, client: Mapping[str, object], kept: _Kept | None) -> _Kept:
        now_s = self._clock.monotonic()
        if kept is not None and now_s < kept.renew_s:
            return kept
        try:
            if kept is not None and now_s < kept.expires_s and kept.may_be_renewed:
                return kept.renewed(self._source.renew(client, kept.token), now_s)
            return _Kept.received(self._source.create(client), now_s)
        except KafkaError as error:
            if kept is None or now_s >= kept.expires_s:
                raise KafkaConfigurationError(
                    f"option delegationToken: the cluster gives no token: {reason_of(error)}. It"
                    " needs delegation.token.secret.key on the brokers, and a user that has not"
                    " logged in by a token"
                ) from error
            logger.warning("the delegation token is not renewed yet: %s", reason_of(error))
            return kept


_of_process: Final[list[ExecutorTokens]] = []


def executor_tokens() -> ExecutorTokens:
    """Return the tokens of this process. Does not wait."""
    if not _of_process:
        _of_process.append(ExecutorTokens())
    return _of_process[0]


__all__ = ["AdminTokens", "ExecutorTokens", "TokenSource", "executor_tokens"]
