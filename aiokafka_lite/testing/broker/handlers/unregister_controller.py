"""UnregisterController: forgets the controller of a node that is down, until it starts again.

Source: ClusterControlManager.unregisterController.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(
    context: RequestContext, request: UnregisterControllerRequest
) -> UnregisterControllerResponse:
    try:
        context.session.check_cluster(Operation.ALTER)
        context.injected.raise_for()
        context.cluster.unregister_controller(request.controller_id)
    except BrokerResponseError as error:
        return UnregisterControllerResponse(error_code=error.errno, error_message=reason_of(error))
    return UnregisterControllerResponse(error_message=None)


HANDLER = Handler(UnregisterControllerRequest, handle, VersionRange(0, 0))


__all__ = ["handle"]
