"""Each kind of resource knows its settings, and which errors a wrong name has."""

import pytest

from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidConfigurationError,
    InvalidRequestError,
    InvalidTopicError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.testing.broker.state.config_resources import (
    BROKER,
    BROKER_LOGGER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    SettingsOwner,
    own_values,
    resource_of,
)
from tests.testing.broker.bench import Bench


def resource(bench: Bench, kind: int, name: str) -> SettingsOwner:
    return resource_of(bench.cluster, bench.cluster.nodes[1], kind, name, is_altered=True)


def value(owner: SettingsOwner, name: str) -> tuple[str | None, int]:
    (found,) = [each for each in owner.describe() if each.name == name]
    return found.value, found.source


def test_settings_of_all_brokers_are_the_defaults_of_topics() -> None:
    bench = Bench(2)
    topic = bench.topic(segment_ms="5")
    assert value(resource(bench, TOPIC, "t"), "retention.ms") == ("604800000", 5)
    resource(bench, BROKER, "").store({"message.max.bytes": "100", "log.retention.ms": "7"})
    assert value(resource(bench, TOPIC, "t"), "retention.ms") == ("7", 3)
    assert value(resource(bench, TOPIC, "t"), "max.message.bytes") == ("100", 3)
    assert topic.partitions[0].config.max_message_bytes == 100
    resource(bench, TOPIC, "t").store({"max.message.bytes": "200"})
    assert topic.partitions[0].config.max_message_bytes == 200
    resource(bench, BROKER, "1").store({"log.retention.ms": "9"})
    assert value(resource(bench, TOPIC, "t"), "retention.ms") == ("9", 2)
    resource(bench, BROKER, "").store({})
    resource(bench, TOPIC, "t").store({})
    assert topic.partitions[0].config.max_message_bytes == 1_048_588
    assert bench.cluster.broker_settings.altered.keys() == {"1"}


NO_TOPIC_MAY_HAVE = {
    "log.retention.ms": "-5",
    "log.cleaner.min.compaction.lag.ms": "10",
    "log.cleaner.max.compaction.lag.ms": "5",
}


def test_defaults_that_no_topic_may_have_stop_no_topic() -> None:
    """Kafka 4.4 checks them with the settings that a topic has of its own, and reads every negative
    age as unlimited."""
    bench = Bench()
    before = bench.topic("before", max_compaction_lag_ms="7")
    resource(bench, BROKER, "").store(NO_TOPIC_MAY_HAVE)
    after = bench.topic("after")
    for topic in (before, after):
        assert value(resource(bench, TOPIC, topic.name), "retention.ms") == ("-1", 3)
        assert (topic.config.retention_ms, topic.config.min_compaction_lag_ms) == (-1, 10)
    (told,) = [
        each for each in resource(bench, TOPIC, "after").describe() if each.name == "retention.ms"
    ]
    assert [each.value for each in told.places] == ["-5", "168"]
    lags = r"min.compaction.lag.ms \(10\) > max.compaction.lag.ms \(5\)"
    with pytest.raises(InvalidConfigurationError, match=lags):
        resource(bench, TOPIC, "after").check({"segment.ms": "6"}, ["segment.ms"])
    with pytest.raises(InvalidConfigurationError, match=lags):
        bench.topic("later", segment_ms="6")
    resource(bench, TOPIC, "after").check({"min.compaction.lag.ms": "3"}, [])


@pytest.mark.parametrize(
    ("kind", "name", "changed", "source"),
    [
        (GROUP, "consumer.session.timeout.ms", "50000", 8),
        (CLIENT_METRICS, "interval.ms", "1000", 7),
    ],
)
def test_what_is_only_stored(kind: int, name: str, changed: str, source: int) -> None:
    owner = resource(Bench(), kind, "x")
    before = value(owner, name)
    owner.check({name: changed}, [name])
    owner.store({name: changed})
    assert value(owner, name) == (changed, source)
    owner.store({})
    assert (value(owner, name), dict(owner.current())) == (before, {})


def test_lists_have_defaults() -> None:
    bench = Bench()
    bench.topic()
    defaults = [
        resource(bench, TOPIC, "t").list_default("cleanup.policy", "APPEND"),
        resource(bench, TOPIC, "t").list_default("retention.ms", "APPEND"),
        resource(bench, BROKER, "").list_default("log.cleanup.policy", "APPEND"),
        resource(bench, GROUP, "g").list_default("streams.rack.aware.assignment.tags", "APPEND"),
        resource(bench, CLIENT_METRICS, "m").list_default("metrics", "APPEND"),
    ]
    assert defaults == ["delete", None, "delete", "", None]


def test_a_node_has_values_of_its_own() -> None:
    assert own_values(Bench().cluster.nodes[1]) == {
        "node.id": "1",
        "broker.id": "1",
        "broker.rack": "r1",
    }


@pytest.mark.parametrize(
    ("kind", "name", "error"),
    [
        (TOPIC, "nothing", UnknownTopicOrPartitionError),
        (TOPIC, "bad name!", InvalidTopicError),
        (TOPIC, "", InvalidRequestError),
        (BROKER, "2", InvalidRequestError),
        (BROKER, "one", InvalidRequestError),
        (BROKER_LOGGER, "2", InvalidRequestError),
        (BROKER_LOGGER, "one", InvalidRequestError),
        (BROKER_LOGGER, "", InvalidRequestError),
        (GROUP, "", InvalidRequestError),
        (CLIENT_METRICS, "", InvalidRequestError),
        (99, "x", InvalidRequestError),
    ],
)
def test_wrong_names(kind: int, name: str, error: type[BrokerResponseError]) -> None:
    with pytest.raises(error):
        resource(Bench(), kind, name)
