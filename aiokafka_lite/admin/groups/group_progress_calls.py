"""Calls that compare a group's offsets with the logs: its lag, and a reset with a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, raise_broker_error
from aiokafka_lite.admin.calls.outer_call import of_several_steps
from aiokafka_lite.admin.groups.group_calls import GroupCalls
from aiokafka_lite.admin.groups.group_offset_calls import GroupOffsetCalls, GroupOffsets
from aiokafka_lite.admin.groups.group_states import OFFSETS_WAIT, has_members, told_state
from aiokafka_lite.admin.groups.group_values import checked_id
from aiokafka_lite.admin.groups.offset_reset_plan import (
    KnownOffsets,
    OffsetResetPlan,
    ResetTarget,
    checked_target,
    plan_of,
    time_of,
)
from aiokafka_lite.admin.groups.share_offset_calls import ShareOffsetCalls
from aiokafka_lite.admin.partitions.list_offsets_calls import ListOffsetsCalls, level_of
from aiokafka_lite.checks.item_lists import listed, one_of, partition_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.errors import (
    GroupIdNotFound,
    InvalidGroupIdError,
    KafkaError,
    UnsupportedVersionError,
)
from aiokafka_lite.model import OffsetSpec, TopicPartition
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic


class PartitionLag(NamedTuple):
    """How far a group is behind in one partition."""

    current: int
    """The committed offset, or the start offset of a share group."""
    end: int
    """The end of the log."""
    lag: int
    """The offsets between them; of a share group, the records that it has still to process.

    Negative if the committed offset lies beyond the end: records were lost, or the topic was made
    anew. The group's next poll then resets it by `auto_offset_reset`.
    """


class GroupProgressCalls(ListOffsetsCalls, GroupCalls, GroupOffsetCalls, ShareOffsetCalls):
    """Lag and resets of groups, and all other calls about groups, which the base classes have."""

    @of_several_steps
    async def group_lag(
        self,
        group_id: str,
        isolation_level: Literal["read_uncommitted", "read_committed"] = "read_uncommitted",
        timeout_ms: int | None = None,
    ) -> Outcomes[TopicPartition, PartitionLag]:
        """Return the lag of a group, of any kind, in each partition with a committed offset.

        With "read_committed", the end of a log is the start of its first open transaction. A lag
        is negative if the committed offset lies beyond the end. A partition that fails has its
        error as the value.

        Raises: GroupAuthorizationFailedError; IllegalArgumentError for other values;
        KafkaConnectionError, KafkaTimeoutError or another error without an answer within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        """
        level_of(isolation_level)  # what makes no sense is told before the first request
        left_ms = self._left_ms(timeout_ms)
        committed = await self._committed(checked_id(group_id), left_ms())
        current = {tp: each.offset for tp, each in committed.succeeded.items()}
        lags: dict[TopicPartition, int | None] = {}
        failed = committed.failed
        if not committed:
            try:
                shares = await self.list_share_group_offsets(group_id, left_ms())
            except UnsupportedVersionError:
                shares = Outcomes()
            current = {tp: each.offset for tp, each in shares.succeeded.items()}
            lags = {tp: each.lag for tp, each in shares.succeeded.items()}
            failed = shares.failed
        ends = await self.list_offsets(
            dict.fromkeys(current, OffsetSpec.LATEST), isolation_level, left_ms()
        )
        found: Outcomes[TopicPartition, PartitionLag] = Outcomes(failed)
        for tp, end in ends.items():
            if isinstance(end, KafkaError):
                found[tp] = end
            else:
                lag = lags.get(tp)
                behind = end.offset - current[tp] if lag is None else lag
                found[tp] = PartitionLag(current[tp], end.offset, behind)
        return Outcomes(sorted(found.items()))

    @of_several_steps
    async def plan_offset_reset(
        self,
        group_id: str,
        *,
        to: ResetTarget,
        partitions: Sequence[TopicPartition | str] | None = None,
        timeout_ms: int | None = None,
    ) -> OffsetResetPlan:
        """Return what a reset of a group's offsets would do, and change nothing.

            plan = await admin.plan_offset_reset("billing", to=timedelta(hours=1))
            print(plan)
            await admin.reset_offsets(plan)

        `partitions` has partitions, and topics by name; None stands for those with a committed
        offset, or of a share group with a start offset. An offset outside a log becomes the nearest
        one of the log, and a time after the last record its end. A partition that fails is in the
        plan's `failed`. If the group has members, which prevent a reset, `obstacle` says so.

        Raises: IllegalArgumentError for a target or a partition that is none; otherwise as
        `group_lag`.
        Cancelled: nothing is left behind.
        """
        to = checked_target(to)
        left_ms = self._left_ms(timeout_ms)
        committed = await self._committed(checked_id(group_id), left_ms())
        current = {tp: each.offset for tp, each in committed.succeeded.items()}
        is_share = not committed and await self._is_share(group_id, left_ms())
        if is_share:
            shares = await self.list_share_group_offsets(group_id, left_ms())
            current = {tp: each.offset for tp, each in shares.succeeded.items()}
        if partitions is not None:
            named = await self._named_partitions(partitions, left_ms())
        else:
            named = [*(to if isinstance(to, Mapping) else {**current, **committed})]
        if isinstance(to, Mapping):
            named = [tp for tp in named if tp in to]
        now_ms = int(self._running().client.clock.time() * 1000)
        time_ms = time_of(to, now_ms)
        at_time = None
        if time_ms is not None:
            at_time = await self.list_offsets(dict.fromkeys(named, time_ms), timeout_ms=left_ms())
        known = KnownOffsets(
            current,
            await self.list_offsets(
                dict.fromkeys(named, OffsetSpec.EARLIEST), timeout_ms=left_ms()
            ),
            await self.list_offsets(dict.fromkeys(named, OffsetSpec.LATEST), timeout_ms=left_ms()),
            at_time,
            is_share,
        )
        return plan_of(group_id, to, known, await self._obstacle(group_id, left_ms()))

    @of_several_steps
    async def reset_offsets(
        self, plan: OffsetResetPlan, timeout_ms: int | None = None
    ) -> Outcomes[TopicPartition, None]:
        """Carry out a plan: commit its offsets for the group, which must have no members.

        A partition that fails has its error as the value: UnknownMemberIdError if the group has
        members. It names the group's state, its coordinator and what to do. The partitions in the
        plan's `failed` are left as they are. A share group gets other start offsets.

        Raises: as `alter_consumer_group_offsets`; for a share group as `alter_share_group_offsets`,
        such as NonEmptyGroup.
        Cancelled: the node may store the offsets nevertheless.
        """
        if not one_of("plan", plan, OffsetResetPlan).resets:
            return Outcomes()
        if plan.is_share:
            return await self.alter_share_group_offsets(plan.group_id, plan.offsets, timeout_ms)
        return await self.alter_consumer_group_offsets(plan.group_id, plan.offsets, timeout_ms)

    async def _committed(self, group_id: str, timeout_ms: int) -> GroupOffsets:
        """Return the committed offsets of a group; none if it is of a kind without them."""
        found = (await self.list_group_offsets([group_id], timeout_ms=timeout_ms))[group_id]
        if isinstance(found, GroupIdNotFound):
            return Outcomes()
        if isinstance(found, KafkaError):
            raise found
        return found

    async def _obstacle(self, group_id: str, timeout_ms: int) -> str | None:
        """Return why a reset would be refused now; None if nothing is in the way."""
        group = (await self.describe_groups([group_id], timeout_ms))[group_id]
        if isinstance(group, KafkaError) or not has_members(group):
            return None
        return f"{told_state(group_id, group)}. {OFFSETS_WAIT}"

    async def _is_share(self, group_id: str, timeout_ms: int) -> bool:
        """Return whether there is a share group of that name."""
        try:
            found = await self.describe_share_groups([group_id], timeout_ms)
        except UnsupportedVersionError:
            return False
        if isinstance(found[group_id], GroupIdNotFound | InvalidGroupIdError):
            return False
        found.raise_first()
        return True

    async def _named_partitions(
        self, partitions: Sequence[TopicPartition | str], timeout_ms: int | None
    ) -> list[TopicPartition]:
        """Return partitions, those of topics by name included."""
        asked = listed("partitions", partitions, "TopicPartition or str", TopicPartition)
        topics = [each for each in asked if isinstance(each, str)]
        found = [partition_of("partitions", each) for each in asked if not isinstance(each, str)]
        for topic in topics:
            check_topic_name(topic)

        async def ask(node: AskedNode) -> list[TopicPartition]:
            request = MetadataRequest(
                topics=[MetadataRequestTopic(name=name) for name in topics],
                allow_auto_topic_creation=False,
            )
            answer = await node.request(request)
            raise_broker_error(answer.error_code, None, "plan_offset_reset()")
            for topic in answer.topics:
                raise_broker_error(topic.error_code, None, f"topic {quoted(topic.name)}")
            return [
                TopicPartition(topic.name or "", each.partition_index)
                for topic in answer.topics
                for each in sorted(topic.partitions, key=lambda each: each.partition_index)
            ]

        if topics:
            requests = self._running()
            found += await requests.one(
                "plan_offset_reset()",
                None,
                requests.routes.any_node,
                ask,
                timeout_s=self._timeout_s(timeout_ms),
            )
        return list(dict.fromkeys(found))


__all__ = ["GroupProgressCalls", "PartitionLag"]
