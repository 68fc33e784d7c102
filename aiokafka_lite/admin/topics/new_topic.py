"""A topic that is to be created: NewTopic. Does not wait."""

from collections.abc import Mapping, Sequence

from aiokafka_lite.checks.item_lists import dict_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import whole
from aiokafka_lite.errors import IllegalArgumentError


class NewTopic:
    """A topic to create: a number of partitions and of replicas, or the replicas by hand.

    -1 for a number stands for the broker's default (KIP-464). `replica_assignments` is
    {partition: [broker, …]}, the preferred leader first; both numbers are then -1.
    `topic_configs` is {Kafka's name: value}; a value is a str, bool, int, float or list of str.

    Raises: IllegalArgumentError if numbers stand beside `replica_assignments`, and for what is no
    dict.
    """

    def __init__(
        self,
        name: str,
        num_partitions: int = -1,
        replication_factor: int = -1,
        replica_assignments: Mapping[int, Sequence[int]] | None = None,
        topic_configs: Mapping[str, object] | None = None,
    ) -> None:
        if replica_assignments and not num_partitions == replication_factor == -1:
            raise IllegalArgumentError(
                f"topic {quoted(name)}: either num_partitions/replication_factor or "
                f"replica_assignments must be specified, not both; num_partitions="
                f"{quoted(num_partitions)} "
                f"and replication_factor={quoted(replication_factor)} must be -1"
            )
        self.name = name
        self.num_partitions: int = whole(num_partitions)
        self.replication_factor: int = whole(replication_factor)
        self.replica_assignments = dict_of(
            "replica_assignments", replica_assignments or {}, "{partition: [broker, …]}"
        )
        self.topic_configs = dict_of("topic_configs", topic_configs or {}, "{name: value}")

    def __repr__(self) -> str:
        return (
            f"NewTopic({quoted(self.name)}, {quoted(self.num_partitions)},"
            f" {quoted(self.replication_factor)},"
            f" {quoted(self.replica_assignments)}, {quoted(self.topic_configs)})"
        )


__all__ = ["NewTopic"]
