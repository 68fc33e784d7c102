"""The rows of calls about groups, and about producers and their transactions."""

from typing import Any

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import AbortTransactionSpec, MemberToRemove, OffsetSpec, Outcomes
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    CoordinatorLoadInProgressError,
    GroupAuthorizationFailedError,
    GroupIdNotFound,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from aiokafka_lite.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
)
from tests.admin.support.call_table import COORDINATOR, LEADER, Call, Mixed, Things, row, several

Admin = AIOKafkaAdminClient
CLUSTER = ClusterAuthorizationFailedError
GROUP = GroupAuthorizationFailedError
TRANSACTION = TransactionalIdAuthorizationFailed
ABSENT = "there-is-none"
NOWHERE = TopicPartition(ABSENT, 0)


# Groups…


@row(ApiKey.FIND_COORDINATOR, COORDINATOR, (GROUP, "DESCRIBE"))
async def find_coordinator(things: Things, _: Admin) -> Call:
    name = things.name()
    return lambda admin, ms: admin.find_coordinator(name, timeout_ms=ms)


@row(ApiKey.LIST_GROUPS, CoordinatorLoadInProgressError, lambda answer: answer == [])
async def list_groups(things: Things, root: Admin) -> Call:
    await things.group(root)
    return lambda admin, ms: admin.list_groups(timeout_ms=ms)


@row(ApiKey.LIST_GROUPS, CoordinatorLoadInProgressError, lambda answer: answer == [])
async def list_consumer_groups(things: Things, root: Admin) -> Call:
    await things.group(root)
    return lambda admin, ms: admin.list_consumer_groups(timeout_ms=ms)


@row(ApiKey.DESCRIBE_GROUPS, COORDINATOR, (GROUP, "DESCRIBE"))
async def describe_consumer_groups(things: Things, root: Admin) -> Call:
    name, _ = await things.group(root)
    return lambda admin, ms: admin.describe_consumer_groups([name], timeout_ms=ms)


@several
async def mixed_describe_consumer_groups(things: Things, root: Admin) -> Mixed:
    name, _ = await things.group(root)

    async def call(admin: Admin) -> Outcomes[Any, Any]:
        answers = await admin.describe_consumer_groups([ABSENT, name])
        rows = [row for answer in answers for row in answer.groups]
        return Outcomes(
            (row.group, GroupIdNotFound() if row.state == "Dead" else row) for row in rows
        )

    return call


@row(ApiKey.DESCRIBE_GROUPS, COORDINATOR, (GROUP, "DESCRIBE"))
async def describe_groups(things: Things, root: Admin) -> Call:
    name, _ = await things.group(root)
    return lambda admin, ms: admin.describe_groups([name], ms)


@several
async def mixed_describe_groups(things: Things, root: Admin) -> Mixed:
    name, _ = await things.group(root)
    return lambda admin: admin.describe_groups([ABSENT, name])


async def share(things: Things, root: Admin) -> tuple[str, TopicPartition]:
    """A share group without members, and the partition of which it has a start offset."""
    name, where = things.name(), things.partition()
    (await root.alter_share_group_offsets(name, {where: 0})).raise_first()
    return name, where


@row(ApiKey.SHARE_GROUP_DESCRIBE, COORDINATOR, (GROUP, "DESCRIBE"))
async def describe_share_groups(things: Things, root: Admin) -> Call:
    name, _ = await share(things, root)
    return lambda admin, ms: admin.describe_share_groups([name], ms)


@several
async def mixed_describe_share_groups(things: Things, root: Admin) -> Mixed:
    (name, _), (other, _) = await share(things, root), await things.group(root)
    return lambda admin: admin.describe_share_groups([other, name])


@row(ApiKey.STREAMS_GROUP_DESCRIBE, COORDINATOR, (GROUP, "DESCRIBE"), expected=GroupIdNotFound)
async def describe_streams_groups(things: Things, root: Admin) -> Call:
    name, _ = await things.group(root)
    return lambda admin, ms: admin.describe_streams_groups([name], ms)


@row(ApiKey.DELETE_GROUPS, COORDINATOR, (GROUP, "DELETE"))
async def delete_groups(things: Things, root: Admin) -> Call:
    name, _ = await things.group(root)
    return lambda admin, ms: admin.delete_groups([name], ms)


@several
async def mixed_delete_groups(things: Things, root: Admin) -> Mixed:
    name, _ = await things.group(root)
    return lambda admin: admin.delete_groups([ABSENT, name])


async def joined(things: Things, root: Admin) -> tuple[str, MemberToRemove]:
    """A group with one member, which has a name of its own."""
    name, instance = things.name(), things.name()
    request = JoinGroupRequest(
        group_id=name,
        session_timeout_ms=60_000,
        rebalance_timeout_ms=60_000,
        group_instance_id=instance,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    node = await root.find_coordinator(name)
    answer = await root.client.network.request(node, request, timeout_s=30)
    assert not answer.error_code
    sync = SyncGroupRequest(
        group_id=name,
        generation_id=answer.generation_id,
        member_id=answer.member_id,
        group_instance_id=instance,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[SyncGroupRequestAssignment(member_id=answer.member_id, assignment=b"")],
    )
    assert not (await root.client.network.request(node, sync, timeout_s=30)).error_code
    return name, MemberToRemove(instance)


@row(ApiKey.LEAVE_GROUP, COORDINATOR, (GROUP, "READ"))
async def remove_members_from_consumer_group(things: Things, root: Admin) -> Call:
    name, member = await joined(things, root)
    return lambda admin, ms: admin.remove_members_from_consumer_group(name, [member], None, ms)


@several
async def mixed_remove_members_from_consumer_group(things: Things, root: Admin) -> Mixed:
    name, member = await joined(things, root)
    members = [MemberToRemove(ABSENT), member]
    return lambda admin: admin.remove_members_from_consumer_group(name, members)


# Offsets of groups…


@row(ApiKey.OFFSET_FETCH, COORDINATOR, (GROUP, "DESCRIBE"))
async def list_consumer_group_offsets(things: Things, root: Admin) -> Call:
    name, _ = await things.group(root)
    return lambda admin, ms: admin.list_consumer_group_offsets(name, timeout_ms=ms)


@row(ApiKey.OFFSET_FETCH, COORDINATOR, (GROUP, "DESCRIBE"))
async def list_group_offsets(things: Things, root: Admin) -> Call:
    name, _ = await things.group(root)
    return lambda admin, ms: admin.list_group_offsets([name], timeout_ms=ms)


@several
async def mixed_list_group_offsets(things: Things, root: Admin) -> Mixed:
    name, _ = await things.group(root)

    async def call(_: Admin) -> Outcomes[Any, Any]:
        async with things.admin("viewer") as viewer:  # which sees no group of another name
            return await viewer.list_group_offsets([ABSENT, name])

    return call


@row(ApiKey.OFFSET_COMMIT, COORDINATOR, (GROUP, "READ"))
async def alter_consumer_group_offsets(things: Things, root: Admin) -> Call:
    name, where = await things.group(root)
    return lambda admin, ms: admin.alter_consumer_group_offsets(name, {where: 1}, ms)


@several
async def mixed_alter_consumer_group_offsets(things: Things, root: Admin) -> Mixed:
    name, where = await things.group(root)
    return lambda admin: admin.alter_consumer_group_offsets(name, {NOWHERE: 1, where: 1})


@row(ApiKey.OFFSET_DELETE, COORDINATOR, (GROUP, "DELETE"))
async def delete_consumer_group_offsets(things: Things, root: Admin) -> Call:
    name, where = await things.group(root)
    return lambda admin, ms: admin.delete_consumer_group_offsets(name, [where], ms)


@several
async def mixed_delete_consumer_group_offsets(things: Things, root: Admin) -> Mixed:
    name, where = await things.group(root)
    return lambda admin: admin.delete_consumer_group_offsets(name, [NOWHERE, where])


@row(ApiKey.LIST_OFFSETS, LEADER, (GROUP, "DESCRIBE"))
async def group_lag(things: Things, root: Admin) -> Call:
    name, _ = await things.group(root)
    return lambda admin, ms: admin.group_lag(name, timeout_ms=ms)


@row(ApiKey.LIST_OFFSETS, LEADER, (GROUP, "DESCRIBE"))
async def plan_offset_reset(things: Things, root: Admin) -> Call:
    name, _ = await things.group(root)
    return lambda admin, ms: admin.plan_offset_reset(name, to=OffsetSpec.LATEST, timeout_ms=ms)


@row(ApiKey.OFFSET_COMMIT, COORDINATOR, (GROUP, "READ"))
async def reset_offsets(things: Things, root: Admin) -> Call:
    name, _ = await things.group(root)
    plan = await root.plan_offset_reset(name, to=OffsetSpec.LATEST)
    return lambda admin, ms: admin.reset_offsets(plan, ms)


@several
async def mixed_reset_offsets(things: Things, root: Admin) -> Mixed:
    (name, _), gone = await things.group(root), things.partition()
    (await root.alter_consumer_group_offsets(name, {gone: 0})).raise_first()
    plan = await root.plan_offset_reset(name, to=OffsetSpec.LATEST)
    things.broker.delete_topic(gone.topic)
    return lambda admin: admin.reset_offsets(plan)


@row(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, COORDINATOR, (GROUP, "DESCRIBE"))
async def list_share_group_offsets(things: Things, root: Admin) -> Call:
    name, _ = await share(things, root)
    return lambda admin, ms: admin.list_share_group_offsets(name, ms)


@row(ApiKey.ALTER_SHARE_GROUP_OFFSETS, COORDINATOR, (GROUP, "READ"))
async def alter_share_group_offsets(things: Things, _: Admin) -> Call:
    name, where = things.name(), things.partition()
    return lambda admin, ms: admin.alter_share_group_offsets(name, {where: 0}, ms)


@several
async def mixed_alter_share_group_offsets(things: Things, _: Admin) -> Mixed:
    name, where = things.name(), things.partition()
    return lambda admin: admin.alter_share_group_offsets(name, {NOWHERE: 1, where: 1})


@row(ApiKey.DELETE_SHARE_GROUP_OFFSETS, COORDINATOR, (GROUP, "DELETE"))
async def delete_share_group_offsets(things: Things, root: Admin) -> Call:
    name, where = await share(things, root)
    return lambda admin, ms: admin.delete_share_group_offsets(name, [where.topic], ms)


@several
async def mixed_delete_share_group_offsets(things: Things, root: Admin) -> Mixed:
    name, where = await share(things, root)
    return lambda admin: admin.delete_share_group_offsets(name, [ABSENT, where.topic])


# Transactions…


@row(ApiKey.LIST_TRANSACTIONS, CoordinatorLoadInProgressError, lambda answer: answer == [])
async def list_transactions(things: Things, root: Admin) -> Call:
    await things.transaction(root)
    return lambda admin, ms: admin.list_transactions(timeout_ms=ms)


@row(ApiKey.DESCRIBE_TRANSACTIONS, COORDINATOR, (TRANSACTION, "DESCRIBE"))
async def describe_transactions(things: Things, root: Admin) -> Call:
    name = await things.transaction(root)
    return lambda admin, ms: admin.describe_transactions([name], ms)


@several
async def mixed_describe_transactions(things: Things, root: Admin) -> Mixed:
    name = await things.transaction(root)
    return lambda admin: admin.describe_transactions([ABSENT, name])


@row(ApiKey.INIT_PRODUCER_ID, COORDINATOR, (TRANSACTION, "WRITE"))
async def fence_producers(things: Things, _: Admin) -> Call:
    name = things.name()
    return lambda admin, ms: admin.fence_producers([name], ms)


@row(ApiKey.INIT_PRODUCER_ID, COORDINATOR, (TRANSACTION, "WRITE"))
async def force_terminate_transaction(things: Things, _: Admin) -> Call:
    name = things.name()
    return lambda admin, ms: admin.force_terminate_transaction(name, ms)


@several
async def mixed_fence_producers(things: Things, _: Admin) -> Mixed:
    names = [things.name(), things.name()]
    things.broker.faults.fail(ApiKey.INIT_PRODUCER_ID, TRANSACTION)
    return lambda admin: admin.fence_producers(names)


@row(
    ApiKey.WRITE_TXN_MARKERS,
    LEADER,
    (CLUSTER, "CLUSTER_ACTION"),
    is_repeatable=False,
)
async def abort_transaction(things: Things, _: Admin) -> Call:
    spec = AbortTransactionSpec(things.partition(), 7, 3, 0)
    return lambda admin, ms: admin.abort_transaction(spec, ms)


@row(ApiKey.DESCRIBE_PRODUCERS, LEADER, (TopicAuthorizationFailedError, "DESCRIBE"))
async def find_hanging_transactions(things: Things, _: Admin) -> Call:
    name = things.topic()
    return lambda admin, ms: admin.find_hanging_transactions(topic=name, timeout_ms=ms)
