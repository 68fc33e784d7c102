"""ListTransactions: the transactional ids that this node coordinates and that pass each filter.

Source: TransactionStateManager.listTransactionStates; KIP-664, KIP-994, KIP-1152.
"""

import re

from aiokafka_lite.errors import BrokerResponseError, InvalidRegularExpressionError
from aiokafka_lite.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import (
    TransactionMetadata,
    TxnState,
)

_STATES = {*TxnState, "PrepareEpochFence"}
_NOT_IN_RE2 = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9]")
"""Look-arounds and references to groups, which the broker's kind of expressions does not have."""


def handle(context: RequestContext, request: ListTransactionsRequest) -> ListTransactionsResponse:
    try:
        context.injected.raise_for()
        pattern = _compiled(request.transactional_id_pattern)
    except BrokerResponseError as error:
        return ListTransactionsResponse(error_code=error.errno)
    now_ms = int(context.on_node.clock.time() * 1000)
    return ListTransactionsResponse(
        unknown_state_filters=[name for name in request.state_filters if name not in _STATES],
        transaction_states=[
            TransactionState(
                transactional_id=metadata.transactional_id,
                producer_id=metadata.producer_id,
                transaction_state=metadata.state.value,
            )
            for metadata in context.transactions.coordinated_by(context.node_id)
            if _passes(metadata, request, now_ms)
            and (pattern is None or pattern.fullmatch(metadata.transactional_id))
            and context.session.may(
                Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, metadata.transactional_id
            )
        ],
    )


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    if not pattern:
        return None
    if _NOT_IN_RE2.search(pattern):
        raise InvalidRegularExpressionError(f"{pattern!r} is no regular expression of RE2")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InvalidRegularExpressionError(f"{pattern!r}: {error}") from error


def _passes(metadata: TransactionMetadata, request: ListTransactionsRequest, now_ms: int) -> bool:
    """Return whether a transactional id passes the filters.

    One that has begun no transaction passes each duration: its start is -1.
    """
    return (
        (not request.producer_id_filters or metadata.producer_id in request.producer_id_filters)
        and (not request.state_filters or metadata.state.value in request.state_filters)
        and (
            request.duration_filter < 0 or now_ms - metadata.start_time_ms > request.duration_filter
        )
    )


HANDLER = Handler(ListTransactionsRequest, handle, VersionRange(0, 2))


__all__ = ["handle"]
