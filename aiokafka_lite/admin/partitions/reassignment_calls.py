"""Calls about reassignments: replicas that move to other brokers (KIP-455). The controller answers.

`watch_partition_reassignments` also asks the brokers how much of the new replicas they have.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AdminRequests, AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.admin.partitions.log_dir_calls import LogDirDescription, log_dirs_of
from aiokafka_lite.checks.item_lists import dict_of, list_of, partition_of, partitions_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaError, KafkaTimeoutError
from aiokafka_lite.model import TopicPartition, by_topic, names_of
from aiokafka_lite.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from aiokafka_lite.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)

_MOST_OF_A_LOOK_S: Final = 5.0
"""How long brokers may take to tell the sizes of replicas; a broker that is down tells none."""


class PartitionReassignment(NamedTuple):
    """A reassignment that has not ended."""

    replicas: Sequence[int]
    """The brokers with a replica now, those that come and those that go included."""
    adding_replicas: Sequence[int]
    removing_replicas: Sequence[int]


class ReassignmentProgress(NamedTuple):
    """How far reassignments are, at one look."""

    ongoing: Mapping[TopicPartition, PartitionReassignment]
    ended: frozenset[TopicPartition]
    """Partitions of an earlier look whose reassignments have ended, or were cancelled, since."""
    copied_bytes: int
    """Bytes that the brokers have of the replicas that are being added."""
    total_bytes: int
    """Bytes of these replicas when they are complete, by the largest replica of each partition."""


class ReassignmentCalls(AdminFamily):
    """Reassignments."""

    async def alter_partition_reassignments(
        self,
        reassignments: Mapping[TopicPartition, Sequence[int] | None],
        timeout_ms: int | None = None,
        *,
        allow_replication_factor_change: bool = True,
    ) -> Outcomes[TopicPartition, None]:
        """Give partitions other replicas: {partition: [broker, …]}, the preferred leader first.

        None in place of the brokers cancels a reassignment. The answer says that it has begun, or
        was cancelled. `watch_partition_reassignments` follows it to its end.

        A partition that fails has its error as the value: InvalidReplicationAssignmentError,
        NoReassignmentInProgressError, UnknownTopicOrPartitionError; InvalidReplicationFactorError
        for another number of replicas, if `allow_replication_factor_change` is False. When the
        response to a cancel is lost, the call asks again and finds no reassignment.

        Raises: ClusterAuthorizationFailedError without the right to ALTER the cluster;
        IllegalArgumentError for anything but lists of brokers by partition;
        UnsupportedVersionError if `allow_replication_factor_change` is False and the brokers are
        older than 4.1;
        KafkaConnectionError, KafkaTimeoutError or another error if no node answered within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: the nodes may begin the reassignments nevertheless.
        Source: KIP-455, KIP-860.
        """
        given = dict_of("reassignments", reassignments, "{TopicPartition: [broker, …] or None}")
        asked = {
            partition_of("reassignments", tp): None
            if replicas is None
            else list_of(f"the replicas of {quoted(tp)}", replicas, int)
            for tp, replicas in given.items()
        }

        async def ask(
            node: AskedNode, keys: list[TopicPartition]
        ) -> dict[TopicPartition, KafkaError | None]:
            topics: dict[str, list[ReassignablePartition]] = {}
            for key in keys:
                topics.setdefault(key.topic, []).append(
                    ReassignablePartition(partition_index=key.partition, replicas=asked[key])
                )
            answer = await node.request(
                AlterPartitionReassignmentsRequest(
                    timeout_ms=node.left_ms,
                    allow_replication_factor_change=allow_replication_factor_change,
                    topics=[
                        ReassignableTopic(name=name, partitions=partitions)
                        for name, partitions in topics.items()
                    ],
                )
            )
            raise_broker_error(
                answer.error_code, answer.error_message, "alter_partition_reassignments()"
            )
            return {
                TopicPartition(topic.name, each.partition_index): broker_error(
                    each.error_code,
                    each.error_message,
                    f"partition '{topic.name}-{each.partition_index}'",
                )
                for topic in answer.responses
                for each in topic.partitions
            }

        requests = self._running()
        return await requests.for_each(
            "alter_partition_reassignments()",
            asked,
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            settling_s=0,
        )

    async def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None, timeout_ms: int | None = None
    ) -> dict[TopicPartition, PartitionReassignment]:
        """Return the reassignments that have not ended, of these partitions; None: of all.

        Partitions without one are left out, also those that do not exist.

        Raises: ClusterAuthorizationFailedError without the right to DESCRIBE the cluster;
        IllegalArgumentError for a value that is no partition; KafkaConnectionError,
        KafkaTimeoutError or another error if no node answered within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-455.
        """
        asked = _checked(partitions)
        what = "list_partition_reassignments()"
        return await _ongoing(self._running(), what, asked, self._timeout_s(timeout_ms))

    async def watch_partition_reassignments(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        timeout_ms: int | None = None,
        *,
        interval_ms: int = 1_000,
    ) -> AsyncIterator[ReassignmentProgress]:
        """Yield how far reassignments are, every `interval_ms`, until all have ended.

            async for progress in admin.watch_partition_reassignments():
                print(progress.copied_bytes, "of", progress.total_bytes)

        The last value has nothing ongoing. With `partitions` None, all reassignments count, also
        those that begin meanwhile. `timeout_ms` bounds the whole watch. With None the watch goes on
        until the end; each of its steps takes at most `interval_ms`, request_timeout_ms and 5 s.

        Raises: KafkaTimeoutError, naming what is ongoing, when `timeout_ms` is over; otherwise as
        `list_partition_reassignments`.
        Cancelled: nothing is left behind; the reassignments go on.
        """
        requests = self._running()
        asked = _checked(partitions)
        clock = requests.client.clock
        bound_s = self._timeout_s(timeout_ms)
        interval_s = self._timeout_s(interval_ms)
        ends_s = clock.monotonic() + bound_s if timeout_ms is not None else None
        before: Mapping[TopicPartition, PartitionReassignment] = {}
        ended: frozenset[TopicPartition] = frozenset()
        while True:
            ongoing = await _ongoing(requests, "watch_partition_reassignments()", asked, bound_s)
            ended = ended.union(before) - ongoing.keys()
            before = ongoing
            sizes = await _sizes(requests, ongoing, min(bound_s, _MOST_OF_A_LOOK_S))
            yield ReassignmentProgress(ongoing, ended, *sizes)
            if not ongoing:
                return
            if ends_s is not None:
                bound_s = ends_s - clock.monotonic()
                if bound_s <= interval_s:
                    raise KafkaTimeoutError(
                        f"watch_partition_reassignments(): {names_of(ongoing)} did not end within"
                        f" {timeout_ms} ms; check that the brokers of the new replicas run, or"
                        " raise timeout_ms"
                    )
            await clock.sleep(interval_s)


async def _ongoing(
    requests: AdminRequests,
    what: str,
    partitions: list[TopicPartition] | None,
    timeout_s: float,
) -> dict[TopicPartition, PartitionReassignment]:
    topics = (
        None
        if partitions is None
        else [
            ListPartitionReassignmentsTopics(name=name, partition_indexes=indexes)
            for name, indexes in by_topic(partitions).items()
        ]
    )

    async def ask(node: AskedNode) -> dict[TopicPartition, PartitionReassignment]:
        answer = await node.request(
            ListPartitionReassignmentsRequest(timeout_ms=node.left_ms, topics=topics)
        )
        raise_broker_error(answer.error_code, answer.error_message, what)
        return {
            TopicPartition(topic.name, each.partition_index): PartitionReassignment(
                tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas)
            )
            for topic in answer.topics
            for each in topic.partitions
        }

    return await requests.one(
        what,
        None,
        requests.routes.controller,
        ask,
        timeout_s=timeout_s,
    )


async def _sizes(
    requests: AdminRequests,
    ongoing: Mapping[TopicPartition, PartitionReassignment],
    timeout_s: float,
) -> tuple[int, int]:
    """Return the bytes that the added replicas have, and those that they will have."""
    known = requests.client.metadata.snapshot.nodes
    brokers = {each for moved in ongoing.values() for each in moved.replicas if each in known}
    if not brokers:
        return 0, 0
    try:
        answers = await log_dirs_of(requests, "sizes", sorted(brokers), ongoing, timeout_s)
    except KafkaError:
        return 0, 0  # no broker answered, and the controller will be asked again
    copied = total = 0
    for tp, moved in ongoing.items():
        sizes = {
            broker_id: _size_in(directories, tp)
            for broker_id, directories in answers.succeeded.items()
            if broker_id in moved.replicas
        }
        copied += sum(sizes.get(each, 0) for each in moved.adding_replicas)
        total += max(sizes.values(), default=0) * len(moved.adding_replicas)
    return copied, total


def _size_in(directories: Mapping[str, LogDirDescription], tp: TopicPartition) -> int:
    found = (directory.replicas.get(tp) for directory in directories.values())
    return max((each.size for each in found if each is not None), default=0)


def _checked(partitions: Iterable[TopicPartition] | None) -> list[TopicPartition] | None:
    return None if partitions is None else partitions_of("partitions", partitions)


__all__ = ["PartitionReassignment", "ReassignmentCalls", "ReassignmentProgress"]
