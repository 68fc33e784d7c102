"""InitProducerId: a fresh id for each idempotent producer, the next epoch for a transactional one.

An idempotent producer that sends its old id and epoch gets a new id, too. It bumps epochs by
itself, and asks only when they have run out. Source: TransactionCoordinator.handleInitProducerId.
"""

from aiokafka_lite.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    InvalidProducerEpoch,
    InvalidRequestError,
    ProducerFenced,
)
from aiokafka_lite.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import (
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    TxnProducerId,
)


def handle(context: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse:
    try:
        _authorize(context, request.transactional_id)
        context.injected.raise_for()
        producer = _init(context, request, _claim(request))
    except ProducerFenced as error:
        is_known = context.version >= InitProducerIdRequest.fenced_since
        return _failed(error.errno if is_known else InvalidProducerEpoch.errno)
    except BrokerResponseError as error:
        return _failed(error.errno)
    return InitProducerIdResponse(
        producer_id=producer.producer_id, producer_epoch=producer.producer_epoch
    )


def _authorize(context: RequestContext, transactional_id: str | None) -> None:
    session = context.session
    if transactional_id is not None:
        session.check_transactional_id(Operation.WRITE, transactional_id)
    elif not session.may_write_without_transaction():
        raise ClusterAuthorizationFailedError(
            f"{session.principal} may neither WRITE to a topic nor IDEMPOTENT_WRITE in the cluster"
        )


def _claim(request: InitProducerIdRequest) -> TxnProducerId | None:
    claim = TxnProducerId(request.producer_id, request.producer_epoch)
    if (claim.producer_id == NO_PRODUCER_ID) != (claim.producer_epoch == NO_PRODUCER_EPOCH):
        raise InvalidRequestError("a producer id and its epoch come together or not at all")
    return None if claim.producer_id == NO_PRODUCER_ID else claim


def _init(
    context: RequestContext, request: InitProducerIdRequest, claim: TxnProducerId | None
) -> TxnProducerId:
    if request.transactional_id is None:
        return TxnProducerId(context.cluster.new_producer_id(), 0)
    if not request.transactional_id:
        raise InvalidRequestError("a transactional id has at least one character")
    context.transactions.nodes.check(request.transactional_id, context.node_id)
    return context.transactions.init_producer_id(
        request.transactional_id, request.transaction_timeout_ms, claim
    )


def _failed(error_code: int) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error_code, producer_epoch=NO_PRODUCER_EPOCH)


HANDLER = Handler(InitProducerIdRequest, handle, VersionRange(0, 5))


__all__ = ["handle"]
