"""Calls that list, describe and delete groups, and remove members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.every_broker import ask_every_broker
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.admin.groups.group_descriptions import DEAD
from aiokafka_lite.admin.groups.group_kinds import (
    EVERY_KIND,
    SHARE,
    STREAMS,
    STREAMS_WITH_TOPOLOGY,
    describe_kind,
    describe_kinds,
)
from aiokafka_lite.admin.groups.group_route import coordinator_of
from aiokafka_lite.admin.groups.group_states import (
    DELETION_WAITS,
    with_missing_members,
    with_states,
)
from aiokafka_lite.admin.groups.group_values import (
    GroupDescription,
    GroupListing,
    MemberToRemove,
    checked_id,
    checked_ids,
    checked_members,
    checked_reason,
    to_remove,
)
from aiokafka_lite.admin.groups.raw_groups import DescribedGroupRow, DescribeGroupsAnswer
from aiokafka_lite.admin.groups.streams_group import StreamsGroupDescription
from aiokafka_lite.checks.item_lists import list_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.coordinator_cache import CoordinatorType
from aiokafka_lite.errors import (
    IllegalArgumentError,
    KafkaError,
)
from aiokafka_lite.protocol.messages import consumer_group_describe
from aiokafka_lite.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from aiokafka_lite.protocol.messages.delete_groups import DeleteGroupsRequest
from aiokafka_lite.protocol.messages.describe_groups import DescribeGroupsRequest
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from aiokafka_lite.protocol.messages.list_groups import ListedGroup, ListGroupsRequest


class GroupCalls(AdminFamily):
    """Groups: list, describe, delete, remove members."""

    async def find_coordinator(
        self, group_id: str, coordinator_type: int = 0, timeout_ms: int | None = None
    ) -> int:
        """Return the id of the node that coordinates a group (type 0) or a transactional id (1).

        Type 2 is for partitions of share groups, named "group:topic id:partition".

        Raises: IllegalArgumentError for another type; GroupAuthorizationFailedError,
        TransactionalIdAuthorizationFailed; KafkaTimeoutError if no node coordinates it within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        """
        requests = self._running()
        if coordinator_type not in {*CoordinatorType}:
            raise IllegalArgumentError(
                f"coordinator_type={quoted(coordinator_type)} is unknown; give 0 for a group, 1 "
                "for a transactional id, or 2 for a partition of a share group"
            )

        async def ask(node: AskedNode) -> int:
            assert node.node_id is not None  # the route found it
            return node.node_id

        return await requests.one(
            "find_coordinator()",
            checked_id(group_id),
            requests.routes.coordinator(CoordinatorType(coordinator_type)),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    # List…

    async def list_consumer_groups(
        self, broker_ids: Sequence[int] | None = None, timeout_ms: int | None = None
    ) -> list[tuple[str, str]]:
        """Return (group, protocol type) of the groups of some nodes, or of all nodes.

        Groups of all kinds are listed that the user may describe. `list_groups` tells more.

        Raises: as `list_groups`; BrokerNotAvailableError for a node that is not in the cluster;
        IllegalArgumentError for anything but a list of ids.
        Cancelled: nothing is left behind.
        """
        groups = await self._listed_groups(
            "list_consumer_groups()",
            ListGroupsRequest(),
            self._timeout_s(timeout_ms),
            broker_ids,
        )
        return [(each.group_id, each.protocol_type) for each in groups]

    async def list_groups(
        self,
        states: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
        timeout_ms: int | None = None,
    ) -> list[GroupListing]:
        """Return the groups of all nodes that the user may describe, sorted by name.

        `states` and `types` name the states ("Stable", "Empty", …) and the types ("classic",
        "consumer", "share", "streams") to list. Upper and lower case are the same.

        Raises: IllegalArgumentError for anything but lists of names;
        UnsupportedVersionError for states if the nodes are older than 2.6, and for types if
        they are older than 3.8; KafkaConnectionError, KafkaTimeoutError or another error if a node
        gave no answer within `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-518, KIP-848.
        """
        request = ListGroupsRequest(
            states_filter=list_of("states", states or (), str),
            types_filter=list_of("types", types or (), str),
        )
        return [
            GroupListing(
                each.group_id, each.protocol_type, each.group_state, each.group_type or "classic"
            )
            for each in await self._listed_groups(
                "list_groups()", request, self._timeout_s(timeout_ms)
            )
        ]

    async def _listed_groups(
        self,
        what: str,
        request: ListGroupsRequest,
        timeout_s: float,
        broker_ids: Sequence[int] | None = None,
    ) -> list[ListedGroup]:
        requests = self._running()

        async def ask(node: AskedNode) -> list[ListedGroup]:
            answer = await node.request(request)
            raise_broker_error(answer.error_code, None, f"node {node.node_id}")
            return answer.groups

        async def ask_some(node: AskedNode, keys: list[int]) -> Mapping[int, list[ListedGroup]]:
            return dict.fromkeys(keys, await ask(node))

        if broker_ids is None:
            found = await ask_every_broker(requests, what, ask, timeout_s=timeout_s)
        else:
            some = await requests.for_each(
                what,
                list_of("broker_ids", broker_ids, int),
                requests.routes.node(lambda node_id: node_id),
                ask_some,
                timeout_s=timeout_s,
            )
            some.raise_first()
            found = some.succeeded
        by_id = {each.group_id: each for groups in found.values() for each in groups}
        return [by_id[name] for name in sorted(by_id)]

    # Describe…

    async def describe_consumer_groups(
        self,
        group_ids: Sequence[str],
        group_coordinator_id: int | None = None,
        include_authorized_operations: bool = False,
        timeout_ms: int | None = None,
    ) -> list[DescribeGroupsAnswer]:
        """Return groups of consumers as aiokafka does: one answer for each node that coordinates
        some.

        A group of the consumer protocol (KIP-848) has the form of a classic one: its protocol is
        the broker's assignor, and members have subscription and assignment in the classic bytes.
        A row of `groups` has error_code, group, state, protocol_type, protocol and members.
        `describe_groups` has groups of all kinds, and decodes the assignments.

        Raises: GroupAuthorizationFailedError and other errors of the search for coordinators;
        KafkaConnectionError, KafkaTimeoutError or another error if no node answered within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        """
        requests = self._running()
        throttles: dict[int, int] = {}
        has_node = group_coordinator_id is not None

        async def ask(
            node: AskedNode, keys: list[str]
        ) -> Mapping[str, tuple[int, DescribedGroupRow] | KafkaError]:
            assert node.node_id is not None  # a coordinator
            request = DescribeGroupsRequest(
                groups=keys, include_authorized_operations=include_authorized_operations
            )
            # Newer versions have an error where aiokafka's have the state Dead.
            answer = await node.request(
                request, max_version=DescribeGroupsRequest.not_found_since - 1
            )
            throttles[node.node_id] = answer.throttle_time_ms
            rows: dict[str, tuple[int, DescribedGroupRow] | KafkaError] = {}
            for each in answer.groups:
                error = broker_error(each.error_code, None, f"group {quoted(each.group_id)}")
                is_passing = error is not None and error.retriable and not has_node
                row = node.node_id, DescribedGroupRow.of(each)
                rows[each.group_id] = error if error is not None and is_passing else row
            newer = [
                each.group_id
                for each in answer.groups
                if not each.error_code and each.group_state == DEAD
            ]
            for group in await _of_newer_protocol(
                node, newer, include_authorized_operations=include_authorized_operations
            ):
                error = broker_error(group.error_code, None, f"group {quoted(group.group_id)}")
                if error is None:
                    rows[group.group_id] = node.node_id, DescribedGroupRow.of_consumer_group(group)
                elif error.retriable and not has_node:
                    rows[group.group_id] = error
            return rows

        found = await requests.for_each(
            "describe_consumer_groups()",
            checked_ids(group_ids),
            requests.routes.coordinator(CoordinatorType.GROUP)
            if group_coordinator_id is None
            else requests.routes.node(lambda _: group_coordinator_id),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )
        found.raise_first()
        by_node: dict[int, list[DescribedGroupRow]] = {}
        for node_id, row in found.succeeded.values():
            by_node.setdefault(node_id, []).append(row)
        return [DescribeGroupsAnswer(throttles[each], rows) for each, rows in by_node.items()]

    async def describe_groups(
        self, group_ids: Sequence[str], timeout_ms: int | None = None
    ) -> Outcomes[str, GroupDescription]:
        """Return state and members of groups, whatever their kind.

        A streams group is a `StreamsGroupDescription`.

        A group that fails has its error as the value: GroupIdNotFound,
        GroupAuthorizationFailedError, KafkaTimeoutError.

        Raises: IllegalArgumentError for anything but a list of names; KafkaConnectionError,
        KafkaTimeoutError or another error if no node answered within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-848, KIP-932, KIP-1043, KIP-1071.
        """
        requests = self._running()

        async def ask(
            node: AskedNode, keys: list[str]
        ) -> Mapping[str, GroupDescription | KafkaError]:
            return await describe_kinds(node, keys, EVERY_KIND)

        return await requests.for_each(
            "describe_groups()",
            checked_ids(group_ids),
            requests.routes.coordinator(CoordinatorType.GROUP),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def describe_share_groups(
        self, group_ids: Sequence[str], timeout_ms: int | None = None
    ) -> Outcomes[str, GroupDescription]:
        """Return state and members of share groups; a group of another kind is not found.

        Raises: as `describe_groups`; UnsupportedVersionError if the nodes are older than 4.1.
        Cancelled: nothing is left behind.
        Source: KIP-932.
        """
        requests = self._running()

        async def ask(
            node: AskedNode, keys: list[str]
        ) -> Mapping[str, GroupDescription | KafkaError]:
            return await describe_kind(node, keys, SHARE)

        return await requests.for_each(
            "describe_share_groups()",
            checked_ids(group_ids),
            requests.routes.coordinator(CoordinatorType.GROUP),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def describe_streams_groups(
        self,
        group_ids: Sequence[str],
        timeout_ms: int | None = None,
        *,
        include_topology_description: bool = False,
    ) -> Outcomes[str, StreamsGroupDescription]:
        """Return state, subtopologies and members of streams groups; of another kind is not found.

        With `include_topology_description` also the nodes of the topology, if the brokers have a
        plugin that stores them (KIP-1331).

        Raises: as `describe_groups`; UnsupportedVersionError if the nodes are older than 4.2, and
        for the topology if they are older than 4.4.
        Cancelled: nothing is left behind.
        Source: KIP-1071, KIP-1331.
        """
        kind = STREAMS_WITH_TOPOLOGY if include_topology_description else STREAMS
        requests = self._running()

        async def ask(
            node: AskedNode, keys: list[str]
        ) -> Mapping[str, StreamsGroupDescription | KafkaError]:
            found = await describe_kind(node, keys, kind)
            return cast("Mapping[str, StreamsGroupDescription | KafkaError]", found)

        return await requests.for_each(
            "describe_streams_groups()",
            checked_ids(group_ids),
            requests.routes.coordinator(CoordinatorType.GROUP),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    # Delete…

    async def delete_groups(
        self, group_ids: Sequence[str], timeout_ms: int | None = None
    ) -> Outcomes[str, None]:
        """Delete groups without members, of any kind, with their offsets.

        A group that fails has its error as the value: NonEmptyGroup, GroupIdNotFound,
        GroupAuthorizationFailedError, KafkaTimeoutError. When a response is lost, the call asks
        again; a group that the lost request deleted then has GroupIdNotFound.

        Raises: as `describe_groups`.
        Cancelled: the nodes may delete the groups nevertheless.
        Source: KIP-229.
        """

        async def ask(node: AskedNode, keys: list[str]) -> Mapping[str, KafkaError | None]:
            answer = await node.request(DeleteGroupsRequest(groups_names=keys))
            done: dict[str, KafkaError | None] = {
                each.group_id: broker_error(
                    each.error_code, each.error_message, f"group {quoted(each.group_id)}"
                )
                for each in answer.results
            }
            return await with_states(node, done, str, DELETION_WAITS)

        requests = self._running()
        return await requests.for_each(
            "delete_groups()",
            checked_ids(group_ids),
            requests.routes.coordinator(CoordinatorType.GROUP),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def remove_members_from_consumer_group(
        self,
        group_id: str,
        members: Sequence[MemberToRemove | str] | None = None,
        reason: str | None = None,
        timeout_ms: int | None = None,
    ) -> Outcomes[MemberToRemove, None]:
        """Remove members from a group, which then rebalances; None removes all of them.

        A str is a member id. The reason is for the log of the broker. A member that fails has its
        error as the value, such as UnknownMemberIdError. A consumer that runs joins again. When a
        response is lost, the call asks again; a member that the lost request removed then has
        UnknownMemberIdError.

        Raises: IllegalArgumentError for a member without an id; GroupAuthorizationFailedError;
        GroupIdNotFound if `members` is None and there is no such group; UnsupportedVersionError for
        an instance id if the nodes are older than 2.4; otherwise as `describe_groups`.
        Cancelled: the node may remove the members nevertheless.
        Source: KIP-345, KIP-571, KIP-800.
        """
        requests = self._running()
        timeout_s = self._timeout_s(timeout_ms)
        ends_s = requests.client.clock.monotonic() + timeout_s
        if members is None:
            found = await self.describe_groups([group_id], timeout_ms)
            found.raise_first()
            leaving = [to_remove(each) for each in found.succeeded[group_id].members]
        else:
            leaving = checked_members(members)
        why = checked_reason(reason)

        async def ask(
            node: AskedNode, keys: list[MemberToRemove]
        ) -> Mapping[MemberToRemove, KafkaError | None]:
            version = await node.version_of(LeaveGroupRequest)
            is_old = version is not None and version < LeaveGroupRequest.members_since
            if is_old and all(each.member_id and not each.group_instance_id for each in keys):
                each_alone = {key: await _removed_alone(node, group_id, key) for key in keys}
                return await with_missing_members(node, group_id, each_alone)
            identities = [
                MemberIdentity(
                    member_id=each.member_id or "",
                    group_instance_id=each.group_instance_id,
                    reason=why,
                )
                for each in keys
            ]
            answer = await node.request(LeaveGroupRequest(group_id=group_id, members=identities))
            raise_broker_error(answer.error_code, None, f"group {quoted(group_id)}")
            done: dict[MemberToRemove, KafkaError | None] = {
                MemberToRemove(each.group_instance_id, each.member_id or None): broker_error(
                    each.error_code,
                    None,
                    f"member {quoted(each.group_instance_id or each.member_id)}",
                )
                for each in answer.members
            }
            return await with_missing_members(node, group_id, done)

        return await requests.for_each(
            "remove_members_from_consumer_group()",
            leaving,
            coordinator_of(requests, checked_id(group_id)),
            ask,
            timeout_s=max(ends_s - requests.client.clock.monotonic(), 0.001),
        )


async def _removed_alone(
    node: AskedNode, group_id: str, member: MemberToRemove
) -> KafkaError | None:
    """Remove one member by its member id, as brokers before 2.4 do it, and return its error."""
    request = LeaveGroupRequest(group_id=group_id, member_id=member.member_id or "")
    try:
        answer = await node.request(request)
    except KafkaError as error:  # the others may be removed already
        return error
    return broker_error(answer.error_code, None, f"member {quoted(member.member_id)}")


async def _of_newer_protocol(
    node: AskedNode, group_ids: list[str], *, include_authorized_operations: bool
) -> list[consumer_group_describe.DescribedGroup]:
    """Return groups by the consumer protocol (KIP-848), of which DescribeGroups knows none.

    Raises: as `AskedNode.request`.
    """
    request = ConsumerGroupDescribeRequest(
        group_ids=group_ids, include_authorized_operations=include_authorized_operations
    )
    if not group_ids or await node.version_of(ConsumerGroupDescribeRequest) is None:
        return []
    return (await node.request(request)).groups


__all__ = ["GroupCalls"]
