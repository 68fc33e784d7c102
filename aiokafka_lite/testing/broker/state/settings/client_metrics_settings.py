"""The settings of a subscription of client metrics. They are stored and described (KIP-714).

Does not wait. Source: ClientMetricsConfigs.java.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from aiokafka_lite.errors import InvalidConfigurationError, InvalidRequestError
from aiokafka_lite.testing.broker.state.settings.setting import Setting, SettingType, by_name

CLIENT_METRICS_SETTINGS: Final[Mapping[str, Setting]] = by_name(
    Setting("interval.ms", SettingType.INT, "300000", None, "Milliseconds between two reports."),
    Setting("match", SettingType.LIST, "", None, "The clients that report."),
    Setting("metrics", SettingType.LIST, "", None, "The metrics by the start of their names."),
)
_INTERVAL: Final = range(100, 3_600_001)
_MATCHED: Final = {
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
}


def check_client_metrics_settings(given: Mapping[str, str]) -> None:
    """Check the settings of a subscription.

    Raises: InvalidRequestError for an unknown name or a bad interval; InvalidConfigurationError for
    another bad value. Source: ClientMetricsConfigs.validate.
    """
    for name in given:
        if name not in CLIENT_METRICS_SETTINGS:
            raise InvalidRequestError(f"Unknown client metrics configuration: {name}")
    values = {name: CLIENT_METRICS_SETTINGS[name].parse(text) for name, text in given.items()}
    interval = values.get("interval.ms", _INTERVAL.start)
    if interval not in _INTERVAL:
        raise InvalidRequestError(
            f"Invalid value {interval} for interval.ms, interval must be between "
            f"{_INTERVAL.start} and {_INTERVAL.stop - 1} (1 hour)"
        )
    for pattern in values.get("match", []):
        name, _, expression = pattern.partition("=")
        if name.strip() not in _MATCHED or not _is_pattern(expression.strip()):
            raise InvalidConfigurationError(f"Illegal client matching pattern: {pattern}")


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return bool(text)


__all__ = ["CLIENT_METRICS_SETTINGS", "check_client_metrics_settings"]
