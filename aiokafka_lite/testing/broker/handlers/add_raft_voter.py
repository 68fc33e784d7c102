"""AddRaftVoter: a node that runs becomes a voter again (KIP-853).

Source: KafkaRaftClient.handleAddVoterRequest, AddVoterHandler.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.add_raft_voter import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(context: RequestContext, request: AddRaftVoterRequest) -> AddRaftVoterResponse:
    try:
        context.session.check_cluster(Operation.ALTER)
        context.injected.raise_for()
        context.cluster.add_voter(
            request.cluster_id,
            request.voter_id,
            request.voter_directory_id,
            [each.name for each in request.listeners],
        )
    except BrokerResponseError as error:
        return AddRaftVoterResponse(error_code=error.errno, error_message=reason_of(error))
    return AddRaftVoterResponse(error_message=None)


HANDLER = Handler(AddRaftVoterRequest, handle, VersionRange(0, 1))


__all__ = ["handle"]
