"""The call that looks up offsets of partitions: start, end, newest timestamp, or a time.

Each leader gets few large requests. Of a partition, the call makes no task and no future.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error
from aiokafka_lite.checks.item_lists import dict_of, partition_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.errors import IllegalArgumentError, KafkaError
from aiokafka_lite.model import OffsetSpec, TopicPartition
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    lowest_version,
    unknown_spec_error,
)

IsolationLevel: TypeAlias = Literal["read_uncommitted", "read_committed"]

MOST_PARTITIONS: Final = 5_000
"""How many partitions one request names. It takes the event loop some ten milliseconds."""
_LEVELS: Final = {"read_uncommitted": 0, "read_committed": 1}
_NO_REPLICA: Final = -1
_MAX_TIMESTAMP: Final = 2**63 - 1


class ListOffsetsResult(NamedTuple):
    """An offset that a leader found."""

    offset: int
    """-1: no record is that late, or remote storage has none."""
    timestamp: int
    """Milliseconds since 1970 of the record there; -1 for LATEST, EARLIEST and without a record."""
    leader_epoch: int | None
    """The epoch of the leader that wrote the record; None: the leader did not say."""


class ListOffsetsCalls(AdminFamily):
    """Offsets of partitions."""

    async def list_offsets(
        self,
        offsets: Mapping[TopicPartition, OffsetSpec | int],
        isolation_level: IsolationLevel = "read_uncommitted",
        timeout_ms: int | None = None,
    ) -> Outcomes[TopicPartition, ListOffsetsResult]:
        """Return an offset of each partition: of its OffsetSpec, or of the first record at a time.

        A time is milliseconds since 1970. The record's timestamp is that time or a later one.
        With "read_committed", LATEST is the start of the first open transaction, and no record
        behind it is found.

        A partition that fails has its error as the value: UnsupportedVersionError for an
        OffsetSpec that its leader does not know, UnknownTopicOrPartitionError,
        TopicAuthorizationFailedError, KafkaTimeoutError.

        Raises: IllegalArgumentError for a value that is no time, partition or isolation level;
        KafkaConnectionError, KafkaTimeoutError or another error if no node answered within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-396, KIP-734, KIP-405, KIP-1005, KIP-1023.
        """
        level = level_of(isolation_level)
        asked = dict_of("offsets", offsets, "{TopicPartition: OffsetSpec or time}")
        asked = _checked_questions(asked)
        has_news = any(spec <= OffsetSpec.MAX_TIMESTAMP for spec in asked.values())
        requests = self._running()

        async def ask(
            node: AskedNode, keys: list[TopicPartition]
        ) -> Mapping[TopicPartition, ListOffsetsResult | KafkaError]:
            refused: dict[TopicPartition, KafkaError] = {}
            if has_news:
                version = await node.version_of(ListOffsetsRequest)
                refused = _refused(asked, keys, -1 if version is None else version, node.node_id)
                keys = [key for key in keys if key not in refused] if refused else keys
            if not keys:
                return refused
            request = ListOffsetsRequest(
                replica_id=_NO_REPLICA,
                isolation_level=level,
                topics=_topics(asked, keys),
                timeout_ms=node.left_ms,
            )
            return refused | _results(await node.request(request))

        return await requests.for_each(
            "list_offsets()",
            asked,
            requests.routes.leader,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            most_items=MOST_PARTITIONS,
        )


def level_of(isolation_level: IsolationLevel) -> int:
    """Return Kafka's number. Raises: IllegalArgumentError for another level."""
    level = _LEVELS.get(isolation_level)
    if level is None:
        raise IllegalArgumentError(
            f"isolation_level={quoted(isolation_level)} is unknown; give one of"
            f" {', '.join(map(repr, _LEVELS))}"
        )
    return level


def _checked_questions(
    offsets: Mapping[TopicPartition, OffsetSpec | int],
) -> dict[TopicPartition, OffsetSpec | int]:
    names: set[str] = set()
    checked: dict[TopicPartition, OffsetSpec | int] = {}
    for given, wanted in offsets.items():
        tp, spec = given, whole(wanted)
        if type(tp) is not TopicPartition or tp[0] not in names or not _is_index(tp[1]):
            tp = partition_of("offsets", tp)
            names.add(tp.topic)
        checked[tp] = spec
        topic, partition = tp
        if not is_int(spec) or not OffsetSpec.EARLIEST_PENDING_UPLOAD <= spec <= _MAX_TIMESTAMP:
            raise IllegalArgumentError(
                f"{topic}-{partition}: {quoted(spec)} is no OffsetSpec and no time; give a member "
                f"of OffsetSpec, or milliseconds since 1970 as an int from 0 to {_MAX_TIMESTAMP}"
            )
    return checked


def _is_index(partition: object) -> bool:
    return type(partition) is int and partition >= 0


def _refused(
    offsets: Mapping[TopicPartition, OffsetSpec | int],
    keys: Sequence[TopicPartition],
    version: int,
    node_id: int | None,
) -> dict[TopicPartition, KafkaError]:
    """Return the errors of the partitions whose OffsetSpec the node does not know."""
    refused: dict[TopicPartition, KafkaError] = {}
    for key in keys:
        spec = offsets[key]
        if version < lowest_version(spec):
            refused[key] = unknown_spec_error(key, spec, node_id, version)
    return refused


def _topics(
    offsets: Mapping[TopicPartition, OffsetSpec | int], keys: Sequence[TopicPartition]
) -> list[ListOffsetsTopic]:
    by_topic: dict[str, list[ListOffsetsPartition]] = {}
    for key in keys:
        name, index = key
        partitions = by_topic.get(name)
        if partitions is None:
            partitions = by_topic[name] = []
        partitions.append(ListOffsetsPartition(partition_index=index, timestamp=offsets[key]))
    return [
        ListOffsetsTopic(name=name, partitions=partitions) for name, partitions in by_topic.items()
    ]


def _results(response: ListOffsetsResponse) -> dict[TopicPartition, ListOffsetsResult | KafkaError]:
    results: dict[TopicPartition, ListOffsetsResult | KafkaError] = {}
    for topic in response.topics:
        name = topic.name
        for each in topic.partitions:
            tp = TopicPartition(name, each.partition_index)
            if each.error_code:
                error = broker_error(each.error_code, None, f"partition '{name}-{tp.partition}'")
                assert error is not None  # the code is not 0
                results[tp] = error
            else:
                epoch = each.leader_epoch
                results[tp] = ListOffsetsResult(
                    each.offset, each.timestamp, epoch if epoch >= 0 else None
                )
    return results


__all__ = ["IsolationLevel", "ListOffsetsCalls", "ListOffsetsResult", "level_of"]
