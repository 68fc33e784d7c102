"""The number of partitions that a topic is to have: NewPartitions. Does not wait."""

from collections.abc import Sequence

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import whole


class NewPartitions:
    """How many partitions a topic shall have in all.

    `new_assignments` has the replicas of each partition that is added, [[broker, …], …], the
    preferred leader first; None leaves them to the broker.
    """

    def __init__(
        self, total_count: int, new_assignments: Sequence[Sequence[int]] | None = None
    ) -> None:
        self.total_count: int = whole(total_count)
        self.new_assignments = new_assignments

    def __repr__(self) -> str:
        return f"NewPartitions({quoted(self.total_count)}, {quoted(self.new_assignments)})"


__all__ = ["NewPartitions"]
