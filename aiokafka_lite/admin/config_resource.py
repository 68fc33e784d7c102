"""What has a configuration: ConfigResource, at the address where aiokafka's users import it.

Does not wait.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, TypeAlias

from aiokafka_lite.checks.quoted import quoted


class ConfigResourceType(IntEnum):
    """Kinds of things with a configuration, by Kafka's numbers."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class AlterConfigOp(IntEnum):
    """What `incremental_alter_configs` does to one entry (KIP-339)."""

    SET = 0
    DELETE = 1
    """Back to the default; the value is ignored."""
    APPEND = 2
    """Add to a list, without those that it has."""
    SUBTRACT = 3
    """Take from a list."""


ResourceConfigs: TypeAlias = Mapping[str, Any] | Sequence[str] | None
"""Names to describe; or {name: value}, or {name: (AlterConfigOp, value)}, to alter."""


class ConfigResource:
    """One thing with a configuration, such as a topic or a broker, by its name.

    `resource_type` is a ConfigResourceType, its number or its name. `name` of a broker is its id,
    as an int or as text; "" stands for the default of all brokers. `configs` None means all
    entries.

    Two resources are equal if they have the same type and name, as in Java. So a dict of results
    finds the result of a resource.

    Raises: ValueError or KeyError for a type that Kafka does not have.
    """

    def __init__(
        self,
        resource_type: ConfigResourceType | int | str,
        name: str | int,
        configs: ResourceConfigs = None,
    ) -> None:
        if isinstance(resource_type, str):
            resource_type = ConfigResourceType[resource_type.upper()]
        self.resource_type = ConfigResourceType(resource_type)
        self.name = str(name)
        self.configs = configs

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConfigResource):
            return NotImplemented
        return (self.resource_type, self.name) == (other.resource_type, other.name)

    def __hash__(self) -> int:
        return hash((self.resource_type, self.name))

    def __repr__(self) -> str:
        return (
            f"ConfigResource({self.resource_type.name}, {quoted(self.name)}, "
            f"{quoted(self.configs)})"
        )


__all__ = ["AlterConfigOp", "ConfigResource", "ConfigResourceType", "ResourceConfigs"]
