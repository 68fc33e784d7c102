"""Calls that list, alter and delete where share groups begin to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error
from aiokafka_lite.admin.groups.group_route import coordinator_of
from aiokafka_lite.admin.groups.group_states import OFFSETS_WAIT, raise_with_state
from aiokafka_lite.admin.groups.group_values import SharePartitionOffset, checked_id
from aiokafka_lite.checks.item_lists import list_of
from aiokafka_lite.checks.offset_arguments import checked_offsets
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.cluster.coordinator_cache import CoordinatorType
from aiokafka_lite.errors import KafkaError, RebalanceInProgressError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from aiokafka_lite.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from aiokafka_lite.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponseGroup,
)

ShareOffsets = Outcomes[TopicPartition, SharePartitionOffset]


class ShareOffsetCalls(AdminFamily):
    """Start offsets of share groups."""

    async def list_share_group_offsets(
        self, group_id: str, timeout_ms: int | None = None
    ) -> ShareOffsets:
        """Return the start offset of each partition that a share group has begun to read.

        A group that does not exist has none. A partition that fails has its error as the value.

        Raises: GroupAuthorizationFailedError; UnsupportedVersionError if the nodes are older than
        4.1; KafkaConnectionError, KafkaTimeoutError or another error without an answer within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-932, KIP-1226.
        """

        async def ask(node: AskedNode, keys: list[str]) -> Mapping[str, ShareOffsets | KafkaError]:
            groups = [
                DescribeShareGroupOffsetsRequestGroup(group_id=key, topics=None) for key in keys
            ]
            answer = await node.request(DescribeShareGroupOffsetsRequest(groups=groups))
            return {each.group_id: _offsets(each) for each in answer.groups}

        requests = self._running()
        found = await requests.for_each(
            "list_share_group_offsets()",
            [checked_id(group_id)],
            requests.routes.coordinator(CoordinatorType.GROUP),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )
        found.raise_first()
        return found.succeeded[group_id]

    async def alter_share_group_offsets(
        self, group_id: str, offsets: Mapping[TopicPartition, int], timeout_ms: int | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Let a share group without members begin to read elsewhere; make it if it does not exist.

        A partition that fails has its error as the value, such as UnknownTopicOrPartitionError.

        Raises: NonEmptyGroup if the group has members; GroupIdNotFound if it is of another kind;
        ValueError or TypeError for other values than offsets by TopicPartition; otherwise as
        `list_share_group_offsets`.
        Cancelled: the node may store the offsets nevertheless.
        Source: KIP-932.
        """
        new = checked_offsets(offsets)

        async def ask(
            node: AskedNode, keys: list[TopicPartition]
        ) -> Mapping[TopicPartition, KafkaError | None]:
            topics: dict[str, list[AlterShareGroupOffsetsRequestPartition]] = {}
            for key in keys:
                row = AlterShareGroupOffsetsRequestPartition(
                    partition_index=key.partition, start_offset=new[key].offset
                )
                topics.setdefault(key.topic, []).append(row)
            request = AlterShareGroupOffsetsRequest(
                group_id=group_id,
                topics=[
                    AlterShareGroupOffsetsRequestTopic(topic_name=name, partitions=rows)
                    for name, rows in topics.items()
                ],
            )
            answer = await node.request(request)
            await raise_with_state(
                node, answer.error_code, answer.error_message, group_id, OFFSETS_WAIT
            )
            return {
                TopicPartition(topic.topic_name, each.partition_index): broker_error(
                    each.error_code,
                    each.error_message,
                    f"partition '{topic.topic_name}-{each.partition_index}'",
                )
                for topic in answer.responses
                for each in topic.partitions
            }

        requests = self._running()
        return await requests.for_each(
            "alter_share_group_offsets()",
            new,
            coordinator_of(requests, checked_id(group_id)),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            passing_errors=(RebalanceInProgressError,),
        )

    async def delete_share_group_offsets(
        self, group_id: str, topics: Sequence[str], timeout_ms: int | None = None
    ) -> Outcomes[str, None]:
        """Let a share group without members forget topics, so that it begins anew with them.

        A topic that fails has its error as the value, such as UnknownTopicOrPartitionError.

        Raises: as `alter_share_group_offsets`; IllegalArgumentError for anything but a list of
        topics; GroupIdNotFound also if there is no such group.
        Cancelled: the node may delete the offsets nevertheless.
        Source: KIP-932.
        """
        asked = list_of("topics", topics, str)
        for topic in asked:
            check_topic_name(topic)

        async def ask(node: AskedNode, keys: list[str]) -> Mapping[str, KafkaError | None]:
            request = DeleteShareGroupOffsetsRequest(
                group_id=group_id,
                topics=[DeleteShareGroupOffsetsRequestTopic(topic_name=name) for name in keys],
            )
            answer = await node.request(request)
            await raise_with_state(
                node, answer.error_code, answer.error_message, group_id, OFFSETS_WAIT
            )
            return {
                each.topic_name: broker_error(
                    each.error_code, each.error_message, f"topic {quoted(each.topic_name)}"
                )
                for each in answer.responses
            }

        requests = self._running()
        return await requests.for_each(
            "delete_share_group_offsets()",
            asked,
            coordinator_of(requests, checked_id(group_id)),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            passing_errors=(RebalanceInProgressError,),
        )


def _offsets(group: DescribeShareGroupOffsetsResponseGroup) -> ShareOffsets | KafkaError:
    error = broker_error(group.error_code, group.error_message, f"group {quoted(group.group_id)}")
    if error is not None:
        return error
    found: ShareOffsets = Outcomes()
    for topic in group.topics:
        for each in topic.partitions:
            name, index = topic.topic_name, each.partition_index
            error = broker_error(each.error_code, each.error_message, f"partition '{name}-{index}'")
            if error is None and each.start_offset < 0:
                continue  # the group has not begun to read it
            found[TopicPartition(name, index)] = error or SharePartitionOffset(
                each.start_offset,
                each.leader_epoch if each.leader_epoch >= 0 else None,
                each.lag if each.lag >= 0 else None,
            )
    return found


__all__ = ["ShareOffsetCalls"]
