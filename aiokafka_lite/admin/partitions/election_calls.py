"""The call that makes replicas the leaders of partitions. The controller decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Final

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.checks.item_lists import partitions_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import (
    ElectionNotNeededError,
    EligibleLeadersNotAvailableError,
    IllegalArgumentError,
    KafkaError,
    PreferredLeaderNotAvailableError,
)
from aiokafka_lite.model import TopicPartition, by_topic
from aiokafka_lite.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions

_OUTCOMES: Final = (
    ElectionNotNeededError,
    EligibleLeadersNotAvailableError,
    PreferredLeaderNotAvailableError,
)
"""Errors with which an election has ended, although a later one may succeed."""


class ElectionType(IntEnum):
    """Who may become leader."""

    PREFERRED = 0
    """The first replica, if it is in sync."""
    UNCLEAN = 1
    """Any replica that is alive, if there is no leader (KIP-460). Records that only the replicas in
    sync have are lost."""


class ElectionCalls(AdminFamily):
    """Elections of leaders."""

    async def elect_leaders(
        self,
        election_type: ElectionType,
        partitions: Iterable[TopicPartition] | None = None,
        timeout_ms: int | None = None,
    ) -> Outcomes[TopicPartition, None]:
        """Make the preferred or any live replica of each partition its leader.

        With `partitions` None, all partitions elect that need it, and the answer names only those.
        Brokers learn of a new leader some milliseconds later.

        A partition that fails has its error as the value: ElectionNotNeededError if it has the
        right leader, PreferredLeaderNotAvailableError, EligibleLeadersNotAvailableError,
        UnknownTopicOrPartitionError. When a response is lost, the call asks again; a partition
        that the lost request served then has ElectionNotNeededError.

        Raises: ClusterAuthorizationFailedError without the right to ALTER the cluster;
        IllegalArgumentError for a value that is no ElectionType or no partition;
        KafkaConnectionError, KafkaTimeoutError or another error if no node answered within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: the nodes may carry out the elections nevertheless.
        Source: KIP-183, KIP-460.
        """
        if election_type not in tuple(ElectionType):
            raise IllegalArgumentError(
                f"election_type={quoted(election_type)} is unknown; give one of"
                f" {', '.join(f'ElectionType.{each.name}' for each in ElectionType)}"
            )
        kind = ElectionType(election_type)
        requests = self._running()
        if partitions is None:

            async def ask_for_all(node: AskedNode) -> dict[TopicPartition, KafkaError | None]:
                return await _elect(node, kind, None)

            everything = await requests.one(
                "elect_leaders()",
                None,
                requests.routes.controller,
                ask_for_all,
                timeout_s=self._timeout_s(timeout_ms),
            )
            return Outcomes(everything)
        asked = partitions_of("partitions", partitions)

        async def ask(
            node: AskedNode, keys: list[TopicPartition]
        ) -> Mapping[TopicPartition, KafkaError | None]:
            return await _elect(node, kind, keys)

        return await requests.for_each(
            "elect_leaders()",
            asked,
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            settling_s=0,
            final_errors=_OUTCOMES,
        )


async def _elect(
    node: AskedNode, kind: ElectionType, keys: Iterable[TopicPartition] | None
) -> dict[TopicPartition, KafkaError | None]:
    topics = None if keys is None else by_topic(keys)
    answer = await node.request(
        ElectLeadersRequest(
            election_type=kind,
            topic_partitions=None
            if topics is None
            else [
                TopicPartitions(topic=name, partitions=indexes) for name, indexes in topics.items()
            ],
            timeout_ms=node.left_ms,
        )
    )
    raise_broker_error(answer.error_code, None, "elect_leaders()")
    return {
        TopicPartition(topic.topic, each.partition_id): broker_error(
            each.error_code, each.error_message, f"partition '{topic.topic}-{each.partition_id}'"
        )
        for topic in answer.replica_election_results
        for each in topic.partition_result
    }


__all__ = ["ElectionCalls", "ElectionType"]
