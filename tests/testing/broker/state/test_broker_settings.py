"""Settings of brokers: where a value is looked for, and what may be altered."""

import pytest

from aiokafka_lite.errors import InvalidConfigurationError, InvalidRequestError
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.broker_settings import (
    ALL_BROKERS,
    BrokerSettings,
    default_of,
    is_list,
)


def test_the_places_of_a_value_in_their_order() -> None:
    settings = BrokerSettings(BrokerOptions(max_message_bytes=900))
    settings.altered = {ALL_BROKERS: {"message.max.bytes": "800"}, "1": {"message.max.bytes": "7"}}
    places = settings.places("message.max.bytes", {}, "1")
    assert [(each.value, each.source) for each in places] == [
        ("7", 2),
        ("800", 3),
        ("900", 4),
        ("1048588", 5),
    ]
    assert settings.places("message.max.bytes", {}, "2")[0].value == "800"
    assert settings.of_all("message.max.bytes") == 800
    assert settings.of_all("log.cleanup.policy") == ["delete"]
    assert settings.topic_defaults() == {"max.message.bytes": 800}
    (altered,) = settings.describe_all()
    assert (altered.name, altered.value, len(altered.places)) == ("message.max.bytes", "800", 1)


def test_options_are_read_only_and_defaults_of_topics_are_not() -> None:
    own = {"node.id": "1"}
    found = {each.name: each for each in BrokerSettings(BrokerOptions()).describe(own, "1")}
    assert (found["node.id"].value, found["node.id"].is_read_only) == ("1", True)
    assert (found["num.partitions"].value, found["num.partitions"].is_read_only) == ("1", True)
    assert not found["log.retention.ms"].is_read_only
    assert found["log.retention.ms"].value is None
    assert found["log.retention.ms"].places == ()


def test_hours_are_looked_at_after_milliseconds() -> None:
    settings = BrokerSettings(BrokerOptions())
    settings.altered = {ALL_BROKERS: {"log.retention.ms": "7"}}
    places = settings.places("log.retention.ms", {}, "1")
    assert [(each.name, each.value) for each in places] == [
        ("log.retention.ms", "7"),
        ("log.retention.hours", "168"),
    ]


def test_what_may_be_altered() -> None:
    settings = BrokerSettings(BrokerOptions(log_dirs=("/a", "/b")))

    def check(broker: str, **given: str) -> None:
        named = {name.replace("_", "."): value for name, value in given.items()}
        named["min.insync.replicas"] = "1"
        settings.check(named, named, {"node.id": "1"}, broker)

    check("1", log_retention_ms="7", nothing="x", cordoned_log_dirs="/b", num_io_threads="16")
    check("", num_io_threads="4", log_cleaner_threads="2")
    for broker, given, fault in (
        ("1", {"num_partitions": "2", "node_id": "1"}, r"dynamically: \[node.id, num.partitions\]"),
        ("1", {"log_retention_ms": "0"}, r"log.retention.ms must be unlimited \(-1\) or, greater"),
        ("1", {"log_retention_bytes": "x"}, "Not a number of type LONG"),
        ("1", {"num_io_threads": "17"}, "greater than double the current value 8"),
        ("", {"num_io_threads": "3"}, "at least half the current value 8"),
        ("1", {"num_io_threads": "0"}, "at least 1"),
        ("1", {"log_cleaner_threads": "3"}, "Log cleaner threads .* double the current value 1"),
        ("1", {"cordoned_log_dirs": "/c"}, "Missing entries : /c"),
        ("", {"cordoned_log_dirs": "/b"}, r"broker id must be specified: \[cordoned.log.dirs\]"),
    ):
        with pytest.raises(InvalidRequestError, match=fault):
            check(broker, **given)


def test_all_brokers_keep_their_least_number_of_replicas_in_sync() -> None:
    """Kafka 4 does not take it back while eligible leader replicas (KIP-966) are on."""
    settings = BrokerSettings(BrokerOptions())
    settings.check({}, [], {"node.id": "1"}, "1")
    with pytest.raises(InvalidConfigurationError, match="cannot be removed"):
        settings.check({"log.retention.ms": "7"}, ["log.retention.ms"], {"node.id": "1"}, "")


def test_what_kafka_does_not_know_is_hidden() -> None:
    settings = BrokerSettings(BrokerOptions())
    for broker, source in (("", 3), ("1", 2)):
        settings.altered[broker] = {"nothing": "x"}
        (found,) = [each for each in settings.describe({}, "1") if each.name == "nothing"]
        assert (found.value, found.source, found.places[0].value) == (None, source, None)
        assert found.is_sensitive
        assert found.is_read_only


def test_cordoned_directories() -> None:
    settings = BrokerSettings(BrokerOptions())
    assert settings.cordoned(1) == set()
    settings.altered = {"1": {"cordoned.log.dirs": "/a,/b"}}
    assert (settings.cordoned(1), settings.cordoned(2)) == ({"/a", "/b"}, set())


def test_lists_of_brokers() -> None:
    assert (is_list("log.cleanup.policy"), default_of("log.cleanup.policy")) == (True, "delete")
    assert (is_list("num.partitions"), default_of("num.partitions")) == (False, None)
