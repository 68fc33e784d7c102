"""The call that gives topics more partitions. Name and answer are aiokafka's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import broker_error
from aiokafka_lite.admin.calls.raw_answer import RawAnswer, code_and_text
from aiokafka_lite.admin.topics.new_partitions import NewPartitions
from aiokafka_lite.admin.topics.topic_rows import TopicError
from aiokafka_lite.checks.item_lists import dict_of, list_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)


@dataclass(frozen=True)
class CreatePartitionsAnswer(RawAnswer):
    """What `create_partitions` did."""

    topic_errors: list[TopicError]
    """One row for each topic, all with error_code 0."""


class CreatePartitionsCalls(AdminFamily):
    """The number of partitions of topics."""

    async def create_partitions(
        self,
        topic_partitions: Mapping[str, NewPartitions],
        timeout_ms: int | None = None,
        validate_only: bool = False,
    ) -> CreatePartitionsAnswer:
        """Give topics more partitions, by name; with `validate_only` only check if that could be.

        The other topics get theirs even if one fails. When a response is lost, the call asks again.
        A topic to which the lost request gave its partitions then has InvalidPartitionsError.

        Raises: the error of the first topic that failed, such as InvalidPartitionsError for a
        number that is not above the present one; IllegalArgumentError for anything but a dict of
        NewPartitions; KafkaConnectionError, KafkaTimeoutError or another
        error if no node answered within `timeout_ms` (None: request_timeout_ms).
        Cancelled: the nodes may add the partitions nevertheless.
        Source: KIP-195.
        """
        asked = dict_of(
            "topic_partitions", topic_partitions, "{topic: NewPartitions(total)}", NewPartitions
        )
        larger = {name: _larger(name, each) for name, each in asked.items()}
        throttles_ms = [0]

        async def ask(node: AskedNode, names: list[str]) -> Mapping[str, KafkaError | None]:
            request = CreatePartitionsRequest(
                topics=[larger[name] for name in names],
                timeout_ms=node.left_ms,
                validate_only=validate_only,
            )
            response = await node.request(request)
            throttles_ms.append(response.throttle_time_ms)
            return {
                each.name: broker_error(
                    each.error_code, each.error_message, f"topic {quoted(each.name)}"
                )
                for each in response.results
            }

        requests = self._running()
        topics = await requests.for_each(
            "create_partitions()",
            larger,
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms or None),
            settling_s=0.0,
        )
        topics.raise_first()
        rows = [TopicError(name, *code_and_text(each)) for name, each in topics.items()]
        return CreatePartitionsAnswer(max(throttles_ms), rows)


def _larger(name: str, asked: NewPartitions) -> CreatePartitionsTopic:
    assignments = None
    if asked.new_assignments is not None:
        assignments = [
            CreatePartitionsAssignment(
                broker_ids=list_of(f"new_assignments of topic {quoted(name)}", ids, int)
            )
            for ids in asked.new_assignments
        ]
    return CreatePartitionsTopic(name=name, count=asked.total_count, assignments=assignments)


__all__ = ["CreatePartitionsAnswer", "CreatePartitionsCalls"]
