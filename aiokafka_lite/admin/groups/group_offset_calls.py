"""Calls that list, alter and delete the committed offsets of groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes
from aiokafka_lite.admin.calls.request_routes import Route
from aiokafka_lite.admin.groups.group_offset_messages import (
    PartitionsByGroup,
    commit_request,
    commit_results,
    delete_request,
    delete_results,
    fetch_request,
    fetch_results,
)
from aiokafka_lite.admin.groups.group_route import coordinator_of
from aiokafka_lite.admin.groups.group_states import (
    OFFSETS_WAIT,
    SUBSCRIBED,
    raise_with_state,
    with_states,
)
from aiokafka_lite.admin.groups.group_values import checked_id, checked_ids
from aiokafka_lite.checks.item_lists import list_of, partitions_of
from aiokafka_lite.checks.offset_arguments import OffsetsToCommit, checked_offsets
from aiokafka_lite.cluster.coordinator_cache import CoordinatorType
from aiokafka_lite.errors import KafkaError, RebalanceInProgressError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest

GroupOffsets = Outcomes[TopicPartition, OffsetAndMetadata]


class GroupOffsetCalls(AdminFamily):
    """Committed offsets of groups: list, alter, delete."""

    async def list_consumer_group_offsets(
        self,
        group_id: str,
        group_coordinator_id: int | None = None,
        partitions: Sequence[TopicPartition] | None = None,
        timeout_ms: int | None = None,
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return the committed offsets of one group, of all partitions or of those named.

        A partition that is named and has no offset has -1. A group that does not exist has none.

        Raises: GroupAuthorizationFailedError, TopicAuthorizationFailedError or the error of the
        first partition that failed; KafkaConnectionError, KafkaTimeoutError or another error
        without an answer within `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        """
        requests = self._running()
        asked = {checked_id(group_id): _checked_partitions(partitions)}
        if asked[group_id] == []:
            return {}
        route: Route[str] = requests.routes.coordinator(CoordinatorType.GROUP)
        if group_coordinator_id is not None:
            (node_id,) = list_of("group_coordinator_id", [group_coordinator_id], int)
            route = requests.routes.node(lambda _: node_id)
        found = await self._fetch_group_offsets(
            "list_consumer_group_offsets()", asked, route, timeout_ms
        )
        found.raise_first()
        found.succeeded[group_id].raise_first()
        return found.succeeded[group_id].succeeded

    async def list_group_offsets(
        self,
        groups: Mapping[str, Sequence[TopicPartition] | None] | Sequence[str],
        require_stable: bool = False,
        timeout_ms: int | None = None,
    ) -> Outcomes[str, GroupOffsets]:
        """Return the committed offsets of several groups, one request for each coordinator.

        `groups` names groups, or partitions by group; None stands for all partitions. The value of
        a group is a dict by partition. A group or partition that fails has its error there. With
        `require_stable`, the call waits for offsets that an open transaction may still change.

        Raises: IllegalArgumentError for other values; UnsupportedVersionError for `require_stable`
        if the brokers are older than 2.5; KafkaConnectionError, KafkaTimeoutError or another error
        if no node answered within `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-709, KIP-447.
        """
        requests = self._running()
        given = groups if isinstance(groups, Mapping) else dict.fromkeys(checked_ids(groups))
        asked = {checked_id(name): _checked_partitions(some) for name, some in given.items()}
        route = requests.routes.coordinator(CoordinatorType.GROUP)
        return await self._fetch_group_offsets(
            "list_group_offsets()", asked, route, timeout_ms, require_stable=require_stable
        )

    async def _fetch_group_offsets(
        self,
        what: str,
        asked: PartitionsByGroup,
        route: Route[str],
        timeout_ms: int | None,
        *,
        require_stable: bool = False,
    ) -> Outcomes[str, GroupOffsets]:
        requests = self._running()
        highest = OffsetFetchRequest.topic_ids_since - 1  # by name

        async def ask(node: AskedNode, keys: list[str]) -> Mapping[str, GroupOffsets | KafkaError]:
            version = await node.version_of(OffsetFetchRequest) or 0
            has_groups = version >= OffsetFetchRequest.groups_since
            parts = [keys] if has_groups else [[key] for key in keys]  # brokers before 3.0
            found: dict[str, GroupOffsets | KafkaError] = {}
            for part in parts:
                request = fetch_request(
                    {key: asked[key] for key in part}, version, require_stable=require_stable
                )
                response = await node.request(request, max_version=highest)
                found |= fetch_results(None if has_groups else part[0], response)
            return found

        return await requests.for_each(
            what, asked, route, ask, timeout_s=self._timeout_s(timeout_ms)
        )

    async def alter_consumer_group_offsets(
        self, group_id: str, offsets: OffsetsToCommit, timeout_ms: int | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Store offsets of a group that has no members; the group is made if it does not exist.

        A partition that fails has its error as the value: UnknownTopicOrPartitionError,
        TopicAuthorizationFailedError, or UnknownMemberIdError if the group has members; its text
        names the group's state, its coordinator and what to do.

        Raises: ValueError or TypeError for other values than offsets by TopicPartition;
        GroupAuthorizationFailedError; KafkaConnectionError, KafkaTimeoutError or another error
        without an answer within `timeout_ms` (None: request_timeout_ms).
        Cancelled: the node may store the offsets nevertheless.
        Source: KIP-396.
        """
        requests = self._running()
        new = checked_offsets(offsets)

        async def ask(
            node: AskedNode, keys: list[TopicPartition]
        ) -> Mapping[TopicPartition, KafkaError | None]:
            request = commit_request(group_id, {key: new[key] for key in keys})
            highest = OffsetCommitRequest.topic_ids_since - 1  # by name
            done = commit_results(await node.request(request, max_version=highest))
            return await with_states(node, done, lambda _: group_id, OFFSETS_WAIT)

        return await requests.for_each(
            "alter_consumer_group_offsets()",
            new,
            coordinator_of(requests, checked_id(group_id)),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            passing_errors=(RebalanceInProgressError,),
        )

    async def delete_consumer_group_offsets(
        self, group_id: str, partitions: Sequence[TopicPartition], timeout_ms: int | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Delete committed offsets of a group, of topics to which no member subscribes.

        A partition that fails has its error as the value: GroupSubscribedToTopicError,
        UnknownTopicOrPartitionError, TopicAuthorizationFailedError. A partition without an offset
        is no error.

        Raises: GroupIdNotFound; GroupAuthorizationFailedError; NonEmptyGroup if the group has
        members that are no consumers; otherwise as `alter_consumer_group_offsets`.
        Cancelled: the node may delete the offsets nevertheless.
        Source: KIP-496.
        """

        async def ask(
            node: AskedNode, keys: list[TopicPartition]
        ) -> Mapping[TopicPartition, KafkaError | None]:
            response = await node.request(delete_request(group_id, keys))
            await raise_with_state(node, response.error_code, None, group_id, OFFSETS_WAIT)
            return await with_states(node, delete_results(response), lambda _: group_id, SUBSCRIBED)

        requests = self._running()
        return await requests.for_each(
            "delete_consumer_group_offsets()",
            _checked_partitions(partitions) or [],
            coordinator_of(requests, checked_id(group_id)),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            settling_s=0,  # a topic that has offsets is no new one
        )


def _checked_partitions(
    partitions: Iterable[TopicPartition] | None,
) -> list[TopicPartition] | None:
    if partitions is None:
        return None
    return list(dict.fromkeys(partitions_of("partitions", partitions)))


__all__ = ["GroupOffsetCalls", "GroupOffsets"]
