"""A consumer group on a clock that tests move, and the heartbeats of its members."""

from typing import Any

from aiokafka_lite.testing.broker.state.cluster_state import TopicState
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    MemberHeartbeat,
    TopicIdPartition,
)
from aiokafka_lite.testing.broker.state.groups.consumer_membership import (
    ConsumerMembership,
    HeartbeatResult,
)
from aiokafka_lite.testing.broker.state.groups.modern_group import ModernGroup
from tests.testing.broker.bench import Bench


class ServedConsumers:
    """One group "g" whose members read topic "t" of four partitions."""

    def __init__(self, **options: Any) -> None:
        self.bench = Bench(**options)
        self.clock = self.bench.clock
        self.topic: TopicState = self.bench.topic("t", 4)
        self.epochs: dict[str, int] = {}

    @property
    def membership(self) -> ConsumerMembership:
        return self.bench.groups.find_consumers("g", joins=True)

    @property
    def group(self) -> ModernGroup:
        return self.membership.group

    def parts(self, *indexes: int) -> frozenset[TopicIdPartition]:
        return frozenset(TopicIdPartition(self.topic.topic_id, index) for index in indexes)

    def beat(self, member_id: str, *owned: int, tells: bool = False, **fields: Any) -> Any:
        """Send a heartbeat; `tells`: with what the member owns. Return epoch and partitions."""
        if tells or owned:
            fields["owned"] = self.parts(*owned)
        fields.setdefault("member_epoch", self.epochs.get(member_id, 0))
        result = self.membership.heartbeat(MemberHeartbeat(member_id, **fields))
        self.epochs[member_id] = result.member_epoch
        return told(result)

    def join(self, member_id: str, **fields: Any) -> Any:
        whole = {"rebalance_timeout_ms": 30_000, "topics": ["t"], "owned": frozenset[Any]()}
        return self.beat(member_id, **{"member_epoch": 0, **whole, **fields})


def told(result: HeartbeatResult) -> tuple[int, list[int] | None]:
    given = result.assignment
    return result.member_epoch, None if given is None else sorted(each.partition for each in given)


__all__ = ["ServedConsumers", "told"]
