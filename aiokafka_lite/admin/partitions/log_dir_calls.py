"""Calls about the brokers' log directories. Each broker answers for itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AdminRequests, AskedNode
from aiokafka_lite.admin.calls.every_broker import brokers_now
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error
from aiokafka_lite.checks.item_lists import dict_of, list_of, listed, partition_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    IllegalArgumentError,
    KafkaError,
    KafkaStorageError,
    ReplicaNotAvailableError,
)
from aiokafka_lite.model import TopicPartition, by_topic
from aiokafka_lite.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from aiokafka_lite.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)

Replica = tuple[int, TopicPartition]
"""The id of a broker, and a partition of which it has a replica."""
_OUTCOMES: Final = (KafkaStorageError, ReplicaNotAvailableError)
"""Errors that stay: a directory is offline, a broker has no replica."""


class ReplicaInfo(NamedTuple):
    """A replica in a log directory."""

    size: int
    """Bytes of its segments."""
    offset_lag: int
    """Records between its end and the high watermark; of a future replica, between its end and that
    of the present one."""
    is_future: bool
    """Whether it is a copy that will replace the broker's replica in another directory."""


class LogDirDescription(NamedTuple):
    """A log directory of a broker."""

    error: KafkaError | None
    """KafkaStorageError: the directory is offline."""
    replicas: Mapping[TopicPartition, ReplicaInfo]
    total_bytes: int | None
    """The size of its volume; None: the broker is older than 3.3, or does not know."""
    usable_bytes: int | None
    """What the broker can still use of it, or None."""
    is_cordoned: bool = False
    """Whether new replicas stay out of it (KIP-1066); brokers older than 4.3 do not tell."""


class ReplicaLogDirs(NamedTuple):
    """Where a broker has a replica, and where the replica is moving to."""

    path: str | None
    """None: the broker has no replica of the partition."""
    offset_lag: int | None
    future_path: str | None
    """None: the replica is not moving."""
    future_offset_lag: int | None


class LogDirCalls(AdminFamily):
    """Log directories."""

    async def describe_log_dirs(
        self, broker_ids: Iterable[int] | None = None, timeout_ms: int | None = None
    ) -> Outcomes[int, dict[str, LogDirDescription]]:
        """Return the log directories of each broker by their paths, with the replicas in them.

        None stands for all brokers that run. A broker that fails has its error as the value.

        Raises: ClusterAuthorizationFailedError without the right to DESCRIBE the cluster;
        IllegalArgumentError for an id that is no int from 0 on; KafkaConnectionError,
        KafkaTimeoutError or another error if no broker answered within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-113, KIP-827.
        """
        requests = self._running()
        timeout_s = self._timeout_s(timeout_ms)
        ends_s = requests.client.clock.monotonic() + timeout_s
        if broker_ids is None:
            broker_ids = sorted(await brokers_now(requests, "describe_log_dirs()", timeout_s))
        asked = list(map(_checked_broker, list_of("broker_ids", broker_ids, int)))
        left_s = max(ends_s - requests.client.clock.monotonic(), 0.001)
        return await log_dirs_of(requests, "describe_log_dirs()", asked, None, left_s)

    async def describe_replica_log_dirs(
        self, replicas: Iterable[Replica], timeout_ms: int | None = None
    ) -> Outcomes[Replica, ReplicaLogDirs]:
        """Return the log directory of each replica, which is a pair of broker id and partition.

        Raises: as `describe_log_dirs`. Cancelled: nothing is left behind.
        """
        asked = _checked(replicas)
        partitions = {tp for _, tp in asked}
        brokers = await log_dirs_of(
            self._running(),
            "describe_replica_log_dirs()",
            {broker_id for broker_id, _ in asked},
            partitions,
            self._timeout_s(timeout_ms),
        )
        return Outcomes((key, _dirs_of(brokers[key[0]], key[1])) for key in asked)

    async def alter_replica_log_dirs(
        self, moves: Mapping[Replica, str], timeout_ms: int | None = None
    ) -> Outcomes[Replica, None]:
        """Move replicas to other log directories of their brokers: {(broker id, partition): path}.

        The answer says that a move has begun. `describe_replica_log_dirs` shows how far it is.

        A replica that fails has its error as the value: LogDirNotFound, KafkaStorageError,
        UnknownTopicOrPartitionError, ClusterAuthorizationFailedError without the right to ALTER
        the cluster. ReplicaNotAvailableError says that the broker has no replica of the partition;
        a later one will be made in that directory.

        Raises: as `describe_log_dirs`. Cancelled: the brokers may begin the moves nevertheless.
        Source: KIP-113.
        """
        requests = self._running()
        paths = dict_of("moves", moves, "{(broker id, TopicPartition): path}", str)

        async def ask(node: AskedNode, keys: list[Replica]) -> dict[Replica, KafkaError | None]:
            by_path: dict[str, list[TopicPartition]] = {}
            for key in keys:
                by_path.setdefault(paths[key], []).append(TopicPartition(*key[1]))
            request = AlterReplicaLogDirsRequest(
                dirs=[
                    AlterReplicaLogDir(
                        path=path,
                        topics=[
                            AlterReplicaLogDirTopic(name=name, partitions=indexes)
                            for name, indexes in by_topic(partitions).items()
                        ],
                    )
                    for path, partitions in by_path.items()
                ]
            )
            broker_id = keys[0][0]
            return {
                (broker_id, TopicPartition(topic.topic_name, each.partition_index)): broker_error(
                    each.error_code,
                    None,
                    f"broker {broker_id}, partition '{topic.topic_name}-{each.partition_index}'",
                )
                for topic in (await node.request(request)).results
                for each in topic.partitions
            }

        return await requests.for_each(
            "alter_replica_log_dirs()",
            _checked(paths),
            requests.routes.node(lambda key: key[0]),
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            final_errors=_OUTCOMES,
        )


async def log_dirs_of(
    requests: AdminRequests,
    what: str,
    broker_ids: Iterable[int],
    partitions: Iterable[TopicPartition] | None,
    timeout_s: float,
) -> Outcomes[int, dict[str, LogDirDescription]]:
    """Ask each broker for its log directories and its replicas of these partitions; None: all.

    Raises: as `describe_log_dirs`. Cancelled: nothing is left behind.
    """
    topics = (
        None
        if partitions is None
        else [
            DescribableLogDirTopic(topic=name, partitions=indexes)
            for name, indexes in by_topic(partitions).items()
        ]
    )

    async def ask(
        node: AskedNode, keys: list[int]
    ) -> dict[int, dict[str, LogDirDescription] | KafkaError]:
        answer = await node.request(DescribeLogDirsRequest(topics=topics))
        return {keys[0]: _described(answer, keys[0])}

    return await requests.for_each(
        what,
        broker_ids,
        requests.routes.node(lambda broker_id: broker_id),
        ask,
        timeout_s=timeout_s,
    )


def _described(
    answer: DescribeLogDirsResponse, broker_id: int
) -> dict[str, LogDirDescription] | KafkaError:
    code = answer.error_code
    if not answer.results and not code:  # brokers before 3.2 say it so
        code = ClusterAuthorizationFailedError.errno
    error = broker_error(code, None, f"broker {broker_id}")
    return error or {each.log_dir: _log_dir(each) for each in answer.results}


def _log_dir(found: DescribeLogDirsResult) -> LogDirDescription:
    return LogDirDescription(
        broker_error(found.error_code, None, f"log directory '{found.log_dir}'"),
        {
            TopicPartition(topic.name, each.partition_index): ReplicaInfo(
                each.partition_size, each.offset_lag, each.is_future_key
            )
            for topic in found.topics
            for each in topic.partitions
        },
        found.total_bytes if found.total_bytes >= 0 else None,
        found.usable_bytes if found.usable_bytes >= 0 else None,
        found.is_cordoned,
    )


def _dirs_of(
    answer: dict[str, LogDirDescription] | KafkaError, tp: TopicPartition
) -> ReplicaLogDirs | KafkaError:
    if isinstance(answer, KafkaError):
        return answer
    here: tuple[str | None, int | None] = (None, None)
    there: tuple[str | None, int | None] = (None, None)
    for path, directory in answer.items():
        replica = directory.replicas.get(tp)
        if replica is not None and replica.is_future:
            there = (path, replica.offset_lag)
        elif replica is not None:
            here = (path, replica.offset_lag)
    return ReplicaLogDirs(*here, *there)


def _checked(replicas: Iterable[Replica]) -> list[Replica]:
    asked: list[Replica] = []
    for replica in listed("replicas", replicas, "(broker id, TopicPartition)"):
        given: Any = replica
        if not isinstance(given, tuple) or len(given) != 2:
            raise IllegalArgumentError(
                f"{quoted(replica)} is no replica; give (broker id, "
                "TopicPartition(topic, partition))"
            )
        asked.append((_checked_broker(replica[0]), partition_of("replicas", replica[1])))
    return asked


def _checked_broker(broker_id: object) -> int:
    number = whole(broker_id)
    if not is_int(number) or number < 0:
        raise IllegalArgumentError(
            f"broker {quoted(broker_id)} is no int from 0 on; give a broker's id"
        )
    return number


__all__ = [
    "LogDirCalls",
    "LogDirDescription",
    "Replica",
    "ReplicaInfo",
    "ReplicaLogDirs",
    "log_dirs_of",
]
