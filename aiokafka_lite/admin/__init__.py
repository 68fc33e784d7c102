"""The admin client, and the values that its calls take and return.

A name is imported from its own module at its first use (PEP 562).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiokafka_lite.admin.admin_client import AIOKafkaAdminClient
    from aiokafka_lite.admin.admin_options import AdminOptions
    from aiokafka_lite.admin.calls.outcomes import Outcomes
    from aiokafka_lite.admin.cluster.cluster_values import (
        FeatureLevels,
        FeatureMetadata,
        FeatureUpdate,
        QuorumEndpoint,
        QuorumInfo,
        QuorumReplica,
        UpgradeType,
    )
    from aiokafka_lite.admin.config_resource import (
        AlterConfigOp,
        ConfigResource,
        ConfigResourceType,
    )
    from aiokafka_lite.admin.configs.config_entry import (
        ConfigEntry,
        ConfigSource,
        ConfigSynonym,
        ConfigType,
    )
    from aiokafka_lite.admin.groups.group_progress_calls import PartitionLag
    from aiokafka_lite.admin.groups.group_values import (
        GroupDescription,
        GroupListing,
        MemberDescription,
        MemberToRemove,
        SharePartitionOffset,
    )
    from aiokafka_lite.admin.groups.offset_reset_plan import OffsetReset, OffsetResetPlan, ShiftBy
    from aiokafka_lite.admin.groups.streams_group import (
        GlobalStore,
        InternalTopic,
        StreamsGroupDescription,
        StreamsMemberDescription,
        StreamsTask,
        StreamsTasks,
        StreamsTopology,
        Subtopology,
        TopologyNode,
    )
    from aiokafka_lite.admin.partitions.election_calls import ElectionType
    from aiokafka_lite.admin.partitions.list_offsets_calls import ListOffsetsResult
    from aiokafka_lite.admin.partitions.log_dir_calls import (
        LogDirDescription,
        ReplicaInfo,
        ReplicaLogDirs,
    )
    from aiokafka_lite.admin.partitions.reassignment_calls import (
        PartitionReassignment,
        ReassignmentProgress,
    )
    from aiokafka_lite.admin.security.acl_binding import (
        AclBinding,
        AclBindingFilter,
        AclOperation,
        AclPermissionType,
        PatternType,
        ResourceType,
    )
    from aiokafka_lite.admin.security.client_quota import ClientQuotaAlteration, ClientQuotaEntity
    from aiokafka_lite.admin.security.delegation_token import DelegationToken
    from aiokafka_lite.admin.security.scram_credential import (
        ScramCredentialInfo,
        ScramMechanism,
        UserScramCredentialDeletion,
        UserScramCredentialUpsertion,
    )
    from aiokafka_lite.admin.topics.new_partitions import NewPartitions
    from aiokafka_lite.admin.topics.new_topic import NewTopic
    from aiokafka_lite.admin.topics.records_to_delete import RecordsToDelete
    from aiokafka_lite.admin.topics.topic_description import PartitionDescription, TopicDescription
    from aiokafka_lite.admin.transactions.transaction_answers import (
        AbortTransactionSpec,
        HangingTransaction,
        ProducerIdAndEpoch,
        ProducerState,
        TransactionDescription,
        TransactionListing,
    )
    from aiokafka_lite.model import OffsetSpec


__all__ = [
    "AIOKafkaAdminClient",
    "AbortTransactionSpec",
    "AclBinding",
    "AclBindingFilter",
    "AclOperation",
    "AclPermissionType",
    "AdminOptions",
    "AlterConfigOp",
    "ClientQuotaAlteration",
    "ClientQuotaEntity",
    "ConfigEntry",
    "ConfigResource",
    "ConfigResourceType",
    "ConfigSource",
    "ConfigSynonym",
    "ConfigType",
    "DelegationToken",
    "ElectionType",
    "FeatureLevels",
    "FeatureMetadata",
    "FeatureUpdate",
    "GlobalStore",
    "GroupDescription",
    "GroupListing",
    "HangingTransaction",
    "InternalTopic",
    "ListOffsetsResult",
    "LogDirDescription",
    "MemberDescription",
    "MemberToRemove",
    "NewPartitions",
    "NewTopic",
    "OffsetReset",
    "OffsetResetPlan",
    "OffsetSpec",
    "Outcomes",
    "PartitionDescription",
    "PartitionLag",
    "PartitionReassignment",
    "PatternType",
    "ProducerIdAndEpoch",
    "ProducerState",
    "QuorumEndpoint",
    "QuorumInfo",
    "QuorumReplica",
    "ReassignmentProgress",
    "RecordsToDelete",
    "ReplicaInfo",
    "ReplicaLogDirs",
    "ResourceType",
    "ScramCredentialInfo",
    "ScramMechanism",
    "SharePartitionOffset",
    "ShiftBy",
    "StreamsGroupDescription",
    "StreamsMemberDescription",
    "StreamsTask",
    "StreamsTasks",
    "StreamsTopology",
    "Subtopology",
    "TopicDescription",
    "TopologyNode",
    "TransactionDescription",
    "TransactionListing",
    "UpgradeType",
    "UserScramCredentialDeletion",
    "UserScramCredentialUpsertion",
]

_HOMES = {
    "AIOKafkaAdminClient": "admin_client",
    "AbortTransactionSpec": "transactions.transaction_answers",
    "AclBinding": "security.acl_binding",
    "AclBindingFilter": "security.acl_binding",
    "AclOperation": "security.acl_binding",
    "AclPermissionType": "security.acl_binding",
    "AdminOptions": "admin_options",
    "AlterConfigOp": "config_resource",
    "ClientQuotaAlteration": "security.client_quota",
    "ClientQuotaEntity": "security.client_quota",
    "ConfigEntry": "configs.config_entry",
    "ConfigResource": "config_resource",
    "ConfigResourceType": "config_resource",
    "ConfigSource": "configs.config_entry",
    "ConfigSynonym": "configs.config_entry",
    "ConfigType": "configs.config_entry",
    "DelegationToken": "security.delegation_token",
    "ElectionType": "partitions.election_calls",
    "FeatureLevels": "cluster.cluster_values",
    "FeatureMetadata": "cluster.cluster_values",
    "FeatureUpdate": "cluster.cluster_values",
    "GlobalStore": "groups.streams_group",
    "GroupDescription": "groups.group_values",
    "GroupListing": "groups.group_values",
    "HangingTransaction": "transactions.transaction_answers",
    "InternalTopic": "groups.streams_group",
    "ListOffsetsResult": "partitions.list_offsets_calls",
    "LogDirDescription": "partitions.log_dir_calls",
    "MemberDescription": "groups.group_values",
    "MemberToRemove": "groups.group_values",
    "NewPartitions": "topics.new_partitions",
    "NewTopic": "topics.new_topic",
    "OffsetReset": "groups.offset_reset_plan",
    "OffsetResetPlan": "groups.offset_reset_plan",
    "OffsetSpec": "partitions.list_offsets_calls",
    "Outcomes": "calls.outcomes",
    "PartitionDescription": "topics.topic_description",
    "PartitionLag": "groups.group_progress_calls",
    "PartitionReassignment": "partitions.reassignment_calls",
    "PatternType": "security.acl_binding",
    "ProducerIdAndEpoch": "transactions.transaction_answers",
    "ProducerState": "transactions.transaction_answers",
    "QuorumEndpoint": "cluster.cluster_values",
    "QuorumInfo": "cluster.cluster_values",
    "QuorumReplica": "cluster.cluster_values",
    "ReassignmentProgress": "partitions.reassignment_calls",
    "RecordsToDelete": "topics.records_to_delete",
    "ReplicaInfo": "partitions.log_dir_calls",
    "ReplicaLogDirs": "partitions.log_dir_calls",
    "ResourceType": "security.acl_binding",
    "ScramCredentialInfo": "security.scram_credential",
    "ScramMechanism": "security.scram_credential",
    "SharePartitionOffset": "groups.group_values",
    "ShiftBy": "groups.offset_reset_plan",
    "StreamsGroupDescription": "groups.streams_group",
    "StreamsMemberDescription": "groups.streams_group",
    "StreamsTask": "groups.streams_group",
    "StreamsTasks": "groups.streams_group",
    "StreamsTopology": "groups.streams_group",
    "Subtopology": "groups.streams_group",
    "TopicDescription": "topics.topic_description",
    "TopologyNode": "groups.streams_group",
    "TransactionDescription": "transactions.transaction_answers",
    "TransactionListing": "transactions.transaction_answers",
    "UpgradeType": "cluster.cluster_values",
    "UserScramCredentialDeletion": "security.scram_credential",
    "UserScramCredentialUpsertion": "security.scram_credential",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
