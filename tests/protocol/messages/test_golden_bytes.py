"""Bytes of Apache's own writer.

Each literal was printed by the generated classes of kafka-clients 4.3.1 (4.4.0 for the versions it
brought), in jshell with
`MessageUtil.toByteBufferAccessor` and `RequestUtils.serialize`, from the values the test names.
"""

from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.protocol.message_header import decode_request_header
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch, NodeEndpoint
from aiokafka_lite.protocol.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from aiokafka_lite.protocol.messages.fetch import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
    ReplicaState,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from aiokafka_lite.protocol.request_frame import encode_request

TOPIC_ID = UUID("01234567-89ab-cdef-0123-456789abcdef")


def fetch_request(**values: Any) -> FetchRequest:
    return FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=52428800, **values)


def by_name() -> FetchRequest:
    partition = FetchPartition(partition=3, fetch_offset=1000, partition_max_bytes=1048576)
    return fetch_request(topics=[FetchTopic(topic="orders", partitions=[partition])])


def in_session(**partition_values: Any) -> FetchRequest:
    partition = FetchPartition(
        partition=3,
        current_leader_epoch=5,
        fetch_offset=1000,
        last_fetched_epoch=4,
        partition_max_bytes=1048576,
        **partition_values,
    )
    return fetch_request(
        isolation_level=1,
        session_id=99,
        session_epoch=2,
        topics=[FetchTopic(topic_id=TOPIC_ID, partitions=[partition])],
        rack_id="rack-a",
    )


def of_follower() -> FetchRequest:
    request = in_session(replica_directory_id=TOPIC_ID, high_watermark=77)
    request.cluster_id = "c"
    request.replica_state = ReplicaState(replica_id=2, replica_epoch=9)
    request.forgotten_topics_data = [ForgottenTopic(topic_id=TOPIC_ID, partitions=[1, 2])]
    return request


def produce() -> ProduceRequest:
    partition = PartitionProduceData(index=1, records=b"\x01\x02\x03")
    topic = TopicProduceData(name="orders", partition_data=[partition])
    return ProduceRequest(acks=-1, timeout_ms=30000, topic_data=[topic])


FEATURE = "transaction.version"
API_VERSIONS_RESPONSE = ApiVersionsResponse(
    api_keys=[ApiVersion(api_key=18, min_version=0, max_version=4)],
    supported_features=[SupportedFeatureKey(name=FEATURE, min_version=0, max_version=2)],
    finalized_features=[
        FinalizedFeatureKey(name=FEATURE, max_version_level=2, min_version_level=2)
    ],
    finalized_features_epoch=42,
)
MOVED_LEADER = FetchResponse(
    session_id=99,
    responses=[
        FetchableTopicResponse(
            topic_id=TOPIC_ID,
            partitions=[
                PartitionData(
                    partition_index=3,
                    error_code=6,
                    high_watermark=-1,
                    current_leader=LeaderIdAndEpoch(leader_id=2, leader_epoch=8),
                    diverging_epoch=EpochEndOffset(epoch=4, end_offset=990),
                    records=b"",
                )
            ],
        )
    ],
    node_endpoints=[NodeEndpoint(node_id=2, host="b2", port=9092, rack="r")],
)

GOLDEN = {
    "fetch by name, oldest": (
        by_name(),
        4,
        (
            "ffffffff000001f400000001032000000000000001"
            "00066f7264657273000000010000000300000000000003e800100000"
        ),
    ),
    "fetch by name, last inflexible": (
        by_name(),
        11,
        (
            "ffffffff000001f400000001032000000000000000ffffffff00000001"
            "00066f72646572730000000100000003ffffffff00000000000003e8ffffffffffffffff00100000"
            "000000000000"
        ),
    ),
    "fetch in a session": (
        in_session(),
        18,
        (
            "000001f400000001032000000100000063000000020201234567"
            "89abcdef0123456789abcdef02000000030000000500000000000003e8"
            "00000004ffffffffffffffff00100000000001077261636b2d6100"
        ),
    ),
    "fetch with every tagged field": (
        of_follower(),
        18,
        (
            "000001f400000001032000000100000063000000020201234567"
            "89abcdef0123456789abcdef02000000030000000500000000000003e8"
            "00000004ffffffffffffffff00100000"
            "0200100123456789abcdef0123456789abcdef0108000000000000004d00"
            "020123456789abcdef0123456789abcdef03000000010000000200077261636b2d61"
            "0200020263010d00000002000000000000000900"
        ),
    ),
    "fetch answer with hints": (
        MOVED_LEADER,
        16,
        (
            "00000000000000000063020123456789abcdef0123456789abcdef02000000030006"
            "ffffffffffffffffffffffffffffffffffffffffffffffff01ffffffff01"
            "02000d0000000400000000000003de0001090000000200000008000001"
            "000f020000000203623200002384027200"
        ),
    ),
    "metadata by topic id": (
        MetadataRequest(
            topics=[MetadataRequestTopic(topic_id=TOPIC_ID, name=None)],
            allow_auto_topic_creation=False,
        ),
        13,
        "020123456789abcdef0123456789abcdef0000000000",
    ),
    "metadata of all topics": (MetadataRequest(topics=None), 13, "00010000"),
    "api versions answer with features": (
        API_VERSIONS_RESPONSE,
        4,
        (
            "000002001200000004000000000003"
            "001a02147472616e73616374696f6e2e76657273696f6e000000020001"
            "08000000000000002a"
            "021a02147472616e73616374696f6e2e76657273696f6e0002000200"
        ),
    ),
    "produce, last inflexible with zstd": (
        produce(),
        7,
        "ffffffff000075300000000100066f7264657273000000010000000100000003010203",
    ),
    "produce, first flexible": (
        produce(),
        9,
        "00ffff0000753002076f7264657273020000000104010203000000",
    ),
}


@pytest.mark.parametrize(("message", "version", "raw"), GOLDEN.values(), ids=GOLDEN.keys())
def test_bytes_are_those_of_the_java_client(message: Any, version: int, raw: str) -> None:
    assert b"".join(message.encode(version)).hex() == raw
    assert type(message).decode(bytes.fromhex(raw), version) == message


@pytest.mark.parametrize(
    ("version", "frame"),
    [
        (0, "0012000000000007000a636f6e73756d65722d31"),
        (
            3,
            (
                "0012000300000007000a636f6e73756d65722d3100"
                "126170616368652d6b61666b612d6a61766106342e332e3100"
            ),
        ),
        (
            4,
            (
                "0012000400000007000a636f6e73756d65722d3100"
                "126170616368652d6b61666b612d6a61766106342e332e3100"
            ),
        ),
    ],
)
def test_first_request_of_a_connection_is_that_of_the_java_client(version: int, frame: str) -> None:
    request = ApiVersionsRequest(
        client_software_name="apache-kafka-java", client_software_version="4.3.1"
    )
    parts = encode_request(request, version=version, correlation_id=7, client_id="consumer-1")
    assert b"".join(parts)[4:].hex() == frame
    header, body = decode_request_header(bytes.fromhex(frame))
    assert (header.api_version, header.correlation_id, header.client_id) == (
        version,
        7,
        "consumer-1",
    )
    assert ApiVersionsRequest.decode(body, version) == (
        request if version >= 3 else ApiVersionsRequest()
    )


NAMED: dict[str, Any] = {
    "client_software_name": "apache-kafka-java",
    "client_software_version": "4.4.0",
}
FULL = ApiVersionsRequest(**NAMED, cluster_id="cluster", node_id=3)
SOFTWARE = "126170616368652d6b61666b612d6a61766106342e342e30"


@pytest.mark.parametrize(
    ("version", "sent", "tail"),
    [
        (5, ApiVersionsRequest(**NAMED), "00ffffffff00"),
        (5, FULL, "08636c75737465720000000300"),
        (4, FULL, "00"),
    ],
)
def test_the_node_that_is_meant_is_named_from_version_5_on(
    version: int, sent: ApiVersionsRequest, tail: str
) -> None:
    """ApiVersions names the node that is meant from version 5 on (KIP-1242)."""
    parts = encode_request(sent, version=version, correlation_id=7, client_id="consumer-1")
    head = f"0012{version:04x}00000007000a636f6e73756d65722d3100"
    assert b"".join(parts)[4:].hex() == head + SOFTWARE + tail


def test_a_node_that_is_not_meant_answers_with_an_error_alone() -> None:
    answer = ApiVersionsResponse(error_code=129)
    assert b"".join(answer.encode(5)).hex() == "0081010000000000"
    assert ApiVersionsResponse.decode(bytes.fromhex("0081010000000000"), 5) == answer
