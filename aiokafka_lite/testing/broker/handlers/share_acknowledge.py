"""ShareAcknowledge: a member of a share group tells what became of records (KIP-932).

Source: KafkaApis.handleShareAcknowledgeRequest, SharePartitionManager.acknowledgeSessionUpdate.
"""

from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidShareSessionEpochError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.share_acknowledge import (
    AcknowledgePartition,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._share_requests import (
    REQUEST_ERRORS,
    acknowledge,
    check_member,
    leader_after,
)
from aiokafka_lite.testing.broker.state.groups.share_sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    SharedPartition,
)


def handle(context: RequestContext, request: ShareAcknowledgeRequest) -> ShareAcknowledgeResponse:
    epoch = request.share_session_epoch
    try:
        member = check_member(context, request.group_id, request.member_id)
        context.injected.raise_for(among=REQUEST_ERRORS)
        if epoch == INITIAL_EPOCH:
            raise InvalidShareSessionEpochError("ShareAcknowledge opens no session")
        session = context.on_node.share_sessions.resume(*member, epoch)
    except BrokerResponseError as error:
        return ShareAcknowledgeResponse(error_code=error.errno, error_message=reason_of(error))
    responses = [
        ShareAcknowledgeTopicResponse(
            topic_id=topic.topic_id,
            partitions=[
                _partition(
                    context,
                    member,
                    SharedPartition(topic.topic_id, asked.partition_index),
                    asked,
                    may_renew=request.is_renew_ack,
                )
                for asked in topic.partitions
                if asked.acknowledgement_batches
            ],
        )
        for topic in request.topics
    ]
    if epoch == FINAL_EPOCH:
        context.on_node.end_share_session(session)
    leaders = {
        each.current_leader.leader_id
        for topic in responses
        for each in topic.partitions
        if each.error_code
    }
    group = context.groups.find_share(member[0])
    return ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=0 if group is None else group.settings.lock_duration_ms,
        responses=[topic for topic in responses if topic.partitions],
        node_endpoints=context.leader_endpoints(leaders),
    )


def _partition(
    context: RequestContext,
    member: tuple[str, str],
    where: SharedPartition,
    asked: AcknowledgePartition,
    *,
    may_renew: bool,
) -> PartitionData:
    error = acknowledge(context, member, where, asked.acknowledgement_batches, may_renew=may_renew)
    told = PartitionData(partition_index=where.partition)
    if error is not None:
        told.error_code, told.error_message = error.errno, reason_of(error)
        told.current_leader = leader_after(context, where, error)
    return told


HANDLER = Handler(ShareAcknowledgeRequest, handle, VersionRange(1, 2))


__all__ = ["handle"]
