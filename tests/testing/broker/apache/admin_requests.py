"""Requests of administrators, each about one thing, for comparing which right each of them needs.

They are only checked, or ask for what is there already or cannot be, so that nothing changes.
"""

from collections.abc import Iterator
from typing import Any

from aiokafka_lite.protocol.messages import alter_configs, incremental_alter_configs
from aiokafka_lite.protocol.messages.alter_client_quotas import AlterClientQuotasRequest
from aiokafka_lite.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from aiokafka_lite.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from aiokafka_lite.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from aiokafka_lite.protocol.messages.create_acls import CreateAclsRequest
from aiokafka_lite.protocol.messages.create_delegation_token import CreateDelegationTokenRequest
from aiokafka_lite.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from aiokafka_lite.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from aiokafka_lite.protocol.messages.describe_acls import DescribeAclsRequest
from aiokafka_lite.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from aiokafka_lite.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from aiokafka_lite.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from aiokafka_lite.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from aiokafka_lite.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from aiokafka_lite.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from aiokafka_lite.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from aiokafka_lite.protocol.messages.list_config_resources import ListConfigResourcesRequest
from aiokafka_lite.protocol.messages.list_groups import ListGroupsRequest
from aiokafka_lite.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
)
from aiokafka_lite.protocol.messages.list_transactions import ListTransactionsRequest
from aiokafka_lite.protocol.messages.unregister_broker import UnregisterBrokerRequest
from aiokafka_lite.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from aiokafka_lite.schema.message import Request
from tests.testing.broker.apache.user_requests import component, find, quota, rule

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
TIMEOUT_MS = 9000
Probes = Iterator[tuple[str, Request[Any], int]]
"""(name, request, version)"""


def admin_requests(here: str, missing: str, group: str) -> Probes:
    """The requests, about a topic of one partition, one that does not exist, and a group."""
    size = "1048576"
    for kind, number, name, key, value in (
        ("topic", TOPIC, here, "segment.bytes", size),
        ("missing topic", TOPIC, missing, "segment.bytes", size),
        ("broker", BROKER, "1", "log.segment.bytes", size),
        ("all brokers", BROKER, "", "log.segment.bytes", size),
        ("logger", LOGGER, "1", "root", "ERROR"),
        ("client metrics", METRICS, group, "interval.ms", "1000"),
        ("group", GROUP, group, "consumer.session.timeout.ms", "50000"),
    ):
        for what, request, version in _of_configs(number, name, key, value):
            yield f"{what} configs of {kind}", request, version
    yield "list client metrics", ListConfigResourcesRequest(), 0
    yield from _of_the_cluster()
    yield from _of_partitions([here, missing])
    yield from _of_users()


def _of_configs(kind: int, name: str, key: str, value: str) -> Probes:
    described = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=[]
    )
    yield "describe", DescribeConfigsRequest(resources=[described]), 4
    change = incremental_alter_configs.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            incremental_alter_configs.AlterableConfig(name=key, config_operation=0, value=value)
        ],
    )
    yield (
        "alter",
        incremental_alter_configs.IncrementalAlterConfigsRequest(
            resources=[change], validate_only=True
        ),
        1,
    )
    replaced = alter_configs.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[alter_configs.AlterableConfig(name=key, value=value)],
    )
    yield (
        "replace",
        alter_configs.AlterConfigsRequest(resources=[replaced], validate_only=True),
        2,
    )


def _of_the_cluster() -> Probes:
    feature = FeatureUpdateKey(feature="nothing", max_version_level=1, upgrade_type=1)
    updates = UpdateFeaturesRequest(
        timeout_ms=TIMEOUT_MS, feature_updates=[feature], validate_only=True
    )
    yield "update features", updates, 1
    quorum = TopicData(
        topic_name="__cluster_metadata", partitions=[PartitionData(partition_index=0)]
    )
    yield "describe quorum", DescribeQuorumRequest(topics=[quorum]), 1
    yield "unregister broker", UnregisterBrokerRequest(broker_id=99), 0
    yield "describe log dirs", DescribeLogDirsRequest(topics=[]), 4
    yield "list groups", ListGroupsRequest(), 4
    yield "list transactions", ListTransactionsRequest(), 0


def _of_partitions(names: list[str]) -> Probes:
    """About partition 0 of each topic."""
    asked = [TopicRequest(name=name) for name in names]
    yield "describe topics", DescribeTopicPartitionsRequest(topics=asked), 0
    elected = [TopicPartitions(topic=name, partitions=[0]) for name in names]
    election = ElectLeadersRequest(election_type=0, topic_partitions=elected, timeout_ms=TIMEOUT_MS)
    yield "elect leaders", election, 2
    none = ReassignablePartition(partition_index=0, replicas=None)
    cancelled = [ReassignableTopic(name=name, partitions=[none]) for name in names]
    reassignment = AlterPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=cancelled)
    yield "reassign", reassignment, 0
    listing = ListPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=None)
    yield "list reassignments", listing, 0
    moved = [AlterReplicaLogDirTopic(name=name, partitions=[0]) for name in names]
    move = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path="/absent", topics=moved)])
    yield "move replicas", move, 2
    start = DeleteRecordsPartition(partition_index=0, offset=0)
    kept = [DeleteRecordsTopic(name=name, partitions=[start]) for name in names]
    yield "delete records", DeleteRecordsRequest(topics=kept, timeout_ms=TIMEOUT_MS), 2


def _of_users() -> Probes:
    nobody = find(principal_filter="User:nobody")
    yield "describe rules", DescribeAclsRequest(**nobody), 3
    yield "create rules", CreateAclsRequest(creations=[rule(resource_name="")]), 3
    yield "delete rules", DeleteAclsRequest(filters=[DeleteAclsFilter(**nobody)]), 3
    asked = [component("user", 0, "nobody")]
    yield "describe quotas", DescribeClientQuotasRequest(components=asked, strict=False), 1
    entries = [quota({"user": "nobody"}, producer_byte_rate=1.0)]
    yield "alter quotas", AlterClientQuotasRequest(entries=entries, validate_only=True), 1
    # Apache Kafka does not answer a request about all users without the right.
    named = [UserName(name="nobody")]
    yield "describe users", DescribeUserScramCredentialsRequest(users=named), 0
    gone = [ScramCredentialDeletion(name="nobody", mechanism=1)]
    yield "alter users", AlterUserScramCredentialsRequest(deletions=gone, upsertions=[]), 0
    token = CreateDelegationTokenRequest(
        owner_principal_type="User", owner_principal_name="nobody", renewers=[], max_lifetime_ms=1
    )
    yield "create token", token, 3


__all__ = ["admin_requests"]
