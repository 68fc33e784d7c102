"""The settings of a group, as Kafka 4.4 declares them. They are stored and described.

Does not wait. Source: GroupConfig.java.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from aiokafka_lite.errors import InvalidConfigurationError
from aiokafka_lite.testing.broker.state.settings.setting import (
    Setting,
    SettingType,
    at_least,
    by_name,
    one_of,
    parse_all,
    refuse,
)

DEAD_LETTERS: Final = "errors.deadletterqueue.topic.name"
COPY_DEAD_LETTERS: Final = "errors.deadletterqueue.copy.record.enable"
_DURATION = re.compile(r"by_duration:P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?")


def _share_reset(name: str, value: str) -> None:
    if value not in ("latest", "earliest") and not _DURATION.fullmatch(value):
        refuse(
            name,
            value,
            f"Invalid value `{value}` for configuration {name}. The value must be either "
            "'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.",
        )


GROUP_SETTINGS: Final[Mapping[str, Setting]] = by_name(
    Setting(
        "consumer.session.timeout.ms",
        SettingType.INT,
        "45000",
        at_least(1),
        "Milliseconds without a heartbeat after which a consumer is gone.",
        "group.consumer.session.timeout.ms",
    ),
    Setting(
        "consumer.heartbeat.interval.ms",
        SettingType.INT,
        "5000",
        at_least(1),
        "Milliseconds between two heartbeats of a consumer.",
        "group.consumer.heartbeat.interval.ms",
    ),
    Setting(
        "consumer.assignment.interval.ms",
        SettingType.INT,
        "1000",
        at_least(0),
        "Milliseconds between two assignments of a consumer group.",
        "group.consumer.assignment.interval.ms",
    ),
    Setting(
        "share.session.timeout.ms",
        SettingType.INT,
        "45000",
        at_least(1),
        "Milliseconds without a heartbeat after which a share consumer is gone.",
        "group.share.session.timeout.ms",
    ),
    Setting(
        "share.heartbeat.interval.ms",
        SettingType.INT,
        "5000",
        at_least(1),
        "Milliseconds between two heartbeats of a share consumer.",
        "group.share.heartbeat.interval.ms",
    ),
    Setting(
        "share.record.lock.duration.ms",
        SettingType.INT,
        "30000",
        at_least(1000),
        "Milliseconds that a record is locked for a share consumer.",
        "group.share.record.lock.duration.ms",
    ),
    Setting(
        "share.delivery.count.limit",
        SettingType.INT,
        "5",
        at_least(2),
        "How often a record is delivered to a share group.",
        "group.share.delivery.count.limit",
    ),
    Setting(
        "share.partition.max.record.locks",
        SettingType.INT,
        "2000",
        at_least(100),
        "Records of a partition that are locked for a share group.",
        "group.share.partition.max.record.locks",
    ),
    Setting(
        "share.auto.offset.reset",
        SettingType.STRING,
        "latest",
        _share_reset,
        "Where a share group begins to read.",
        "share.auto.offset.reset",
    ),
    Setting(
        "share.isolation.level",
        SettingType.STRING,
        "read_uncommitted",
        one_of("read_committed", "read_uncommitted"),
        "Whether a share group reads records of open transactions.",
        "share.isolation.level",
    ),
    Setting(
        "share.renew.acknowledge.enable",
        SettingType.BOOLEAN,
        "true",
        None,
        "Whether a share consumer may renew its lock.",
        "share.renew.acknowledge.enable",
    ),
    Setting(
        "share.assignment.interval.ms",
        SettingType.INT,
        "1000",
        at_least(0),
        "Milliseconds between two assignments of a share group.",
        "group.share.assignment.interval.ms",
    ),
    Setting(
        "streams.session.timeout.ms",
        SettingType.INT,
        "45000",
        at_least(1),
        "Milliseconds without a heartbeat after which a streams client is gone.",
        "group.streams.session.timeout.ms",
    ),
    Setting(
        "streams.heartbeat.interval.ms",
        SettingType.INT,
        "5000",
        at_least(1),
        "Milliseconds between two heartbeats of a streams client.",
        "group.streams.heartbeat.interval.ms",
    ),
    Setting(
        "streams.num.standby.replicas",
        SettingType.INT,
        "0",
        at_least(0),
        "Standby replicas of each task.",
        "group.streams.num.standby.replicas",
    ),
    Setting(
        "streams.initial.rebalance.delay.ms",
        SettingType.INT,
        "3000",
        at_least(0),
        "Milliseconds that a new streams group waits for more members.",
        "group.streams.initial.rebalance.delay.ms",
    ),
    Setting(
        "streams.assignment.interval.ms",
        SettingType.INT,
        "1000",
        at_least(0),
        "Milliseconds between two assignments of a streams group.",
        "group.streams.assignment.interval.ms",
    ),
    Setting(
        "streams.rack.aware.assignment.tags",
        SettingType.LIST,
        "",
        None,
        "Tags of clients over which standby replicas are spread.",
        "group.streams.rack.aware.assignment.tags",
    ),
    Setting(
        "streams.assignor.name",
        SettingType.STRING,
        "sticky",
        None,
        "The assignor of tasks.",
        "group.streams.assignors",
    ),
    Setting(
        DEAD_LETTERS,
        SettingType.STRING,
        "",
        None,
        "The topic for records that a share group cannot deliver.",
        "errors.deadletterqueue.topic.name",
    ),
    Setting(
        COPY_DEAD_LETTERS,
        SettingType.BOOLEAN,
        "false",
        None,
        "Whether that topic gets the whole record.",
        "errors.deadletterqueue.copy.record.enable",
    ),
    *(
        Setting(
            f"{kind}.assignor.offload.enable",
            SettingType.BOOLEAN,
            "true",
            None,
            "Whether assignments are made in another thread.",
            f"group.{kind}.assignor.offload.enable",
            is_internal=True,
        )
        for kind in ("consumer", "share", "streams")
    ),
    Setting(
        "streams.num.warmup.replicas",
        SettingType.INT,
        "2",
        at_least(0),
        "Most tasks of a streams group that restore a state.",
        "group.streams.num.warmup.replicas",
        is_internal=True,
    ),
    Setting(
        "streams.acceptable.recovery.lag",
        SettingType.LONG,
        "10000",
        at_least(0),
        "How many offsets a client may be behind that gets an active task.",
        "group.streams.acceptable.recovery.lag",
        is_internal=True,
    ),
    Setting(
        "streams.task.offset.interval.ms",
        SettingType.INT,
        "60000",
        at_least(1),
        "Milliseconds between two reports of the offsets of tasks.",
        "group.streams.task.offset.interval.ms",
        is_internal=True,
    ),
)
_HEARTBEAT, _SESSION, _ASSIGNMENT = (5_000, 15_000), (45_000, 60_000), (0, 15_000)
_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    **{f"{kind}.heartbeat.interval.ms": _HEARTBEAT for kind in ("consumer", "share", "streams")},
    **{f"{kind}.session.timeout.ms": _SESSION for kind in ("consumer", "share", "streams")},
    **{f"{kind}.assignment.interval.ms": _ASSIGNMENT for kind in ("consumer", "share", "streams")},
    "share.record.lock.duration.ms": (15_000, 60_000),
    "share.delivery.count.limit": (2, 10),
    "share.partition.max.record.locks": (100, 4_000),
}
"""What a broker allows by its defaults, such as group.consumer.min.session.timeout.ms."""
_MOST_STANDBYS: Final = 2


def group_values(given: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of a group's settings. Raises: InvalidConfigurationError."""
    return parse_all(GROUP_SETTINGS, given, "group")


def check_group_settings(given: Mapping[str, str]) -> None:
    """Check the settings of a group. Raises: InvalidConfigurationError.

    Source: GroupConfig.validate.
    """
    values = group_values(given)
    for name, (lowest, highest) in _RANGES.items():
        if name in values and not lowest <= values[name] <= highest:
            raise InvalidConfigurationError(
                f"{name} must be in the range {lowest} to {highest} inclusive."
            )
    assignor = values.get("streams.assignor.name", "sticky")
    if assignor != "sticky":
        raise InvalidConfigurationError(
            f"streams.assignor.name '{assignor}' is not a registered task assignor. Registered "
            "assignors are: [sticky]."
        )
    if values.get(DEAD_LETTERS, "").startswith("__"):
        raise InvalidConfigurationError(f"{DEAD_LETTERS}: DLQ topic name must not start with '__'")
    standbys = "streams.num.standby.replicas"
    if values.get(standbys, 0) > _MOST_STANDBYS:
        raise InvalidConfigurationError(
            f"{standbys} must be less than or equal to {_MOST_STANDBYS}"
        )


__all__ = [
    "COPY_DEAD_LETTERS",
    "DEAD_LETTERS",
    "GROUP_SETTINGS",
    "check_group_settings",
    "group_values",
]
