"""A share group: its members, and each partition that it reads or for which a start is stored.

Does not wait. Source: ShareGroup, SharePartitionManager; KIP-932.
"""

from collections.abc import Iterable

from aiokafka_lite.clock import Clock
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.cluster_state import (
    BrokerPartition,
    ClusterState,
    TopicState,
)
from aiokafka_lite.testing.broker.state.groups.dead_letters import (
    DELIVERED_TOO_OFTEN,
    REJECTED,
    write_dead_letter,
)
from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers
from aiokafka_lite.testing.broker.state.groups.share_members import ShareMembers
from aiokafka_lite.testing.broker.state.groups.share_partition import UNSET, SharePartition
from aiokafka_lite.testing.broker.state.groups.share_settings import (
    ShareSettings,
    share_settings,
)


class ShareGroup:
    """One share group."""

    def __init__(
        self,
        group_id: str,
        timers: GroupTimers,
        locks: GroupTimers,
        options: BrokerOptions,
        cluster: ClusterState,
        clock: Clock,
    ) -> None:
        """`timers` are those of members, and `locks` those of records."""
        self.group_id = group_id
        self.partitions: dict[TopicPartition, SharePartition] = {}
        self.members = ShareMembers(
            group_id,
            timers,
            options,
            cluster,
            clock,
            known_partitions=self._known_partitions,
            on_new_topic=self._store_topic,
        )
        self._locks = locks
        self._options = options
        self._cluster = cluster
        self._clock = clock
        self._epochs: dict[TopicPartition, int] = {}

    @property
    def settings(self) -> ShareSettings:
        """What decides what the members read, at present."""
        of_group = self._cluster.group_settings.get(self.group_id, {})
        return share_settings(of_group, self._options)

    def set_start(self, where: BrokerPartition, offset: int = UNSET) -> None:
        """Store where to begin in a partition, and forget what was in flight."""
        self._forget([where.topic_partition])
        self.partitions[where.topic_partition] = SharePartition(
            self._locks,
            lambda: self.settings,
            where.changed,
            lambda *given_up: self._bury(where, *given_up),
            offset,
        )

    def _bury(self, where: BrokerPartition, offset: int, count: int, is_rejected: bool) -> None:
        why = REJECTED if is_rejected else DELIVERED_TOO_OFTEN
        write_dead_letter(self._cluster, self._clock, self.group_id, where, offset, count, why)

    def read(self, where: BrokerPartition) -> SharePartition | None:
        """Return a partition as its leader serves it; None if no state is stored for it."""
        share = self.partitions.get(where.topic_partition)
        if share is None:
            return None
        epoch = self._epochs.setdefault(where.topic_partition, where.leader_epoch)
        if epoch != where.leader_epoch:
            self._epochs[where.topic_partition] = where.leader_epoch
            share.reload()
        share.begin(self._reset(where))
        share.log_starts(where.log.log_start_offset)
        return share

    def _reset(self, where: BrokerPartition) -> int:
        settings, log = self.settings, where.log
        if settings.reset == "earliest":
            return log.log_start_offset
        if settings.reset == "latest":
            return log.high_watermark
        since_ms = int((self._clock.time() - settings.reset_age_s()) * 1000)
        found = log.offset_for_timestamp(since_ms)
        return log.high_watermark if found is None else found[0]

    def release(self, member_id: str, partitions: Iterable[TopicPartition]) -> None:
        """Give back what a member has acquired of these partitions."""
        for where in partitions:
            if where in self.partitions:
                self.partitions[where].release(member_id)

    def forget_topic(self, topic: str) -> None:
        """Drop the state of a topic; harmless without any."""
        self._forget([each for each in self.partitions if each.topic == topic])

    def _forget(self, partitions: Iterable[TopicPartition]) -> None:
        for where in partitions:
            self._epochs.pop(where, None)
            share = self.partitions.pop(where, None)
            if share is not None:
                share.drop_locks()

    def expire_locks(self) -> None:
        """Let the time of all locks be over."""
        for share in self.partitions.values():
            share.expire_locks()

    def move(self, *, is_gone: bool, is_found: bool) -> None:
        """Let another node coordinate. `is_gone`: some node did; `is_found`: one does."""
        if is_gone:
            self.members.unload()
        if is_found:
            self.members.load()

    def close(self) -> None:
        """Stop every timer."""
        self.members.unload()
        self._locks.clear()

    def _known_partitions(self, topic: TopicState) -> int:
        return sum(each.topic_partition in self.partitions for each in topic.partitions)

    def _store_topic(self, topic: TopicState) -> None:
        for each in topic.partitions:
            if each.topic_partition not in self.partitions:
                self.set_start(each)


__all__ = ["ShareGroup"]
