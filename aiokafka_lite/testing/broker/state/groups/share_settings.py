"""The settings of a share group that decide what its members read: those of the group, else those
of the brokers. Plain values. Source: GroupConfig, ShareGroupConfig; KIP-932, KIP-1222.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.settings.group_settings import group_values

_DURATION = re.compile(r"by_duration:P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?")
_SECONDS = (86_400, 3_600, 60, 1)


@dataclass(frozen=True, slots=True)
class ShareSettings:
    """What is in force at one moment."""

    lock_duration_ms: int
    """How long a record stays acquired."""
    delivery_count_limit: int
    """How often a record is delivered before it is archived."""
    max_record_locks: int
    """Records of a partition that may be in flight."""
    reads_committed: bool
    may_renew: bool
    reset: str
    """Where the group begins to read: latest, earliest, or by_duration:…"""

    def reset_age_s(self) -> float:
        """Return the age of the first record to read, for a reset by duration."""
        found = _DURATION.fullmatch(self.reset)
        parts = found.groups() if found is not None else ()
        return sum(
            float(part) * seconds for part, seconds in zip(parts, _SECONDS, strict=False) if part
        )


def share_settings(of_group: Mapping[str, str], options: BrokerOptions) -> ShareSettings:
    """Return the settings of a group, whose own ones are `of_group`."""
    own = group_values(of_group)
    return ShareSettings(
        own.get("share.record.lock.duration.ms", options.group_share_record_lock_duration_ms),
        own.get("share.delivery.count.limit", options.group_share_delivery_count_limit),
        own.get("share.partition.max.record.locks", options.group_share_partition_max_record_locks),
        own.get("share.isolation.level") == "read_committed",
        own.get("share.renew.acknowledge.enable", True),
        own.get("share.auto.offset.reset", "latest"),
    )


__all__ = ["ShareSettings", "share_settings"]
