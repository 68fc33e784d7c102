"""The call that deletes the oldest records of partitions. Name and answer are aiokafka's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import broker_error
from aiokafka_lite.admin.topics.records_to_delete import RecordsToDelete
from aiokafka_lite.checks.item_lists import dict_of, partition_of
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)


class DeleteRecordsCalls(AdminFamily):
    """The records of partitions."""

    async def delete_records(
        self,
        records_to_delete: Mapping[TopicPartition, RecordsToDelete],
        timeout_ms: int | None = None,
    ) -> dict[TopicPartition, int]:
        """Delete the records before an offset of each partition; return the new first offsets.

        The leaders are asked side by side, and followed if they move. The records of the other
        partitions are deleted even if one fails.

        Raises: the error of the first partition that failed, such as OffsetOutOfRangeError for an
        offset beyond the end, or PolicyViolationError if its topic is only compacted;
        IllegalArgumentError for anything but a dict of RecordsToDelete; KafkaConnectionError,
        KafkaTimeoutError or another error if no node answered within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: the nodes may delete the records nevertheless.
        Source: KIP-107.
        """
        given = dict_of(
            "records_to_delete",
            records_to_delete,
            "{TopicPartition: RecordsToDelete(before_offset)}",
            RecordsToDelete,
        )
        asked = {partition_of("records_to_delete", tp): each for tp, each in given.items()}

        async def ask(
            node: AskedNode, keys: list[TopicPartition]
        ) -> Mapping[TopicPartition, int | KafkaError]:
            request = _request(keys, asked, node.left_ms)
            return {
                TopicPartition(topic.name, each.partition_index): (
                    broker_error(
                        each.error_code, None, f"partition '{topic.name}-{each.partition_index}'"
                    )
                    or each.low_watermark
                )
                for topic in (await node.request(request)).topics
                for each in topic.partitions
            }

        requests = self._running()
        done = await requests.for_each(
            "delete_records()",
            asked,
            requests.routes.leader,
            ask,
            timeout_s=self._timeout_s(timeout_ms or None),
        )
        done.raise_first()
        return done.succeeded


def _request(
    keys: list[TopicPartition],
    records_to_delete: Mapping[TopicPartition, RecordsToDelete],
    timeout_ms: int,
) -> DeleteRecordsRequest:
    by_topic: dict[str, list[DeleteRecordsPartition]] = defaultdict(list)
    for key in keys:
        by_topic[key[0]].append(
            DeleteRecordsPartition(
                partition_index=key[1], offset=records_to_delete[key].before_offset
            )
        )
    topics = [DeleteRecordsTopic(name=name, partitions=parts) for name, parts in by_topic.items()]
    return DeleteRecordsRequest(topics=topics, timeout_ms=timeout_ms)


__all__ = ["DeleteRecordsCalls"]
