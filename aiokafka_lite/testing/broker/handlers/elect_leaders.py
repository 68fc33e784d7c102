"""ElectLeaders: makes the preferred replica the leader, or any live one (KIP-183, KIP-460).

Source: ReplicationControlManager.electLeaders, ControllerApis.handleElectLeaders.
"""

from collections.abc import Iterator

from aiokafka_lite.errors import (
    BrokerResponseError,
    ElectionNotNeededError,
    EligibleLeadersNotAvailableError,
    InvalidRequestError,
    PreferredLeaderNotAvailableError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import NO_LEADER, BrokerPartition

PREFERRED, UNCLEAN = 0, 1


def handle(context: RequestContext, request: ElectLeadersRequest) -> ElectLeadersResponse:
    try:
        context.session.check_cluster(Operation.ALTER)
        if request.election_type not in (PREFERRED, UNCLEAN):
            raise InvalidRequestError(f"Unknown election type {request.election_type}")
    except BrokerResponseError as error:
        return _refused(context, request, error)
    results: dict[str, ReplicaElectionResult] = {}
    for tp in _asked(context, request):
        result = PartitionResult(partition_id=tp.partition, error_message=None)
        topic = results.setdefault(tp.topic, ReplicaElectionResult(topic=tp.topic))
        try:
            context.injected.raise_for(tp)
            _elect(context, context.cluster.partition(tp), request.election_type)
        except ElectionNotNeededError as error:
            if request.topic_partitions is None:
                continue
            result.error_code, result.error_message = error.errno, reason_of(error)
        except BrokerResponseError as error:
            result.error_code, result.error_message = error.errno, reason_of(error)
        topic.partition_result.append(result)
    return ElectLeadersResponse(replica_election_results=list(results.values()))


def _refused(
    context: RequestContext, request: ElectLeadersRequest, error: BrokerResponseError
) -> ElectLeadersResponse:
    response = ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    PartitionResult(
                        partition_id=index,
                        error_code=error.errno,
                        error_message=reason_of(error),
                    )
                    for index in topic.partitions
                ],
            )
            for topic in request.topic_partitions or ()
        ]
    )
    if context.version >= ElectLeadersRequest.election_type_since:
        response.error_code = error.errno
    return response


def _asked(context: RequestContext, request: ElectLeadersRequest) -> Iterator[TopicPartition]:
    if request.topic_partitions is None:
        for topic in context.cluster.topics.values():
            yield from (each.topic_partition for each in topic.partitions)
    else:
        for asked in request.topic_partitions:
            yield from (TopicPartition(asked.topic, index) for index in asked.partitions)


def _elect(context: RequestContext, partition: BrokerPartition, election_type: int) -> None:
    preferred = partition.replicas[0]
    if partition.leader == preferred or (
        election_type == UNCLEAN and partition.leader != NO_LEADER
    ):
        raise ElectionNotNeededError("Leader election not needed for topic partition.")
    if election_type == PREFERRED:
        if preferred not in context.cluster.in_sync_replicas(partition):
            raise PreferredLeaderNotAvailableError("The preferred leader was not available.")
        partition.lead(preferred)
        return
    alive = [each for each in partition.replicas if context.cluster.nodes[each].is_alive]
    if not alive:
        raise EligibleLeadersNotAvailableError(
            "Eligible topic partition leaders are not available."
        )
    partition.catching_up.discard(alive[0])
    partition.lead(alive[0])


HANDLER = Handler(ElectLeadersRequest, handle, VersionRange(0, 2))


__all__ = ["handle"]
