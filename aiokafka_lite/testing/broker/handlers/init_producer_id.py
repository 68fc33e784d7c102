"""InitProducerId: a fresh producer id for each idempotent producer; transactions are not served.

An idempotent producer that brings its old id and epoch gets a new id too: it bumps epochs by
itself, and asks only when they have run out. Source: TransactionCoordinator.handleInitProducerId.
"""

from aiokafka_lite.errors import BrokerResponseError, InvalidRequestError
from aiokafka_lite.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext


def handle(context: RequestContext, request: InitProducerIdRequest) -> InitProducerIdResponse:
    try:
        context.injected.raise_for()
        if request.transactional_id is not None:
            raise InvalidRequestError("this broker does not take part in transactions yet")
        if (request.producer_id == -1) != (request.producer_epoch == -1):
            raise InvalidRequestError("a producer id and its epoch come together or not at all")
    except BrokerResponseError as error:
        return InitProducerIdResponse(error_code=error.errno, producer_epoch=-1)
    return InitProducerIdResponse(producer_id=context.cluster.new_producer_id(), producer_epoch=0)


HANDLER = Handler(InitProducerIdRequest, handle, VersionRange(0, 5))
