"""Owns the numbers that a producer or consumer keeps of its own work, as plain ints and floats.

`statistics` has the frozen values that are made from them. It does not wait.
"""

from typing import TYPE_CHECKING

from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.model import TopicPartition

if TYPE_CHECKING:
    from aiokafka_lite.metrics.statistics import NetworkStatistics


class Counters(Observer):
    """Counts the events of one client since it was made."""

    __slots__ = (
        "acknowledged_batches",
        "acknowledged_bytes",
        "acknowledged_records",
        "commits",
        "connections",
        "fetched_bytes",
        "fetches",
        "rebalances",
        "response_bytes",
        "response_time_s",
        "responses",
    )

    def __init__(self) -> None:
        self.connections = 0
        self.responses = 0
        self.response_bytes = 0
        self.response_time_s = 0.0
        self.acknowledged_batches = 0
        self.acknowledged_records = 0
        self.acknowledged_bytes = 0
        self.fetches = 0
        self.fetched_bytes = 0
        self.rebalances = 0
        self.commits = 0

    def connected(self, node_id: int, took_s: float) -> None:  # noqa: ARG002
        self.connections += 1

    def request_answered(self, node_id: int, api_key: int, took_s: float, size: int) -> None:  # noqa: ARG002
        self.responses += 1
        self.response_bytes += size
        self.response_time_s += took_s

    def batch_acknowledged(self, topic_partition: TopicPartition, records: int, size: int) -> None:  # noqa: ARG002
        self.acknowledged_batches += 1
        self.acknowledged_records += records
        self.acknowledged_bytes += size

    def records_fetched(self, node_id: int, size: int) -> None:  # noqa: ARG002
        self.fetches += 1
        self.fetched_bytes += size

    def rebalanced(self, generation: int, partitions: int) -> None:  # noqa: ARG002
        self.rebalances += 1

    def committed(self, partitions: int) -> None:  # noqa: ARG002
        self.commits += 1

    def network(self) -> "NetworkStatistics":
        """Return what was counted of connections and responses."""
        # A client whose statistics nobody reads does not pay for the import.
        from aiokafka_lite.metrics.statistics import NetworkStatistics  # noqa: PLC0415

        return NetworkStatistics(
            self.connections, self.responses, self.response_bytes, self.response_time_s
        )


__all__ = ["Counters"]
