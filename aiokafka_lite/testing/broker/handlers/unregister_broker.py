"""UnregisterBroker: forgets a node until it starts again (KIP-631)."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(context: RequestContext, request: UnregisterBrokerRequest) -> UnregisterBrokerResponse:
    try:
        context.session.check_cluster(Operation.ALTER)
        context.injected.raise_for()
        context.cluster.unregister(request.broker_id)
    except BrokerResponseError as error:
        return UnregisterBrokerResponse(error_code=error.errno, error_message=reason_of(error))
    return UnregisterBrokerResponse(error_message=None)


HANDLER = Handler(UnregisterBrokerRequest, handle, VersionRange(0, 0))


__all__ = ["handle"]
