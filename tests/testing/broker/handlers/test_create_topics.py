"""CreateTopics: topics one by one, and why one is refused."""

import pytest

from aiokafka_lite.errors import (
    InvalidConfigurationError,
    InvalidPartitionsError,
    InvalidReplicationFactorError,
    InvalidRequestError,
    NotControllerError,
    TopicAlreadyExistsError,
)
from aiokafka_lite.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from aiokafka_lite.testing.broker.handlers import create_topics
from tests.testing.broker.bench import Bench


def topic(name: str = "t", partitions: int = 1, replicas: int = 1) -> CreatableTopic:
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)


def ask(
    bench: Bench, *topics: CreatableTopic, version: int = 7, validate_only: bool = False
) -> list[CreatableTopicResult]:
    request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
    return bench.ask(create_topics.HANDLER, request, version).topics


@pytest.mark.parametrize("version", range(2, 8))
def test_every_version_creates(version: int) -> None:
    bench = Bench()
    (result,) = ask(bench, topic(partitions=3), version=version)
    created = bench.cluster.topics["t"]
    assert (result.error_code, len(created.partitions)) == (0, 3)
    assert result.num_partitions == (3 if version >= 5 else -1)
    if version >= 7:
        assert result.topic_id == created.topic_id


def test_defaults_are_the_brokers() -> None:
    """The broker's defaults replace partitions and replicas of -1 (KIP-464), in each version."""
    bench = Bench(2, num_partitions=4)
    (result,) = ask(bench, topic(partitions=-1, replicas=-1))
    assert (result.num_partitions, result.replication_factor) == (4, 2)
    assert ask(bench, topic("u", partitions=-1), version=3)[0].error_code == 0
    assert len(bench.cluster.topics["u"].partitions) == 4


def test_configs_are_kept_and_told() -> None:
    bench = Bench()
    asked = topic()
    asked.configs = [
        CreatableTopicConfig(name="message.timestamp.type", value="LogAppendTime"),
    ]
    (result,) = ask(bench, asked)
    told = {config.name: (config.value, config.config_source) for config in result.configs or []}
    assert told["message.timestamp.type"] == ("LogAppendTime", 1)
    assert told["retention.ms"] == ("604800000", 5)
    assert bench.cluster.topics["t"].config.log_append_time


def test_assignments_decide_and_exclude_counts() -> None:
    bench = Bench(3)
    asked = topic(partitions=-1, replicas=-1)
    asked.assignments = [
        CreatableReplicaAssignment(partition_index=1, broker_ids=[2, 1]),
        CreatableReplicaAssignment(partition_index=0, broker_ids=[3, 1]),
    ]
    assert ask(bench, asked)[0].error_code == 0
    assert [p.leader for p in bench.cluster.topics["t"].partitions] == [3, 2]
    asked.num_partitions = 2
    assert ask(bench, asked)[0].error_code == InvalidRequestError.errno


def test_validate_only_creates_nothing() -> None:
    bench = Bench()
    assert ask(bench, topic(), validate_only=True)[0].error_code == 0
    assert bench.cluster.topics == {}


def test_each_topic_fails_by_itself() -> None:
    bench = Bench()
    bench.topic("old")
    bad_config = topic("bad")
    bad_config.configs = [CreatableTopicConfig(name="retention.bytes", value="x")]
    results = ask(
        bench,
        topic("old"),
        topic("none", partitions=0),
        topic("wide", replicas=2),
        bad_config,
        topic("twice"),
        topic("twice"),
        topic("good"),
    )
    assert [result.error_code for result in results] == [
        TopicAlreadyExistsError.errno,
        InvalidPartitionsError.errno,
        InvalidReplicationFactorError.errno,
        InvalidConfigurationError.errno,
        InvalidRequestError.errno,
        0,
    ]
    assert "'old' exists already" in (results[0].error_message or "")
    assert sorted(bench.cluster.topics) == ["good", "old"]


def test_a_setting_without_a_value_is_refused() -> None:
    """As Apache 4.4.0 does, also for a name that is no setting."""
    bench = Bench()
    without = topic("t")
    without.configs = [
        CreatableTopicConfig(name=name, value=None) for name in ("retention.ms", "none")
    ]
    (result,) = ask(bench, without)
    assert (result.error_code, result.error_message) == (
        InvalidConfigurationError.errno,
        "Null value not supported for topic configs: retention.ms,none",
    )
    assert bench.cluster.topics == {}


def test_an_injected_error_is_answered_and_creates_nothing() -> None:
    bench = Bench()
    bench.faults.fail(CreateTopicsRequest, NotControllerError)
    assert ask(bench, topic())[0].error_code == NotControllerError.errno
    assert bench.cluster.topics == {}
