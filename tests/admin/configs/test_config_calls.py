"""Configurations are described and altered, on the embedded broker and on real Kafka.

Confluent's client is the witness.
"""

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource as WitnessResource

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import (
    AlterConfigOp,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigType,
    NewTopic,
)
from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    IllegalArgumentError,
    InvalidConfigurationError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NotControllerError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.list_config_resources import ListConfigResourcesRequest
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.support.patience import eventually_equals

TOPIC, BROKER = ConfigResourceType.TOPIC, ConfigResourceType.BROKER
SET, DELETE, APPEND, SUBTRACT = AlterConfigOp


@pytest.fixture
async def admin(any_kafka: str) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        yield admin


@pytest.fixture
async def topic(admin: AIOKafkaAdminClient, topic_name: str) -> str:
    new = NewTopic(topic_name, 1, 1, topic_configs={"retention.ms": "1000"})
    (await admin.create_topics([new])).topics.raise_first()
    return topic_name


async def value(
    admin: AIOKafkaAdminClient, kind: str, name: str, setting: str
) -> tuple[str | None, int] | None:
    """The value of a setting and its source; None while a broker does not know the setting."""
    asked = ConfigResource(kind, name)
    entry = (await admin.get_configs([asked])).succeeded[asked].get(setting)
    return None if entry is None else (entry.value, entry.source)


async def is_kafka_3_9(admin: AIOKafkaAdminClient) -> bool:
    await admin.describe_features()
    return admin.client.network.highest_version(ListConfigResourcesRequest) == 0


def seen_by_confluent(address: str, kind: str, name: str) -> dict[str, Any]:
    witness = AdminClient({"bootstrap.servers": address})
    (future,) = witness.describe_configs([WitnessResource(kind, name)]).values()
    entries: Mapping[str, Any] = future.result(30)
    return {name: entry.value for name, entry in entries.items()}


@pytest.mark.needs_kafka("2.6", "types of settings")
async def test_settings_have_names_types_and_sources(
    admin: AIOKafkaAdminClient, topic: str, any_kafka: str
) -> None:
    asked = ConfigResource(TOPIC, topic)
    found = await admin.get_configs([asked], include_synonyms=True, include_documentation=True)
    entries = found.succeeded[ConfigResource("topic", topic)]
    retention = entries["retention.ms"]
    assert (retention.value, retention.source) == ("1000", ConfigSource.TOPIC_CONFIG)
    assert (retention.type, retention.is_default) == (ConfigType.LONG, False)
    assert not retention.is_sensitive
    assert not retention.is_read_only
    first = retention.synonyms[0]
    assert (first.name, first.value, first.source) == (
        "retention.ms",
        "1000",
        ConfigSource.TOPIC_CONFIG,
    )
    assert retention.documentation
    assert entries["cleanup.policy"].value == "delete"
    assert entries["cleanup.policy"].is_default
    assert entries["cleanup.policy"].type is ConfigType.LIST
    told = {name: entry.value for name, entry in entries.items()}
    assert told == seen_by_confluent(any_kafka, "topic", topic)
    plain = (await admin.get_configs([asked])).succeeded[asked]["retention.ms"]
    assert (plain.synonyms, plain.documentation) == ((), None)


@pytest.mark.needs_kafka("3.3", "setting node.id")
async def test_describe_configs_has_aiokafkas_rows(
    admin: AIOKafkaAdminClient, topic: str, any_kafka: str
) -> None:
    chosen = ConfigResource(TOPIC, topic, ["retention.ms", "nothing"])
    by_dict = ConfigResource(BROKER, "1", {"node.id": None})
    of_broker, of_topic = await admin.describe_configs([chosen, by_dict], include_synonyms=True)
    ((code, text, kind, name, entries),) = of_broker.resources
    assert (code, text, kind, name) == (0, None, 4, "1")
    assert [row[:5] for row in entries] == [("node.id", "1", True, 4, False)]
    assert entries[0].config_synonyms[0] == ("node.id", "1", 4)
    ((code, text, kind, name, entries),) = of_topic.resources
    assert (code, text, kind, name) == (0, None, 2, topic)
    assert [row[:5] for row in entries] == [("retention.ms", "1000", False, 1, False)]
    assert of_topic.to_object()["resources"][0]["config_entries"][0]["config_value"] == "1000"
    (all_of_it,) = await admin.describe_configs([ConfigResource(TOPIC, topic)])
    told = {row[0]: row[1] for row in all_of_it.resources[0].config_entries}
    assert told == seen_by_confluent(any_kafka, "topic", topic)


async def test_single_settings_are_changed(
    admin: AIOKafkaAdminClient, topic: str, any_kafka: str
) -> None:
    async def alter(**changes: Any) -> None:
        named = {name.replace("_", "."): change for name, change in changes.items()}
        asked = ConfigResource(TOPIC, topic, named)
        outcomes = await admin.incremental_alter_configs([asked])
        outcomes.raise_first()
        assert outcomes == {asked: None}

    async def seen() -> list[str]:
        by_name = seen_by_confluent(any_kafka, "topic", topic)
        return [by_name[name] for name in ("retention.ms", "preallocate", "cleanup.policy")]

    await alter(retention_ms=(SET, "5000"), cleanup_policy=(APPEND, "compact"), preallocate=True)
    await eventually_equals(seen, ["5000", "true", "delete,compact"])
    await alter(retention_ms=(DELETE, None), cleanup_policy=(SUBTRACT, ["delete"]))
    await eventually_equals(seen, ["604800000", "true", "compact"])


async def test_alter_configs_replaces_all(
    admin: AIOKafkaAdminClient, topic: str, any_kafka: str
) -> None:
    (answer,) = await admin.alter_configs([ConfigResource(TOPIC, topic, {"segment.ms": 60_000})])
    assert answer.resources == [(0, None, 2, topic)]
    await eventually_equals(lambda: value(admin, "TOPIC", topic, "segment.ms"), ("60000", 1))
    await eventually_equals(lambda: value(admin, "TOPIC", topic, "retention.ms"), ("604800000", 5))
    seen = seen_by_confluent(any_kafka, "topic", topic)
    assert (seen["segment.ms"], seen["retention.ms"]) == ("60000", "604800000")


@pytest.mark.needs_kafka("2.3", "changes of single settings")
async def test_a_bad_resource_among_good_ones(
    admin: AIOKafkaAdminClient, topic: str, topic_name: str
) -> None:
    good = ConfigResource(TOPIC, topic, {"retention.ms": (SET, "7")})
    bad = ConfigResource(TOPIC, f"{topic_name}-2", {"retention.ms": (SET, "7")})
    broker = ConfigResource(BROKER, "99", {"retention.ms": (SET, "7")})
    outcomes = await admin.incremental_alter_configs([bad, broker, good])
    assert list(outcomes) == [bad, broker, good]
    assert isinstance(outcomes[bad], UnknownTopicOrPartitionError)
    assert isinstance(outcomes[broker], BrokerNotAvailableError)
    assert outcomes[good] is None
    await eventually_equals(lambda: value(admin, "TOPIC", topic, "retention.ms"), ("7", 1))
    described = await admin.get_configs([good, bad])
    assert list(described.succeeded) == [good]
    assert isinstance(described[bad], UnknownTopicOrPartitionError)
    (answer,) = await admin.describe_configs([good, bad])
    assert [row.error_code for row in answer.resources] == [0, 3]
    (altered,) = await admin.alter_configs([ConfigResource(TOPIC, topic, {"nothing": "1"})])
    assert altered.resources[0].error_code == 40
    with pytest.raises(InvalidConfigurationError, match="Unknown topic config name: nothing"):
        altered.configs.raise_first()


@pytest.mark.needs_kafka("3.3", "error of its own for a wrong setting")
async def test_validate_only_changes_nothing(admin: AIOKafkaAdminClient, topic: str) -> None:
    good = ConfigResource(TOPIC, topic, {"retention.ms": "7"})
    bad = ConfigResource(TOPIC, topic, {"retention.ms": "soon"})
    assert not (await admin.incremental_alter_configs([good], validate_only=True)).failed
    refused = await admin.incremental_alter_configs([bad], validate_only=True)
    with pytest.raises(InvalidConfigurationError, match="Not a number of type LONG"):
        refused.raise_first()
    await admin.alter_configs([good], validate_only=True)
    assert (await admin.get_configs([good])).succeeded[good]["retention.ms"].value == "1000"


@pytest.mark.needs_kafka("3.7", "settings of client metrics")
async def test_groups_and_client_metrics_have_settings(
    admin: AIOKafkaAdminClient, topic_name: str, any_kafka: str
) -> None:
    newest = "CLIENT_METRICS", "interval.ms", "1000", ConfigSource.CLIENT_METRICS_CONFIG
    group = "GROUP", "consumer.session.timeout.ms", "50000", ConfigSource.GROUP_CONFIG
    for kind, setting, text, source in (newest, group):
        if kind == "GROUP" and await is_kafka_3_9(admin):
            continue
        asked = ConfigResource(kind, topic_name, {setting: (SET, text)})
        (await admin.incremental_alter_configs([asked])).raise_first()
        await eventually_equals(partial(value, admin, kind, topic_name, setting), (text, source))
    metrics = ConfigResource("CLIENT_METRICS", topic_name)

    async def is_listed() -> bool:
        return metrics in await admin.list_config_resources([ConfigResourceType.CLIENT_METRICS])

    await eventually_equals(is_listed, wanted=True)
    gone = ConfigResource("CLIENT_METRICS", topic_name, {"interval.ms": (DELETE, None)})
    (await admin.incremental_alter_configs([gone])).raise_first()
    await eventually_equals(is_listed, wanted=False)


async def test_what_has_settings_is_listed(any_kafka: str, topic_name: str) -> None:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        await admin.create_topics([NewTopic(topic_name, 1, 1)])
        assert await admin.list_config_resources([]) == []
        if await is_kafka_3_9(admin):
            with pytest.raises(UnsupportedVersionError, match=r"needs Kafka 4\.1"):
                await admin.list_config_resources()
            return
        wanted = {ConfigResource(TOPIC, topic_name), ConfigResource(BROKER, "1")}

        async def are_listed() -> bool:
            return wanted <= set(await admin.list_config_resources())

        await eventually_equals(are_listed, True)  # the controller answers before the brokers know
        named = await admin.list_config_resources([ConfigResourceType.BROKER, 2])
        assert {each.resource_type for each in named} == {TOPIC, BROKER}


async def test_a_brokers_settings_come_from_that_broker() -> None:
    async with (
        EmbeddedBroker(nodes=3) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        asked = [ConfigResource(BROKER, str(node_id)) for node_id in (3, 1, 2)]
        found = await admin.get_configs(asked)
        assert [found.succeeded[each]["node.id"].value for each in asked] == ["3", "1", "2"]
        assert [answer.resources[0].resource_name for answer in await admin.describe_configs(asked)]
        all_brokers = ConfigResource(BROKER, "", {"message.max.bytes": (SET, 500)})
        own = ConfigResource(BROKER, "2", {"message.max.bytes": (SET, 700)})
        assert not (await admin.incremental_alter_configs([all_brokers, own])).failed
        found = await admin.get_configs(asked, include_synonyms=True)
        values = [found.succeeded[each]["message.max.bytes"].value for each in asked]
        assert values == ["500", "500", "700"]
        sources = [each.source for each in found.succeeded[asked[2]]["message.max.bytes"].synonyms]
        assert sources == [
            ConfigSource.DYNAMIC_BROKER_CONFIG,
            ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG,
            ConfigSource.DEFAULT_CONFIG,
        ]
        answers = await admin.alter_configs([ConfigResource(BROKER, "2", {})])
        assert [len(answer.resources) for answer in answers] == [0, 1]


async def test_a_broker_that_is_down_is_one_of_the_outcomes() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.stop_node(2)
        up, down = ConfigResource(BROKER, "1"), ConfigResource(BROKER, "2")
        found = await admin.get_configs([up, down], timeout_ms=2_000)
        assert list(found.succeeded) == [up]
        assert isinstance(found[down], BrokerNotAvailableError | KafkaConnectionError)


async def test_a_controller_that_moves_is_followed() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        await admin.create_topics([NewTopic("t", 1, 1)])
        asked = ConfigResource(TOPIC, "t", {"retention.ms": "7"})
        broker.faults.fail(ApiKey.INCREMENTAL_ALTER_CONFIGS, NotControllerError)
        assert not (await admin.incremental_alter_configs([asked])).failed
        broker.faults.fail(ApiKey.ALTER_CONFIGS, NotControllerError)
        (answer,) = await admin.alter_configs([asked])
        assert answer.resources[0].error_code == 0


async def test_a_call_ends_at_its_bound() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        asked = ConfigResource(TOPIC, "t", {"retention.ms": "7"})
        broker.faults.fail(ApiKey.INCREMENTAL_ALTER_CONFIGS, NotControllerError, times=1_000)
        outcomes = await admin.incremental_alter_configs([asked], timeout_ms=300)
        with pytest.raises(KafkaTimeoutError, match=r"incremental_alter_configs\(\): no result"):
            outcomes.raise_first()
        broker.faults.drop(ApiKey.DESCRIBE_CONFIGS)
        with pytest.raises(KafkaTimeoutError):
            (await admin.get_configs([asked], timeout_ms=300)).raise_first()


async def test_a_missing_right_is_the_error_of_its_resource() -> None:
    acls = [
        Acl.allow("reader", "DESCRIBE_CONFIGS", "ALTER_CONFIGS", topic="mine"),
        Acl.allow("reader", "DESCRIBE", topic="*"),
    ]
    async with EmbeddedBroker(
        security="SASL_PLAINTEXT", users={"reader": "secret"}, acls=acls
    ) as broker:
        for name in ("mine", "other"):
            broker.create_topic(name)
        async with AIOKafkaAdminClient(
            bootstrap_servers=broker.bootstrap_servers, **broker.client_options("reader")
        ) as admin:
            change = {"retention.ms": (SET, "7")}
            mine, other = (ConfigResource(TOPIC, name, change) for name in ("mine", "other"))
            node = ConfigResource(BROKER, "1", {"log.retention.ms": (SET, "7")})
            group = ConfigResource("GROUP", "g", {"share.session.timeout.ms": (SET, "50000")})
            asked = [other, node, group, mine]
            refused = [
                TopicAuthorizationFailedError,
                ClusterAuthorizationFailedError,
                GroupAuthorizationFailedError,
                type(None),
            ]
            altered = await admin.incremental_alter_configs(asked)
            assert [type(altered[each]) for each in asked] == refused
            described = await admin.get_configs(asked)
            assert [type(described[each]) for each in asked] == [*refused[:3], dict]
            with pytest.raises(ClusterAuthorizationFailedError):
                await admin.list_config_resources()


async def test_a_resource_is_named_once() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        twice = [ConfigResource(TOPIC, "t", {"a": "1"}), ConfigResource(TOPIC, "t", {"b": "2"})]
        for call in (
            admin.describe_configs,
            admin.get_configs,
            admin.alter_configs,
            admin.incremental_alter_configs,
        ):
            with pytest.raises(IllegalArgumentError, match="topic 't' is named twice"):
                await call(twice)


async def test_an_older_broker_tells_no_types() -> None:
    async with (
        EmbeddedBroker(max_versions={ApiKey.DESCRIBE_CONFIGS: 2}) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        asked = ConfigResource(BROKER, "1")
        found = (await admin.get_configs([asked], include_documentation=True)).succeeded[asked]
        assert (found["node.id"].type, found["node.id"].documentation) == (ConfigType.UNKNOWN, None)
