"""Requests about settings, features and brokers get the same answers from the embedded broker and
from the newest Apache Kafka: codes, texts, values, sources and synonyms.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest
import pytest_asyncio

from aiokafka_lite.protocol.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from aiokafka_lite.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from aiokafka_lite.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResult,
)
from aiokafka_lite.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from aiokafka_lite.protocol.messages.incremental_alter_configs import (
    AlterableConfig as Change,
)
from aiokafka_lite.protocol.messages.incremental_alter_configs import (
    AlterConfigsResource as ChangedResource,
)
from aiokafka_lite.protocol.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
)
from aiokafka_lite.protocol.messages.list_config_resources import ListConfigResourcesRequest
from aiokafka_lite.protocol.messages.unregister_broker import UnregisterBrokerRequest
from aiokafka_lite.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.testing.broker.bench import WireClient

# The answers are the subject; how they come over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
Answer = tuple[int, str | None]


@pytest_asyncio.fixture
async def peers(
    running_kafka: Callable[[str], ApacheKafka], topic_name: str
) -> AsyncIterator[list[WireClient]]:
    """Connections to the embedded broker and to Apache's, which both have the topic."""
    alike = EmbeddedBroker(
        group_consumer_assignment_interval_ms=1000, group_share_assignment_interval_ms=1000
    )
    async with (
        alike as broker,
        await WireClient.connect(broker.bootstrap_servers) as embedded,
        await WireClient.connect(running_kafka("4.4.0").bootstrap_servers) as apache,
    ):
        topic = CreatableTopic(name=topic_name, num_partitions=1, replication_factor=1)
        for peer in (embedded, apache):
            created = await peer.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000))
            assert created.topics[0].error_code == 0
        yield [embedded, apache]


async def changed(
    peers: list[WireClient], kind: int, name: str, *changes: tuple[str, int, str | None]
) -> Answer:
    """The answer that both give; with the settings that both have afterwards."""
    configs = [Change(name=key, config_operation=done, value=value) for key, done, value in changes]
    resource = ChangedResource(resource_type=kind, resource_name=name, configs=configs)
    answers = []
    for peer in peers:
        answer = await peer.ask(IncrementalAlterConfigsRequest(resources=[resource]))
        (result,) = answer.responses
        answers.append((result.error_code, result.error_message or None))
    assert answers[0] == answers[1], changes
    return answers[0]


async def described(
    peers: list[WireClient], kind: int, name: str, keys: list[str] | None = None
) -> list[DescribeConfigsResult]:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=keys
    )
    request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
    results = [(await peer.ask(request)).results[0] for peer in peers]
    for result in results:
        result.configs.sort(key=lambda entry: entry.name)
    return results


async def agree(
    peers: list[WireClient], kind: int, name: str, keys: list[str] | None = None
) -> DescribeConfigsResult:
    """What both answer. A real broker takes over a change after its response, without an event."""
    embedded, apache = await described(peers, kind, name, keys)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(10):
            while embedded.configs != apache.configs:
                await asyncio.sleep(0.01)
                embedded, apache = await described(peers, kind, name, keys)
    assert embedded.error_code == apache.error_code
    assert embedded.configs == apache.configs
    return embedded


GOOD_TOPIC_CHANGES = (
    ("retention.ms", SET, " 7 "),
    ("cleanup.policy", APPEND, "compact"),
    ("cleanup.policy", SUBTRACT, "delete"),
    ("cleanup.policy", SET, ""),
    ("cleanup.policy", SET, "delete,compact"),
    ("preallocate", SET, "TRUE"),
    ("leader.replication.throttled.replicas", SET, "*"),
    ("leader.replication.throttled.replicas", SET, "0:1,0:2"),
    ("min.cleanable.dirty.ratio", SET, ".7"),
    ("nothing", DELETE, None),
    ("retention.ms", DELETE, None),
)
BAD_TOPIC_CHANGES = (
    ("nothing", SET, "1"),
    ("retention.ms", SET, "x"),
    ("retention.ms", SET, "-5"),
    ("retention.ms", SET, "99999999999999999999"),
    ("retention.ms", SET, None),
    ("retention.ms", APPEND, "1"),
    ("retention.ms", SUBTRACT, "1"),
    ("cleanup.policy", SET, "foo"),
    ("segment.bytes", SET, "10"),
    ("compression.type", SET, "foo"),
    ("min.cleanable.dirty.ratio", SET, "2"),
    ("min.cleanable.dirty.ratio", SET, "x"),
    ("preallocate", SET, "1"),
    ("compression.gzip.level", SET, "0"),
    ("compression.lz4.level", SET, "18"),
    ("message.timestamp.type", SET, "x"),
    ("leader.replication.throttled.replicas", SET, "a"),
    ("remote.storage.enable", SET, "true"),
)


async def test_settings_of_topics(peers: list[WireClient], topic_name: str) -> None:
    for change in GOOD_TOPIC_CHANGES:
        assert await changed(peers, TOPIC, topic_name, change) == (0, None)
        # The embedded broker keeps less than all, and says so.
        every = [
            entry.name
            for entry in (await described(peers, TOPIC, topic_name))[0].configs
            if entry.name not in {"retention.bytes", "min.insync.replicas"}
        ]
        assert len((await agree(peers, TOPIC, topic_name, every)).configs) == len(every) == 35
    for change in BAD_TOPIC_CHANGES:
        assert (await changed(peers, TOPIC, topic_name, change))[0] != 0
    both = ("min.compaction.lag.ms", SET, "100"), ("max.compaction.lag.ms", SET, "50")
    assert (await changed(peers, TOPIC, topic_name, *both))[0] == 40
    twice = ("retention.ms", SET, "1"), ("retention.ms", DELETE, None)
    assert (await changed(peers, TOPIC, topic_name, *twice))[0] == 42
    assert (await changed(peers, TOPIC, "nothing", ("retention.ms", SET, "7")))[0] == 3
    assert (await changed(peers, TOPIC, "", ("retention.ms", SET, "7")))[0] == 42


async def test_settings_of_groups_and_client_metrics(
    peers: list[WireClient], topic_name: str
) -> None:
    cases = (
        (GROUP, "consumer.session.timeout.ms", "1", 40),
        (GROUP, "consumer.session.timeout.ms", "50000", 0),
        (GROUP, "consumer.heartbeat.interval.ms", "60000", 40),
        (GROUP, "share.auto.offset.reset", "foo", 40),
        (GROUP, "share.auto.offset.reset", "by_duration:PT1H", 0),
        (GROUP, "share.delivery.count.limit", "1", 40),
        (GROUP, "share.delivery.count.limit", "11", 40),
        (GROUP, "streams.num.standby.replicas", "9", 40),
        (GROUP, "nothing", "1", 40),
        (METRICS, "interval.ms", "99", 42),
        (METRICS, "interval.ms", "x", 40),
        (METRICS, "interval.ms", "1000", 0),
        (METRICS, "metrics", "a,b", 0),
        (METRICS, "match", "client_id=a.*", 0),
        (METRICS, "match", "nothing=a", 40),
        (METRICS, "match", "client_id=(", 40),
        (METRICS, "nothing", "1", 42),
    )
    for kind, name, value, code in cases:
        assert (await changed(peers, kind, topic_name, (name, SET, value)))[0] == code, name
        assert (await agree(peers, kind, topic_name)).error_code == 0
    assert (await changed(peers, METRICS, topic_name, ("metrics", APPEND, "c")))[0] == 40
    for kind in (GROUP, METRICS):
        assert (await agree(peers, kind, "")).error_code == 42
        assert (await changed(peers, kind, "", ("nothing", SET, "1")))[0] == 42


async def test_settings_of_brokers(peers: list[WireClient]) -> None:
    assert (await agree(peers, BROKER, "2")).error_code == 42
    assert (await agree(peers, BROKER, "one")).error_code == 42
    read_only = ["node.id", "num.partitions", "group.max.size", "log.retention.hours"]
    read_only += [
        "group.consumer.max.size",
        "group.consumer.session.timeout.ms",
        "group.consumer.heartbeat.interval.ms",
        "group.consumer.assignors",
        "group.consumer.migration.policy",
    ]
    assert len((await agree(peers, BROKER, "1", read_only)).configs) == 9
    for name, value in (("node.id", "5"), ("num.partitions", "2"), ("log.retention.bytes", "x")):
        assert (await changed(peers, BROKER, "1", (name, SET, value)))[0] == 42
    assert (await changed(peers, BROKER, "2", ("log.retention.ms", SET, "7")))[0] == 42
    assert (await changed(peers, BROKER, "one", ("log.retention.ms", SET, "7")))[0] == 42
    names = ["log.retention.ms", "log.index.interval.bytes"]
    try:
        for broker, value in (("", "8000000"), ("1", "9000000")):
            for name in names:
                assert (await changed(peers, BROKER, broker, (name, SET, value)))[0] == 0
            assert len((await agree(peers, BROKER, "", names)).configs) == 2
            assert len((await agree(peers, BROKER, "1", names)).configs) == 2
    finally:
        for broker in ("", "1"):
            for name in names:
                await changed(peers, BROKER, broker, (name, DELETE, None))
    assert len((await agree(peers, BROKER, "1", names)).configs) == 2


async def test_defaults_that_no_topic_may_have(peers: list[WireClient], topic_name: str) -> None:
    given = {
        "log.retention.ms": "-5",
        "log.cleaner.min.compaction.lag.ms": "10",
        "log.cleaner.max.compaction.lag.ms": "5",
    }
    assert (await changed(peers, BROKER, "", ("log.retention.ms", SET, "0")))[0] == 42
    try:
        for name, value in given.items():
            assert (await changed(peers, BROKER, "", (name, SET, value)))[0] == 0
        keys = ["retention.ms", "min.compaction.lag.ms", "max.compaction.lag.ms"]
        told = await agree(peers, TOPIC, topic_name, keys)
        assert {each.name: each.value for each in told.configs} == dict(
            zip(keys, ("-1", "10", "5"), strict=True)
        )
        for number, settings in enumerate(({}, {"segment.ms": "5000"})):
            topic = CreatableTopic(
                name=f"{topic_name}-{number}",
                num_partitions=1,
                replication_factor=1,
                configs=[
                    CreatableTopicConfig(name=name, value=value) for name, value in settings.items()
                ],
            )
            request = CreateTopicsRequest(topics=[topic], timeout_ms=60_000)
            answers = [(await peer.ask(request)).topics[0] for peer in peers]
            assert [each.error_code for each in answers] == [40 * number] * 2
            assert answers[0].error_message == answers[1].error_message
        assert (await changed(peers, TOPIC, topic_name, ("segment.ms", SET, "5000")))[0] == 40
        change = ("min.compaction.lag.ms", SET, "3")
        assert (await changed(peers, TOPIC, topic_name, change))[0] == 0
    finally:
        for name in given:
            await changed(peers, BROKER, "", (name, DELETE, None))


async def test_levels_of_loggers(peers: list[WireClient]) -> None:
    cases = (
        ("root", SET, "WARN", 0),
        ("root", SET, "warn", 40),
        ("root", SET, "OFF", 40),
        ("root", SET, None, 42),
        ("root", DELETE, None, 42),
        ("root", APPEND, "INFO", 42),
        ("root", SUBTRACT, "INFO", 42),
        ("nothing", SET, "INFO", 40),
        ("nothing", DELETE, None, 40),
    )
    try:
        for name, done, value, code in cases:
            assert (await changed(peers, LOGGER, "1", (name, done, value)))[0] == code
            (root,) = (await agree(peers, LOGGER, "1", ["root"])).configs
            assert (root.value, root.config_source) == ("WARN", 6)
        for broker in ("", "2", "one"):
            assert (await changed(peers, LOGGER, broker, ("root", SET, "INFO")))[0] == 42
            assert (await agree(peers, LOGGER, broker)).error_code == 42
    finally:
        await changed(peers, LOGGER, "1", ("root", SET, "ERROR"))
    assert (await changed(peers, 99, "1", ("root", SET, "INFO")))[0] == 42
    resource = AlterConfigsResource(
        resource_type=LOGGER,
        resource_name="1",
        configs=[AlterableConfig(name="root", value="INFO")],
    )
    embedded, apache = [await peer.ask(AlterConfigsRequest(resources=[resource])) for peer in peers]
    assert embedded == apache
    listing = ListConfigResourcesRequest(resource_types=[LOGGER])
    embedded_list, apache_list = [await peer.ask(listing) for peer in peers]
    assert embedded_list == apache_list


async def test_the_quorum(peers: list[WireClient]) -> None:
    def asked(*partitions: tuple[str, int]) -> DescribeQuorumRequest:
        return DescribeQuorumRequest(
            topics=[
                TopicData(topic_name=name, partitions=[PartitionData(partition_index=index)])
                for name, index in partitions
            ]
        )

    metadata = ("__cluster_metadata", 0)
    for wrong in ([("t", 0)], [("__cluster_metadata", 1)], [metadata, ("t", 0)]):
        embedded, apache = [await peer.ask(asked(*wrong)) for peer in peers]
        assert embedded == apache
    for peer in peers:
        answer = await peer.ask(asked(metadata))
        (told,) = answer.topics[0].partitions
        (voter,) = told.current_voters
        assert 0 < told.high_watermark <= voter.log_end_offset
        assert (told.leader_id, voter.replica_id, len(told.observers)) == (1, 1, 0)
        assert [each.node_id for each in answer.nodes] == [1]


async def test_settings_are_replaced(peers: list[WireClient], topic_name: str) -> None:
    async def replaced(kind: int, name: str, **settings: str) -> int:
        configs = [
            AlterableConfig(name=key.replace("_", "."), value=value)
            for key, value in settings.items()
        ]
        resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
        request = AlterConfigsRequest(resources=[resource])
        answers = [
            [(each.error_code, each.error_message or None) for each in answer.responses]
            for answer in [await peer.ask(request) for peer in peers]
        ]
        assert answers[0] == answers[1]
        return answers[0][0][0]

    assert await replaced(TOPIC, topic_name, retention_ms="7", segment_ms="8") == 0
    assert await replaced(TOPIC, topic_name, segment_ms="9") == 0
    names = ["retention.ms", "segment.ms"]
    assert [each.value for each in (await agree(peers, TOPIC, topic_name, names)).configs] == [
        "604800000",
        "9",
    ]
    assert await replaced(TOPIC, topic_name, nothing="1") == 40
    assert await replaced(TOPIC, "nothing", segment_ms="9") == 3
    assert await replaced(BROKER, "1", node_id="9") == 42
    assert await replaced(GROUP, topic_name, nothing="1") == 40


async def test_levels_of_features(peers: list[WireClient]) -> None:
    name = "transaction.version"
    cases = (
        ([(name, 1, 1)], 95),
        ([(name, 1, 2)], 0),
        ([(name, 0, 3)], 0),
        ([(name, 2, 1)], 0),
        ([(name, 9, 1)], 95),
        ([("nothing", 1, 1)], 95),
        ([("nothing", 0, 2)], 95),
        ([("nothing", 1, 1), (name, 2, 1)], 95),
    )
    for version in (1, 2):
        for updates, code in cases:
            keys = [
                FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=kind)
                for feature, level, kind in updates
            ]
            request = UpdateFeaturesRequest(feature_updates=keys, validate_only=True)
            embedded, apache = [await peer.ask(request, version) for peer in peers]
            assert embedded == apache
            assert embedded.error_code == code


async def test_brokers_that_are_not_there(peers: list[WireClient]) -> None:
    embedded, apache = [await peer.ask(UnregisterBrokerRequest(broker_id=99)) for peer in peers]
    assert embedded == apache
    assert embedded.error_code == 102
