"""The list of APIs: what is promised is there, and each declaration explains itself."""

from collections.abc import Iterator
from typing import Any

import pytest

from aiokafka_lite.protocol.api_registry import API_BY_KEY, Api
from aiokafka_lite.protocol.messages.fetch import FetchRequest, FetchTopic
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopics,
)
from aiokafka_lite.protocol.messages.produce import ProduceRequest, TopicProduceData
from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestTopic,
)
from aiokafka_lite.schema.field_types import ArrayOf
from aiokafka_lite.schema.message import Request
from aiokafka_lite.schema.versioned_struct import Struct, fields_of


def test_versions_are_those_promised() -> None:
    assert {api.name: str(api.versions) for api in API_BY_KEY.values()} == {
        "Produce": "3-13",
        "Fetch": "4-18",
        "ListOffsets": "1-11",
        "Metadata": "1-13",
        "OffsetCommit": "2-10",
        "OffsetFetch": "1-10",
        "FindCoordinator": "0-6",
        "JoinGroup": "0-9",
        "Heartbeat": "0-4",
        "LeaveGroup": "0-5",
        "SyncGroup": "0-5",
        "DescribeGroups": "0-6",
        "ListGroups": "0-5",
        "SaslHandshake": "0-1",
        "ApiVersions": "0-5",
        "CreateTopics": "2-7",
        "DeleteTopics": "1-6",
        "DeleteRecords": "0-2",
        "InitProducerId": "0-5",
        "OffsetForLeaderEpoch": "2-4",
        "AddPartitionsToTxn": "0-5",
        "AddOffsetsToTxn": "0-4",
        "EndTxn": "0-5",
        "WriteTxnMarkers": "1-2",
        "TxnOffsetCommit": "0-6",
        "DescribeAcls": "1-3",
        "CreateAcls": "1-3",
        "DeleteAcls": "1-3",
        "DescribeConfigs": "1-4",
        "AlterConfigs": "0-2",
        "AlterReplicaLogDirs": "1-2",
        "DescribeLogDirs": "1-5",
        "SaslAuthenticate": "0-2",
        "CreatePartitions": "0-3",
        "CreateDelegationToken": "1-3",
        "RenewDelegationToken": "1-2",
        "ExpireDelegationToken": "1-2",
        "DescribeDelegationToken": "1-3",
        "DeleteGroups": "0-3",
        "ElectLeaders": "0-2",
        "IncrementalAlterConfigs": "0-1",
        "AlterPartitionReassignments": "0-1",
        "ListPartitionReassignments": "0",
        "OffsetDelete": "0",
        "DescribeClientQuotas": "0-1",
        "AlterClientQuotas": "0-1",
        "DescribeUserScramCredentials": "0",
        "AlterUserScramCredentials": "0",
        "DescribeQuorum": "0-2",
        "UpdateFeatures": "0-2",
        "DescribeCluster": "0-2",
        "DescribeProducers": "0",
        "UnregisterBroker": "0",
        "DescribeTransactions": "0",
        "ListTransactions": "0-2",
        "ConsumerGroupHeartbeat": "0-1",
        "ConsumerGroupDescribe": "0-1",
        "GetTelemetrySubscriptions": "0",
        "PushTelemetry": "0",
        "ListConfigResources": "0-1",
        "DescribeTopicPartitions": "0",
        "ShareGroupHeartbeat": "1",
        "ShareGroupDescribe": "1",
        "ShareFetch": "1-2",
        "ShareAcknowledge": "1-2",
        "AddRaftVoter": "0-1",
        "RemoveRaftVoter": "0",
        "UnregisterController": "0",
        "StreamsGroupDescribe": "0-1",
        "DescribeShareGroupOffsets": "0-1",
        "AlterShareGroupOffsets": "0",
        "DeleteShareGroupOffsets": "0",
    }


@pytest.mark.parametrize("api", API_BY_KEY.values(), ids=lambda api: api.name)
def test_request_and_response_agree(api: Api) -> None:
    assert api.request.api_key == api.response.api_key == api.key
    assert api.request.versions == api.response.versions == api.versions
    assert api.request.flexible == api.response.flexible
    assert api.response.__name__ == f"{api.name}Response"
    assert api.request.response_type is api.response


def structs_of(cls: type[Struct]) -> Iterator[type[Struct]]:
    yield cls
    for item in fields_of(cls):
        element = item.type.element if isinstance(item.type, ArrayOf) else item.type
        if isinstance(element, type):
            yield from structs_of(element)


@pytest.mark.parametrize("api", API_BY_KEY.values(), ids=lambda api: api.name)
def test_every_struct_and_field_says_what_it_is_in_a_sentence(api: Api) -> None:
    for side in (api.request, api.response):
        for cls in structs_of(side):
            assert cls.__doc__, cls.__name__
            for item in fields_of(cls):
                assert item.doc.endswith("."), f"{cls.__name__}.{item.name}: {item.doc!r}"


FACTS = [
    pytest.param(api.request, name, id=f"{api.name}.{name}")
    for api in API_BY_KEY.values()
    for name in vars(api.request)
    if name.endswith("_since")
]


@pytest.mark.parametrize(("request_type", "name"), FACTS)
def test_some_versions_have_what_began_with_one_of_them_and_some_do_not(
    request_type: type[Request[Any]], name: str
) -> None:
    assert request_type.versions.min < getattr(request_type, name) <= request_type.versions.max


@pytest.mark.parametrize(
    ("request_type", "topic_type"),
    [
        (FetchRequest, FetchTopic),
        (ProduceRequest, TopicProduceData),
        (OffsetCommitRequest, OffsetCommitRequestTopic),
        (OffsetFetchRequest, OffsetFetchRequestTopics),
        (TxnOffsetCommitRequest, TxnOffsetCommitRequestTopic),
    ],
)
def test_topics_have_ids_since_the_version_in_which_their_names_end(
    request_type: Any, topic_type: type[Struct]
) -> None:
    fields = {each.name: each for each in fields_of(topic_type)}
    assert fields["topic_id"].versions.min == request_type.topic_ids_since
    name = fields.get("name") or fields["topic"]
    assert name.versions.max == request_type.topic_ids_since - 1
