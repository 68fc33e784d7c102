"""EndTxn: commits or aborts a transaction.

From version 5 on it returns the next producer id and epoch (KIP-890).

The response comes after the markers are written. So a test sees a transaction open or ended, never
in between. `hold_transaction_markers` is the exception.
"""

from aiokafka_lite.errors import BrokerResponseError, InvalidProducerEpoch, ProducerFenced
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId


def handle(context: RequestContext, request: EndTxnRequest) -> EndTxnResponse:
    bumps_epoch = context.version >= EndTxnRequest.transactions_v2_since
    try:
        context.session.check_transactional_id(Operation.WRITE, request.transactional_id)
        context.injected.raise_for()
        context.transactions.nodes.check(request.transactional_id, context.node_id)
        going_on = context.transactions.end(
            request.transactional_id,
            TxnProducerId(request.producer_id, request.producer_epoch),
            is_commit=request.committed,
            bumps_epoch=bumps_epoch,
        )
    except ProducerFenced as error:
        is_known = context.version >= EndTxnRequest.fenced_since
        return EndTxnResponse(error_code=error.errno if is_known else InvalidProducerEpoch.errno)
    except BrokerResponseError as error:
        return EndTxnResponse(error_code=error.errno)
    if not bumps_epoch:
        return EndTxnResponse()
    return EndTxnResponse(producer_id=going_on.producer_id, producer_epoch=going_on.producer_epoch)


HANDLER = Handler(EndTxnRequest, handle, VersionRange(0, 5))


__all__ = ["handle"]
