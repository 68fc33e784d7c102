"""Releases of Apache Kafka as the embedded broker plays them: with the API versions of each.

`tests/conformance/api_ranges.json` has what the brokers of each release tell their clients, as
`tests/conformance/ApiRanges.java` reads it from the release's own kafka-clients jar.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.request_log import ReceivedRequest
from aiokafka_lite.testing.broker.router import HANDLERS

RANGES: Final = Path(__file__).parents[1] / "conformance" / "api_ranges.json"
PLAYED: Final = (
    "2.1", "2.3", "2.4", "2.5", "2.6", "2.8", "3.0", "3.3", "3.5", "3.7", "3.9",
    "4.0", "4.1", "4.2", "4.3", "4.4",
)  # fmt: skip
FEATURES: Final = {"4.0": (1, 0, 2)}
"""The levels of group.version, share.version and transaction.version that a new cluster has. On 4.1
an administrator has raised share.version.
"""
NO_FEATURES, ALL_FEATURES = (0, 0, 0), (1, 1, 2)


@dataclass(frozen=True)
class Release:
    """One release, with one of its two kinds of controllers."""

    name: str
    """As "3.9 kraft"."""
    ranges: Mapping[int, tuple[int, int]]

    @property
    def number(self) -> tuple[int, ...]:
        return tuple(map(int, self.name.split()[0].split(".")))

    @property
    def is_kraft(self) -> bool:
        return self.name.endswith("kraft")

    def has(self, needed: str) -> bool:
        """Return whether it is as new as `needed`, such as "2.4".

        "3.3 kraft" counts with KRaft only. "2.7/3.5" names one with ZooKeeper and one with KRaft.
        """
        if needed.endswith("kraft"):
            return self.is_kraft and self.has(needed.split(maxsplit=1)[0])
        with_zookeeper, _, with_kraft = needed.partition("/")
        least = with_kraft if with_kraft and self.is_kraft else with_zookeeper
        return self.number >= tuple(map(int, least.split(".")))

    def options(self, **others: Any) -> dict[str, Any]:
        """Return the options of an embedded broker that has the API versions of this release."""
        versions = {}
        for handler in HANDLERS:
            key = int(handler.request_type.api_key)
            highest = self.ranges.get(key, (0, -1))[1]
            fits = highest >= handler.versions.min
            versions[key] = min(highest, handler.versions.max) if fits else None
        short = self.name.split()[0]
        unnamed = NO_FEATURES if self.number < (4, 0) else ALL_FEATURES
        group, share, transaction = FEATURES.get(short, unnamed)
        return {
            "max_versions": versions,
            "group_version": group,
            "share_version": share,
            "transaction_version": transaction,
        } | others

    def strangers(self, broker: EmbeddedBroker) -> list[ReceivedRequest]:
        """Return the requests that a broker of this release would not have understood."""
        return [
            each
            for each in broker.requests
            if not self.ranges[each.api_key][0] <= each.api_version <= self.ranges[each.api_key][1]
        ]


def releases() -> list[Release]:
    """Return the releases of `PLAYED`, those of 3.3 to 3.9 with either kind of controllers."""
    found = []
    for name, told in json.loads(RANGES.read_text(encoding="utf-8")).items():
        version, mode = name.split()
        short = version.rpartition(".")[0]
        if short in PLAYED:
            ranges = {int(api.split()[0]): (low, high) for api, (low, high) in told.items()}
            found.append(Release(f"{short} {mode}", ranges))
    return found


__all__ = ["RANGES", "Release", "releases"]
