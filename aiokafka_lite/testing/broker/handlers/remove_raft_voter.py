"""RemoveRaftVoter: a voter becomes an observer (KIP-853).

Source: KafkaRaftClient.handleRemoveVoterRequest, RemoveVoterHandler.
"""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(context: RequestContext, request: RemoveRaftVoterRequest) -> RemoveRaftVoterResponse:
    try:
        context.session.check_cluster(Operation.ALTER)
        context.injected.raise_for()
        context.cluster.remove_voter(
            request.cluster_id, request.voter_id, request.voter_directory_id
        )
    except BrokerResponseError as error:
        return RemoveRaftVoterResponse(error_code=error.errno, error_message=reason_of(error))
    return RemoveRaftVoterResponse(error_message=None)


HANDLER = Handler(RemoveRaftVoterRequest, handle, VersionRange(0, 0))


__all__ = ["handle"]
