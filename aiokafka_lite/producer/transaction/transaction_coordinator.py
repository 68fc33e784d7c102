"""Sends requests to the coordinators of a transaction, one at a time, and again until a response is
conclusive.

`TransactionManager` decides what is sent, and what an error does to the transaction.
Source: 2d'-4, TransactionManager.TxnRequestHandler.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache, CoordinatorType
from aiokafka_lite.cluster.error_actions import ErrorActions
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.concurrency.long_waits import LongWait
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    BrokerResponseError,
    ConcurrentTransactions,
    KafkaError,
)
from aiokafka_lite.producer.transaction.transaction_errors import FIND_ACTIONS, TxnAction
from aiokafka_lite.schema.message import Request, Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)

FIND_BOUND_S = 1.0
"""How long to look for a coordinator before `gives_up()` is asked again."""
CONCURRENT_RETRY_S = 0.02
"""The pause before the next attempt while the transaction before this one is being finished."""


class TransactionError(Exception):
    """A conclusive error response: the action it calls for, and the error for the user."""

    def __init__(
        self, action: TxnAction, error: KafkaError, *, may_be_served: bool = False
    ) -> None:
        super().__init__(str(error))
        self.action = action
        self.error = error
        self.may_be_served = may_be_served
        """An earlier attempt has had no response, so the request may have been served."""


class _Failure(NamedTuple):
    """Why a request is sent again."""

    error: KafkaError
    may_be_served: bool
    """The request was sent and has had no response."""


class TransactionCoordinator:
    """Sends requests to the coordinator of a transactional id, and to those of groups."""

    def __init__(self, client: KafkaClient, transactional_id: str) -> None:
        self._client = client
        self._cache = CoordinatorCache(client)
        self._transactional_id = transactional_id
        self._whose = f"transaction {quoted(transactional_id)}"
        self._turn = asyncio.Lock()
        self.is_closing = False
        """Whether the producer stops, so that nobody will mend what a node refuses."""
        self.failures: dict[str, KafkaError] = {}
        """Why each request that goes on failed last, by what it is."""

    @property
    def last_failure(self) -> str:
        """What failed last of the requests that go on, for the end of an error's text; or ""."""
        if not self.failures:
            return ""
        return f"; last failure: {next(reversed(self.failures.values()))}"

    async def ask(
        self,
        what: str,
        request: Callable[[], Request[R]],
        error_of: Callable[[R], int],
        actions: ErrorActions[TxnAction],
        *,
        max_version: int | None = None,
        group_id: str | None = None,
        gives_up: Callable[[], bool] = lambda: False,
        refused: Callable[[R, int], str] | None = None,
    ) -> R:
        """Return the first response without error: of the transaction's coordinator or, with
        `group_id`, of that group's. Retriable errors lead to another attempt; once `gives_up()`
        returns True, only until it is known whether the last request was served.
        `refused(response, code)` names what has that error, for the text of the error.

        A failed authentication aborts the transaction, for the next attempt may succeed. If an
        earlier request may have been served, only another response tells whether there is still
        something to abort, so the request is sent again.

        Raises: TransactionError, which says whether an earlier attempt may have been served.
        Cancelled: a request in flight may be served.
        """
        key, whose = (CoordinatorType.TRANSACTION, self._transactional_id), self._whose
        if group_id is not None:
            key, whose = (CoordinatorType.GROUP, group_id), f"group {quoted(group_id)}"
        with self._client.waits.of(
            f"the coordinator of {whose} to answer {what}",
            "check the brokers, and the topics __transaction_state and __consumer_offsets",
        ) as wait:
            return await self._ask(
                what, key, wait, request, error_of, actions, max_version, gives_up, refused
            )

    async def _ask(
        self,
        what: str,
        key: tuple[CoordinatorType, str],
        wait: LongWait,
        request: Callable[[], Request[R]],
        error_of: Callable[[R], int],
        actions: ErrorActions[TxnAction],
        max_version: int | None,
        gives_up: Callable[[], bool],
        refused: Callable[[R, int], str] | None,
    ) -> R:
        attempts = 0
        is_in_doubt = False
        while True:
            try:
                failure = await self._ask_once(
                    what, key, request, error_of, actions, max_version, refused
                )
                if self.failures:
                    self.failures.pop(what, None)
            except TransactionError as refusal:
                self.failures.pop(what, None)
                refusal.may_be_served = is_in_doubt
                raise
            if not isinstance(failure, _Failure):
                return failure
            error = self.failures[what] = failure.error
            wait.failed(error)
            if isinstance(error, AuthenticationFailedError) and (
                self.is_closing or not is_in_doubt
            ):
                raise TransactionError(TxnAction.ABORT, error, may_be_served=is_in_doubt)
            is_in_doubt = is_in_doubt or failure.may_be_served
            if not failure.may_be_served and gives_up():
                raise TransactionError(TxnAction.ABORT, error, may_be_served=is_in_doubt)
            is_concurrent = isinstance(error, ConcurrentTransactions)
            level = logging.DEBUG if attempts or is_concurrent else logging.INFO
            logger.log(level, "%s: %s; asking again", what, error)
            delay_s = self._client.retry_backoff.delay(attempts)
            if is_concurrent:  # brokers still write the markers of the transaction before
                delay_s = min(delay_s, CONCURRENT_RETRY_S)
            await self._client.clock.sleep(delay_s)
            attempts += 1
            if not failure.may_be_served and gives_up():
                raise TransactionError(TxnAction.ABORT, error, may_be_served=is_in_doubt)

    async def _ask_once(
        self,
        what: str,
        key: tuple[CoordinatorType, str],
        request: Callable[[], Request[R]],
        error_of: Callable[[R], int],
        actions: ErrorActions[TxnAction],
        max_version: int | None,
        refused: Callable[[R, int], str] | None,
    ) -> "R | _Failure":
        """Return the response, or the failure after which the request is sent again."""
        node_id: int | None = None
        try:
            found = await self._cache.find(*key, FIND_BOUND_S)
            async with self._turn:  # one transactional request at a time
                node_id = found
                answer = await self._client.network.request(
                    node_id, request(), lane=Lane.COORDINATOR, max_version=max_version
                )
        except KafkaError as error:
            if isinstance(error, AuthenticationFailedError):
                return _Failure(error, may_be_served=False)
            if error.retriable:
                if node_id is not None:
                    self._cache.forget(*key, error, failed=node_id)
                return _Failure(error, may_be_served=node_id is not None)
            action = TxnAction.FATAL
            if isinstance(error, BrokerResponseError):
                table = FIND_ACTIONS if node_id is None else actions
                action, _ = table.action_for(error.errno)
            raise TransactionError(action, error) from error
        code = error_of(answer)
        if not code:
            return answer
        action, error_class = actions.action_for(code)
        whose = f"transactional_id={quoted(self._transactional_id)}"
        if key[0] is CoordinatorType.GROUP:
            whose = f"group {quoted(key[1])} in the transaction of {whose}"
        names = "" if refused is None else f" of {refused(answer, code)}"
        text = f"{what}{names} for {whose}: {error_class.description}"
        if action is TxnAction.FIND_COORDINATOR:
            self._cache.forget(*key, error_class.message, failed=node_id)
        if action in (TxnAction.FIND_COORDINATOR, TxnAction.RETRY):
            return _Failure(error_class(text), may_be_served=False)
        raise TransactionError(action, error_class(text))


__all__ = ["TransactionCoordinator", "TransactionError"]
