"""Numbers of a response become names; those of a newer Kafka are UNKNOWN."""

from aiokafka_lite.admin.configs.config_entry import (
    ConfigSource,
    ConfigSynonym,
    ConfigType,
    config_entry,
)
from aiokafka_lite.protocol.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsSynonym,
)


def test_an_entry_has_names_for_numbers() -> None:
    entry = config_entry(
        DescribeConfigsResourceResult(
            name="a",
            value=None,
            read_only=True,
            config_source=5,
            is_sensitive=True,
            config_type=9,
            documentation="What it does.",
            synonyms=[DescribeConfigsSynonym(name="b", value="1", source=4)],
        )
    )
    assert (entry.name, entry.value, entry.type) == ("a", None, ConfigType.PASSWORD)
    assert (entry.is_read_only, entry.is_sensitive, entry.is_default) == (True, True, True)
    assert entry.synonyms == (ConfigSynonym("b", "1", ConfigSource.STATIC_BROKER_CONFIG),)
    assert entry.documentation == "What it does."


def test_numbers_of_a_newer_kafka_are_unknown() -> None:
    told = DescribeConfigsResourceResult(
        name="a", value="1", config_source=99, config_type=99, documentation=None
    )
    entry = config_entry(told)
    assert (entry.source, entry.type) == (ConfigSource.UNKNOWN, ConfigType.UNKNOWN)
    assert not entry.is_default
