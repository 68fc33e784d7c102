"""The loggers of each node and their levels. Nothing is logged by them. Does not wait.

Source: LoggingController, ConfigAdminManager.validateLogLevelConfigs.
"""

from collections.abc import Collection, Mapping
from typing import Final

from aiokafka_lite.errors import InvalidConfigurationError, InvalidRequestError

ROOT: Final = "root"
LOGGERS: Final = (ROOT, "kafka", "org.apache.kafka")
"""The loggers that Kafka's own log4j2.yaml begins with."""
_LEVELS: Final = ("DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN")
_FIRST: Final = "INFO"


class BrokerLoggers:
    """The levels that were set, by node."""

    def __init__(self) -> None:
        self._levels: dict[int, dict[str, str]] = {}

    def set_on(self, node_id: int) -> Mapping[str, str]:
        """Return the loggers of a node with a level of their own."""
        return self._levels.get(node_id, {ROOT: _FIRST})

    def levels(self, node_id: int) -> dict[str, str]:
        """Return the level of each logger of a node: its own, or that of the root."""
        own = self.set_on(node_id)
        return {name: own.get(name, own[ROOT]) for name in LOGGERS}

    def store(self, node_id: int, levels: Mapping[str, str]) -> None:
        """Give loggers of a node their levels; one that is not named follows the root."""
        self._levels[node_id] = dict(levels)


def check_levels(given: Mapping[str, str], changed: Collection[str]) -> None:
    """Check what a request makes of levels; `changed` are the loggers that it names.

    Raises: InvalidConfigurationError for an unknown logger or level; InvalidRequestError if the
    root has none.
    """
    for name in changed:
        if name not in LOGGERS:
            raise InvalidConfigurationError(f"Logger {name} does not exist!")
        if name not in given:
            if name == ROOT:
                raise InvalidRequestError(
                    "Removing the log level of the root logger is not allowed"
                )
        elif given[name] not in _LEVELS:
            raise InvalidConfigurationError(
                f"Cannot set the log level of {name} to {given[name]} as it is not a supported "
                f"log level. Valid log levels are {', '.join(_LEVELS)}"
            )


__all__ = ["LOGGERS", "ROOT", "BrokerLoggers", "check_levels"]
