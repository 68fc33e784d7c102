"""Owns the conversation with the coordinators of a transaction: one question at a time, asked until
there is an answer that means something.

What is asked, and what an error does to the transaction, is the manager's business.
Source: 2d'-4, TransactionManager.TxnRequestHandler.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache, CoordinatorType
from aiokafka_lite.cluster.error_actions import ErrorActions
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.errors import (
    BrokerResponseError,
    ConcurrentTransactions,
    KafkaError,
)
from aiokafka_lite.producer.transaction.transaction_errors import TxnAction
from aiokafka_lite.schema.message import Request, Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)

FIND_BOUND_S = 1.0
"""How long to look for a coordinator before asking whether the question is still of use."""
CONCURRENT_RETRY_S = 0.02
"""How soon to ask again while the transaction before this one is still being finished."""


class TransactionError(Exception):
    """An answer that ends the question: what it calls for, and the error to tell the user."""

    def __init__(
        self, action: TxnAction, error: KafkaError, *, may_be_served: bool = False
    ) -> None:
        super().__init__(str(error))
        self.action = action
        self.error = error
        self.may_be_served = may_be_served
        """An attempt before has had no answer, so that what was asked may be done all the same."""


class _Failure(NamedTuple):
    """Why a request is to be sent again."""

    error: KafkaError
    may_be_served: bool
    """It was sent, and not answered: nobody knows."""


class TransactionCoordinator:
    """Asks the coordinator of a transactional id, and those of groups, in its name."""

    def __init__(self, client: KafkaClient, transactional_id: str) -> None:
        self._client = client
        self._cache = CoordinatorCache(client)
        self._transactional_id = transactional_id
        self._turn = asyncio.Lock()

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
    ) -> R:
        """Return the first answer without error, of the coordinator of the transaction or, with
        `group_id`, of that group. Asks again after errors that time, or another coordinator, mend;
        but once `gives_up()`, only until it is known whether the last request was served.

        Raises: TransactionError, which says whether an earlier attempt may have been served.
        Cancelled: a request on its way may be served.
        """
        key = (CoordinatorType.TRANSACTION, self._transactional_id)
        if group_id is not None:
            key = (CoordinatorType.GROUP, group_id)
        attempts = 0
        is_in_doubt = False
        while True:
            try:
                failure = await self._ask_once(what, key, request, error_of, actions, max_version)
            except TransactionError as refusal:
                refusal.may_be_served = is_in_doubt
                raise
            if not isinstance(failure, _Failure):
                return failure
            error = failure.error
            is_in_doubt = is_in_doubt or failure.may_be_served
            if not failure.may_be_served and gives_up():
                raise TransactionError(TxnAction.ABORT, error, may_be_served=is_in_doubt)
            is_concurrent = isinstance(error, ConcurrentTransactions)
            level = logging.DEBUG if attempts or is_concurrent else logging.INFO
            logger.log(level, "%s: %s; asking again", what, error)
            delay_s = self._client.retry_backoff.delay(attempts)
            if is_concurrent:  # markers are being written: part of normal life, and soon over
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
    ) -> "R | _Failure":
        """Return the answer, or the failure after which it makes sense to ask again."""
        node_id: int | None = None
        try:
            found = await self._cache.find(*key, FIND_BOUND_S)
            async with self._turn:  # one transactional request at a time
                node_id = found
                answer = await self._client.network.request(
                    node_id, request(), lane=Lane.COORDINATOR, max_version=max_version
                )
        except KafkaError as error:
            if error.retriable:
                if node_id is not None:
                    self._cache.forget(*key, error, failed=node_id)
                return _Failure(error, may_be_served=node_id is not None)
            action = TxnAction.FATAL
            if isinstance(error, BrokerResponseError):
                action, _ = actions.action_for(error.errno)
            raise TransactionError(action, error) from error
        code = error_of(answer)
        if not code:
            return answer
        action, error_class = actions.action_for(code)
        text = f"{what} for transactional_id={self._transactional_id!r}: {error_class.description}"
        if action is TxnAction.FIND_COORDINATOR:
            self._cache.forget(*key, error_class.message, failed=node_id)
        if action in (TxnAction.FIND_COORDINATOR, TxnAction.RETRY):
            return _Failure(error_class(text), may_be_served=False)
        raise TransactionError(action, error_class(text))


__all__ = ["TransactionCoordinator", "TransactionError"]
