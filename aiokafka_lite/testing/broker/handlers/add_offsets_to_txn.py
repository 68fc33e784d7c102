"""AddOffsetsToTxn: adds the offsets of a group to a transaction (V1)."""

from aiokafka_lite.errors import BrokerResponseError, InvalidProducerEpoch, ProducerFenced
from aiokafka_lite.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId


def handle(context: RequestContext, request: AddOffsetsToTxnRequest) -> AddOffsetsToTxnResponse:
    try:
        context.session.check_transactional_id(Operation.WRITE, request.transactional_id)
        context.session.check_group(Operation.READ, request.group_id)
        context.injected.raise_for()
        context.transactions.nodes.check(request.transactional_id, context.node_id)
        context.transactions.add(
            request.transactional_id,
            TxnProducerId(request.producer_id, request.producer_epoch),
            groups=(request.group_id,),
        )
    except ProducerFenced as error:
        is_known = context.version >= AddOffsetsToTxnRequest.fenced_since
        return AddOffsetsToTxnResponse(
            error_code=error.errno if is_known else InvalidProducerEpoch.errno
        )
    except BrokerResponseError as error:
        return AddOffsetsToTxnResponse(error_code=error.errno)
    return AddOffsetsToTxnResponse()


HANDLER = Handler(AddOffsetsToTxnRequest, handle, VersionRange(0, 4))


__all__ = ["handle"]
