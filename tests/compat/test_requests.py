"""Requests of aiokafka are built as aiokafka builds them, and a broker answers them."""

import inspect
from importlib import import_module
from typing import Any

import pytest
from aiokafka.errors import IncompatibleBrokerVersion as TheirRefusal
from aiokafka.protocol.api import Request as TheirRequest
from aiokafka.protocol.api import RequestStruct as TheirStruct

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.compat import inside_table
from aiokafka_lite.compat.client import AIOKafkaClient
from aiokafka_lite.compat.installation import found
from aiokafka_lite.errors import IncompatibleBrokerVersion, UnsupportedVersionError
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.patience import eventually_equals
from tests.support.topics import create_topic

ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    "ApiVersionRequest": [()],
    "CreateTopicsRequest": [([("t", 1, 1, [], [])], 1, False), ([], 1, True)],
    "DeleteTopicsRequest": [(["t"], 5)],
    "ListGroupsRequest": [()],
    "DescribeGroupsRequest": [(["g"],), (["g"], True)],
    "SaslHandShakeRequest": [("PLAIN",)],
    "DescribeAclsRequest": [(2, "t", 3, "User:a", "*", 2, 3)],
    "CreateAclsRequest": [(2, "t", 3, "User:a", "*", 2, 3)],
    "DeleteAclsRequest": [(2, "t", 3, "User:a", "*", 2, 3)],
    "AlterConfigsRequest": [([(2, "t", [("a", "b")])],), ([], True)],
    "DescribeConfigsRequest": [([(2, "t", ["a"])],), ([], True)],
    "SaslAuthenticateRequest": [(b"x",)],
    "CreatePartitionsRequest": [([("t", (2, [[1]]))], 1, False)],
    "DeleteGroupsRequest": [(["g"],)],
    "DescribeClientQuotasRequest": [([("user", 0, "a")], True)],
    "AlterPartitionReassignmentsRequest": [(1, [("t", [(0, [1], {})], {})], {})],
    "ListPartitionReassignmentsRequest": [(1, [("t", [0], {})], {})],
    "DeleteRecordsRequest": [([("t", [(0, 5)])], 9), ([("t", [(0, 5)])], 9, {})],
    "OffsetCommitRequest": [("g", 1, "m", -1, [("t", [(0, 5, "")])])],
    "OffsetFetchRequest": [("g", [("t", [0])]), ("g", None)],
    "FindCoordinatorRequest": [("g", 0), ("g", 1)],
    "FetchRequest": [
        (1, 1, 9, 0, [("t", [(0, 5, 100)])]),
        (1, 1, 9, 1, [("t", [(0, 5, 100)])], "rack"),
    ],
    "JoinGroupRequest": [("g", 1, 2, "m", "i", "consumer", [("range", b"")])],
    "SyncGroupRequest": [("g", 1, "m", "i", [("m", b"x")])],
    "HeartbeatRequest": [("g", 1, "m")],
    "LeaveGroupRequest": [("g", "m")],
    "MetadataRequest": [(), (["t"],), ([],), (None, False)],
    "OffsetRequest": [(-1, 0, [("t", [(0, -1)])]), (-1, 1, []), (-1, 0, [("t", [(0, 7)])])],
    "ProduceRequest": [(None, 1, 9, [("t", [(0, b"x")])]), ("id", 1, 9, [])],
    "InitProducerIdRequest": [("id", 1)],
    "AddPartitionsToTxnRequest": [("id", 1, 1, [("t", [0])])],
    "AddOffsetsToTxnRequest": [("id", 1, 1, "g")],
    "EndTxnRequest": [("id", 1, 1, True)],
    "TxnOffsetCommitRequest": [("id", "g", 1, 1, [("t", [(0, 1, "")])])],
}
BUILDERS = {
    name: path
    for path in inside_table.module_paths()
    for name, entry in inside_table.entries(path).items()
    if entry.kind == "builder"
}


def test_each_request_has_arguments_to_be_compared_with() -> None:
    theirs = {
        name
        for path in inside_table.module_paths()
        for name, value in vars(import_module(f"aiokafka.{path}".rstrip("."))).items()
        if inspect.isclass(value) and issubclass(value, TheirRequest) and value is not TheirRequest
    }
    assert theirs == BUILDERS.keys() == ARGUMENTS.keys()


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_request_is_built_in_each_version_as_by_aiokafka(name: str) -> None:
    ours = found(BUILDERS[name], name)
    theirs = getattr(import_module(f"aiokafka.{BUILDERS[name]}"), name)
    assert [*inspect.signature(ours).parameters] == [*inspect.signature(theirs).parameters]
    assert [each.__name__ for each in ours._CLASSES] == [each.__name__ for each in theirs._CLASSES]
    for arguments in ARGUMENTS[name]:
        for mine, witness in zip(ours._CLASSES, theirs._CLASSES, strict=True):
            try:
                expected = theirs(*arguments).build(witness).encode()
            except TheirRefusal as refusal:
                with pytest.raises(IncompatibleBrokerVersion, match=str(refusal)[:30]):
                    ours(*arguments).build(mine)
            else:
                assert ours(*arguments).build(mine).encode() == expected, (arguments, mine)


def test_a_request_has_the_constants_that_programs_read() -> None:
    """Faust takes `OffsetCommitRequest.DEFAULT_GENERATION_ID` when it is imported."""
    read = 0
    for path in sorted(inside_table.module_paths()):
        for name, theirs in vars(import_module(f"aiokafka.{path}".rstrip("."))).items():
            if not inspect.isclass(theirs) or not issubclass(theirs, TheirRequest | TheirStruct):
                continue
            for constant, value in vars(theirs).items():
                if constant.isupper() and isinstance(value, int | str | dict):
                    assert getattr(found(path, name), constant) == value, (path, name, constant)
                    read += constant not in {"API_KEY", "API_VERSION"}
    assert read > 5


def test_a_request_chooses_the_highest_version_of_both_sides() -> None:
    request = found("protocol.metadata", "MetadataRequest")(["t"])
    assert request.prepare({3: (0, 2)}).API_VERSION == 2
    assert request.topics == request._topics == ["t"]
    with pytest.raises(IncompatibleBrokerVersion, match="unknown"):
        request.prepare({})
    with pytest.raises(NotImplementedError, match="the broker has 20 to 30"):
        request.prepare({3: (20, 30)})
    unknown = found("protocol.admin", "ApiVersionRequest")().prepare({})
    assert unknown.API_VERSION == 0
    assert not hasattr(request, "no_such")


async def ask_everything(bootstrap: str, topic: str) -> None:
    """What faust and Karapace ask."""
    metadata = "protocol.metadata"
    async with AIOKafkaClient(bootstrap_servers=bootstrap) as client:
        node_id = client.get_random_node()
        assert node_id is not None
        create = found("protocol.admin", "CreateTopicsRequest")
        made = await client.send(node_id, create([(topic, 2, 1, [], [])], 10_000, False))
        assert [(topic, code) for topic, code, _ in made.topic_errors] == [(topic, 0)]
        async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
            await producer.send_and_wait(topic, b"1", partition=1)
        for version in (1, 4, 5):
            kind = found(metadata, f"MetadataRequest_v{version}")
            request = kind([topic]) if version == 1 else kind([topic], False)
            answer = await client.send(node_id, request)
            assert type(answer).__name__ == f"MetadataResponse_v{version}"
            assert [topic[1] for topic in answer.topics] == [topic]
            assert {broker[0] for broker in answer.brokers} == {
                broker.nodeId for broker in client.cluster.brokers()
            }
        answer = await client.send(node_id, found(metadata, "MetadataRequest")(None))
        assert answer.controller_id in {broker[0] for broker in answer.brokers}
        offsets = found("protocol.offset", "OffsetRequest")(-1, 0, [(topic, [(1, -1)])])
        (partitions,) = (each[3] for each in answer.topics if each[1] == topic)
        leader = next(p[2] for p in partitions if p[1] == 1)
        ends = await client.send(leader, offsets)
        assert ends.topics[0][1][0][-1] == 1
        await client.coordinator_lookup(0, topic)  # waits for the first coordinator there is
        found_at = await client.send(
            node_id, found("protocol.coordination", "FindCoordinatorRequest")(topic, 0)
        )
        coordinator = found_at.coordinator_id
        commit = found("protocol.commit", "OffsetCommitRequest")

        async def is_stored() -> bool:  # once the coordinator has read what is stored
            offsets = [(topic, [(1, 1, "")])]
            stored = await client.send(coordinator, commit(topic, -1, "", -1, offsets))
            return bool(stored.topics == [(topic, [(1, 0)])])

        await eventually_equals(is_stored, wanted=True)
        fetched = await client.send(
            coordinator, found("protocol.commit", "OffsetFetchRequest")(topic, [(topic, [1])])
        )
        assert fetched.topics == [(topic, [(1, 1, "", 0)])]
        groups = await client.send(coordinator, found("protocol.admin", "ListGroupsRequest")())
        assert topic in [group for group, _ in groups.groups]
        described = await client.send(
            coordinator, found("protocol.admin", "DescribeGroupsRequest")([topic])
        )
        assert [group[1] for group in described.groups] == [topic]
        versions = await client.send(node_id, found("protocol.admin", "ApiVersionRequest")())
        assert 3 in [api[0] for api in versions.api_versions]


async def test_the_embedded_broker_answers_them() -> None:
    async with EmbeddedBroker() as broker:
        await ask_everything(broker.bootstrap_servers, "t")


@pytest.mark.real_kafka
@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_a_real_kafka_answers_them(apache_kafka: ApacheKafka, topic_name: str) -> None:
    await ask_everything(apache_kafka.bootstrap_servers, topic_name)


async def test_records_are_produced_with_and_without_an_answer() -> None:
    builder = found("record", "MemoryRecords")  # reads what the one below has built
    batch = found("record.default_records", "DefaultRecordBatchBuilder")(2, 0, 0, -1, -1, -1, 999)
    batch.append(0, None, b"key", b"value", [])
    data = bytes(batch.build())
    produce = found("protocol.produce", "ProduceRequest_v3")
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaClient(bootstrap_servers=broker.bootstrap_servers) as client,
    ):
        await create_topic(broker.bootstrap_servers, "t")
        sent = produce(None, 1, 1000, [("t", [(0, data)])])
        answer = await client.send(1, sent)
        assert answer.topics[0][1][0][:3] == (0, 0, 0)
        unanswered = produce(None, 0, 1000, [("t", [(0, data)])])
        assert await client.send(1, unanswered) is None
        fetch = found("protocol.fetch", "FetchRequest_v4")
        read = await client.send(1, fetch(-1, 100, 1, 9999, 0, [("t", [(0, 0, 9999)])]))
        records = builder(read.topics[0][1][0][-1])
        assert [record.value for record in records.next_batch()] == [b"value"]


async def test_a_version_that_no_broker_has_is_refused() -> None:
    request = found("protocol.metadata", "MetadataRequest_v0")([])
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaClient(bootstrap_servers=broker.bootstrap_servers) as client,
    ):
        with pytest.raises(UnsupportedVersionError, match="Metadata"):
            await client.send(1, request)
