"""One setting as `get_configs` returns it, with names in place of Kafka's numbers.

Does not wait. Source: KIP-226, KIP-569, DescribeConfigsResponse.ConfigSource and ConfigType.
"""

from __future__ import annotations

from enum import IntEnum

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.protocol.messages.describe_configs import DescribeConfigsResourceResult


class ConfigSource(IntEnum):
    """Where the value of a setting comes from."""

    UNKNOWN = 0
    TOPIC_CONFIG = 1
    """Altered for the topic."""
    DYNAMIC_BROKER_CONFIG = 2
    """Altered for the broker."""
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    """Altered for all brokers."""
    STATIC_BROKER_CONFIG = 4
    """The broker's file of properties."""
    DEFAULT_CONFIG = 5
    """Kafka's own default."""
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    """The level of a logger."""
    CLIENT_METRICS_CONFIG = 7
    """Altered for the subscription of client metrics."""
    GROUP_CONFIG = 8
    """Altered for the group."""

    @classmethod
    def _missing_(cls, value: object) -> ConfigSource:  # noqa: ARG003
        return cls.UNKNOWN


class ConfigType(IntEnum):
    """The type of a setting."""

    UNKNOWN = 0
    """The broker does not tell it, as all before 2.6."""
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9

    @classmethod
    def _missing_(cls, value: object) -> ConfigType:  # noqa: ARG003
        return cls.UNKNOWN


@dataclass(frozen=True, slots=True)
class ConfigSynonym:
    """A place that gives a value to a setting; the first one counts."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One setting of a topic, a broker, a group or a subscription of client metrics."""

    name: str
    value: str | None
    """None for a secret, and for a setting without a value."""
    source: ConfigSource
    is_sensitive: bool
    is_read_only: bool
    """Whether it cannot be altered while the broker runs."""
    type: ConfigType
    synonyms: tuple[ConfigSynonym, ...] = ()
    """Only with `include_synonyms`."""
    documentation: str | None = None
    """Only with `include_documentation`."""

    @property
    def is_default(self) -> bool:
        """Whether nobody has set it: the value is Kafka's own default."""
        return self.source is ConfigSource.DEFAULT_CONFIG


def config_entry(told: DescribeConfigsResourceResult) -> ConfigEntry:
    """Return the entry for a part of a DescribeConfigs response."""
    return ConfigEntry(
        name=told.name,
        value=told.value,
        source=ConfigSource(told.config_source),
        is_sensitive=told.is_sensitive,
        is_read_only=told.read_only,
        type=ConfigType(told.config_type),
        synonyms=tuple(
            ConfigSynonym(each.name, each.value, ConfigSource(each.source))
            for each in told.synonyms
        ),
        documentation=told.documentation or None,
    )


__all__ = ["ConfigEntry", "ConfigSource", "ConfigSynonym", "ConfigType", "config_entry"]
