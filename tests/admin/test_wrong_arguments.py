"""What a call cannot mean is an error that names it, and nothing is sent.

One value in place of a list would do harm: `delete_topics("keep")` is about four topics, or none.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import (
    AbortTransactionSpec,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ClientQuotaAlteration,
    ConfigResource,
    ElectionType,
    FeatureUpdate,
    MemberToRemove,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    PatternType,
    QuorumEndpoint,
    RecordsToDelete,
    ResourceType,
    ScramMechanism,
    UserScramCredentialDeletion,
)
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.secret import Secret
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.admin.support import cluster_call_rows, group_call_rows, topic_call_rows
from tests.admin.support.call_table import ROWS

assert all((topic_call_rows, group_call_rows, cluster_call_rows))  # they fill the table

KEEP: Final = TopicPartition("keep", 0)
RULE: Final = AclBinding(
    ResourceType.TOPIC,
    "a",
    PatternType.LITERAL,
    "User:a",
    "*",
    AclOperation.READ,
    AclPermissionType.ALLOW,
)
QUOTA: Final = ClientQuotaAlteration({"user": "a"}, {"producer_byte_rate": 1.0})
DELETION: Final = UserScramCredentialDeletion("a", ScramMechanism.SCRAM_SHA_256)
CONFIGS: Final = [("keep",), (ConfigResource("TOPIC", "keep"),), (["keep"],), (None,)]
NAMES: Final = [("keep",), ([5],), (None,), (b"keep",)]
PARTITIONS: Final = [("keep",), (KEEP,), (["keep"],), ([("keep", "0")],), (5,)]

WRONG: Final[dict[str, list[tuple[Any, ...]]]] = {
    "abort_transaction": [(5,), (AbortTransactionSpec("keep", 1, 0, 0),)],  # type: ignore[arg-type]
    "add_raft_voter": [
        (-1, UUID(int=1), []),
        (1, "directory", []),
        (1, UUID(int=1), "CONTROLLER"),
        (1, UUID(int=1), [("CONTROLLER", "localhost", 9093)]),
        (1, UUID(int=1), [QuorumEndpoint("", "localhost", 9093)]),
        (1, UUID(int=1), [QuorumEndpoint("CONTROLLER", "localhost", 70_000)]),
    ],
    "alter_client_quotas": [
        (QUOTA,),
        ([5],),
        (None,),
        ([QUOTA._replace(entity="a")],),  # type: ignore[arg-type]
        ([QUOTA._replace(ops=["a"])],),  # type: ignore[arg-type]
    ],
    "alter_configs": CONFIGS,
    "alter_partition_reassignments": [
        ([KEEP],),
        ({"keep": [1]},),
        ({KEEP: 1},),
        ({KEEP: "1"},),
        ({KEEP: ["1"]},),
    ],
    "alter_replica_log_dirs": [({KEEP: "/a"},), ({(1, KEEP): 5},), ({(1, "keep"): "/a"},), ("a",)],
    "alter_user_scram_credentials": [
        (DELETION,),
        ([5],),
        (None,),
        ([DELETION._replace(mechanism="SCRAM-SHA-256")],),  # type: ignore[arg-type]
    ],
    "create_acls": [(RULE,), ([5],), (None,)],
    "create_delegation_token": [("User:a",), ([5],), ((), None, 5)],
    "create_partitions": [
        ({"keep": 5},),
        ("keep",),
        ([("keep", NewPartitions(5))],),
        ({"keep": NewPartitions(3, [1])},),  # type: ignore[list-item]
        ({"keep": NewPartitions(3, [["1"]])},),  # type: ignore[list-item]
    ],
    "create_topics": [
        ("keep",),
        (NewTopic("new"),),
        (["new"],),
        ({"new": NewTopic("new")},),
        (None,),
        ([NewTopic("new", topic_configs={"retention.ms": object()})],),
        ([NewTopic("new", replica_assignments={0: 1})],),  # type: ignore[dict-item]
        ([NewTopic("new", replica_assignments={0: ["1"]})],),  # type: ignore[list-item]
    ],
    "delete_acls": [(AclBindingFilter(),), ([5],), (None,)],
    "delete_consumer_group_offsets": [("group", *each) for each in PARTITIONS],
    "delete_groups": NAMES,
    "delete_records": [
        ({KEEP: 0},),
        ([KEEP],),
        ({"keep": RecordsToDelete(0)},),
        ({("keep", "0"): RecordsToDelete(0)},),
    ],
    "delete_share_group_offsets": [("group", *each) for each in NAMES],
    "delete_topics": [*NAMES, ([None],), (uuid4(),)],
    "describe_acls": [(5,), (None,), (RULE,)],
    "describe_client_quotas": [("user",), (["user"],)],
    "describe_configs": [*CONFIGS, ([ConfigResource("TOPIC", "keep", "retention.ms")],)],
    "describe_consumer_groups": NAMES,
    "describe_delegation_tokens": [("User:a",), ([5],)],
    "describe_groups": NAMES,
    "describe_log_dirs": [(1,), ("1",), (["1"],), ([True],)],
    "describe_producers": PARTITIONS,
    "describe_replica_log_dirs": [((1, KEEP),), ([KEEP],), ("keep",), ([(1, "keep")],)],
    "describe_share_groups": NAMES,
    "describe_streams_groups": NAMES,
    "describe_topic_partitions": [("keep",), ([5],), (["keep"], None, 0), (["keep"], None, "9")],
    "describe_topics": [("keep",), ([5],)],
    "describe_transactions": NAMES,
    "describe_user_scram_credentials": [("alice",), ([5],)],
    "elect_leaders": [
        ("PREFERRED",),
        (5,),
        *[(ElectionType.PREFERRED, *each) for each in PARTITIONS],
    ],
    "expire_delegation_token": [("text",), (Secret("text"),), (5,)],
    "fence_producers": NAMES,
    "force_terminate_transaction": [(5,), (None,), (["id"],)],
    "find_coordinator": [(5,), ("group", 9), ("group", "transaction")],
    "find_hanging_transactions": [(), (None, None, 5)],
    "get_configs": [*CONFIGS, ([ConfigResource("TOPIC", "keep", "retention.ms")],)],
    "group_lag": [(5,), ("group", "committed")],
    "incremental_alter_configs": CONFIGS,
    "list_config_resources": [("TOPIC",), ([99],), (["TOPIC"],), (2,)],
    "list_consumer_group_offsets": [(5,), *[("group", None, *each) for each in PARTITIONS]],
    "list_consumer_groups": [(1,), ("1",), (["1"],)],
    "list_group_offsets": [("group",), ([5],), ({"group": "keep"},), ({"group": ["keep"]},)],
    "list_groups": [("Stable",), ([5],), (None, "classic"), (None, [5])],
    "list_offsets": [
        ([KEEP],),
        ({"keep": OffsetSpec.LATEST},),
        ({KEEP: "latest"},),
        ({KEEP: -7},),
        ({("keep", -1): 0},),
    ],
    "list_partition_reassignments": PARTITIONS,
    "list_share_group_offsets": [(5,)],
    "list_transactions": [("Ongoing",), ([5],), (None, 5), (None, ["5"])],
    "remove_members_from_consumer_group": [
        ("group", "member"),
        ("group", MemberToRemove("member")),
        ("group", [5]),
        ("group", [MemberToRemove()]),
        (5, ["member"]),
    ],
    "remove_raft_voter": [("1", UUID(int=1)), (1, "directory"), (1, UUID(int=0)), (1, None)],
    "renew_delegation_token": [("text",), (Secret("text"),), (5,)],
    "reset_offsets": [(5,), (None,)],
    "unregister_broker": [("1",), (-1,), (True,)],
    "unregister_controller": [("1",), (-1,), (True,), (2**31,)],
    "update_features": [([],), ({"transaction.version": 5},), ({"a": FeatureUpdate(-1)},)],
    "watch_partition_reassignments": PARTITIONS,
}
WITHOUT: Final = {
    "alter_consumer_group_offsets",
    "alter_share_group_offsets",
    "describe_cluster",
    "describe_features",
    "describe_metadata_quorum",
    "list_topics",
    "plan_offset_reset",
}
"""Calls without arguments; the others raise as a consumer's commit does, or have their own test."""


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker() as broker:
        broker.create_topic("keep", partitions=2)
        yield broker


def test_the_table_has_every_call() -> None:
    assert {*WRONG, *WITHOUT} == {*ROWS}
    assert not {*WRONG} & WITHOUT


@pytest.mark.parametrize("name", sorted(WRONG))
async def test_a_wrong_argument_is_named_and_nothing_is_sent(
    broker: EmbeddedBroker, name: str
) -> None:
    async with AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        broker.forget_requests()
        for arguments in WRONG[name]:
            asked = getattr(admin, name)(*arguments)
            with pytest.raises(IllegalArgumentError) as caught:
                await (anext(asked) if hasattr(asked, "__anext__") else asked)
            assert ";" in str(caught.value), arguments  # the remedy
        assert broker.requests == []


async def test_arguments_are_read_when_the_call_begins(broker: EmbeddedBroker) -> None:
    """A dict that the program changes meanwhile is not what the nodes are asked for."""
    async with AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        given = {KEEP: RecordsToDelete(0)}

        async def change() -> None:
            given.clear()

        found, _ = await asyncio.gather(admin.delete_records(given), change())
        assert found == {KEEP: 0}
