"""The topic settings that the broker uses, and their checks; all other settings are only stored.

Does not wait. Source: TopicConfig.java, LogConfig.java.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiokafka_lite.errors import InvalidConfigurationError

TIMESTAMP_TYPE = "message.timestamp.type"
MAX_MESSAGE_BYTES = "max.message.bytes"
RETENTION_BYTES = "retention.bytes"
MIN_INSYNC_REPLICAS = "min.insync.replicas"
CREATE_TIME = "CreateTime"
LOG_APPEND_TIME = "LogAppendTime"


@dataclass(frozen=True, slots=True)
class _IntSetting:
    lowest: int

    def __call__(self, name: str, value: str) -> None:
        try:
            number = int(value)
        except ValueError:
            number = self.lowest - 1
        if number < self.lowest:
            raise InvalidConfigurationError(
                f"invalid value {value!r} for {name}: "
                f"it must be a whole number of at least {self.lowest}"
            )


def _timestamp_type(name: str, value: str) -> None:
    if value not in (CREATE_TIME, LOG_APPEND_TIME):
        raise InvalidConfigurationError(
            f"invalid value {value!r} for {name}: it must be {CREATE_TIME} or {LOG_APPEND_TIME}"
        )


_CHECKS: dict[str, Callable[[str, str], None]] = {
    TIMESTAMP_TYPE: _timestamp_type,
    MAX_MESSAGE_BYTES: _IntSetting(0),
    RETENTION_BYTES: _IntSetting(-1),
    MIN_INSYNC_REPLICAS: _IntSetting(1),
}


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """A topic's settings: those the broker uses, as numbers, and all of them as given."""

    log_append_time: bool
    max_message_bytes: int
    retention_bytes: int
    """The smaller of the topic's setting and the broker's own limit."""
    min_insync_replicas: int
    settings: Mapping[str, str]


def parse_topic_config(
    settings: Mapping[str, str], *, max_message_bytes: int, log_retention_bytes: int
) -> TopicConfig:
    """Return the settings of a topic; the two arguments are the broker's own values.

    Raises: InvalidConfigurationError for a value out of its range.
    """
    for name, check in _CHECKS.items():
        if name in settings:
            check(name, settings[name])
    retention_bytes = int(settings.get(RETENTION_BYTES, -1))
    if not 0 <= retention_bytes < log_retention_bytes:
        retention_bytes = log_retention_bytes
    return TopicConfig(
        log_append_time=settings.get(TIMESTAMP_TYPE) == LOG_APPEND_TIME,
        max_message_bytes=int(settings.get(MAX_MESSAGE_BYTES, max_message_bytes)),
        retention_bytes=retention_bytes,
        min_insync_replicas=int(settings.get(MIN_INSYNC_REPLICAS, 1)),
        settings=dict(settings),
    )


__all__ = ["TopicConfig", "parse_topic_config"]
