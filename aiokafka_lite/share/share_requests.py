"""Builds ShareFetch and ShareAcknowledge requests, and reads the partitions of their responses.

Does not wait. Source: KIP-932.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar
from uuid import UUID

from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.protocol.messages._share import AcknowledgementBatch
from aiokafka_lite.protocol.messages.share_acknowledge import (
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from aiokafka_lite.protocol.messages.share_fetch import (
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchRequest,
)
from aiokafka_lite.share.held_records import AckBatch
from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.share.share_session import SessionChange, TopicIdPartition

T = TypeVar("T")
Batches = Mapping[TopicPartition, list[AckBatch]]


class ShareRequests:
    """Builds the requests of one member."""

    def __init__(self, config: ShareConsumerConfig, member_id: str) -> None:
        self._config = config
        self._member_id = member_id

    def fetch(
        self,
        change: SessionChange,
        batches: Batches,
        topic_ids: Mapping[str, UUID],
        *,
        waits: bool,
        most: int | None = None,
    ) -> ShareFetchRequest:
        """Return a fetch that also acknowledges. `waits`: the broker may hold the answer back.
        `most`: how many records it may lock, if they are less than `max_poll_records`.
        """
        config = self._config
        limit = config.max_poll_records if most is None else min(most, config.max_poll_records)
        by_partition = _by_id(batches, topic_ids)
        for each in change.added:
            by_partition.setdefault(each, [])
        return ShareFetchRequest(
            group_id=config.group_id,
            member_id=self._member_id,
            share_session_epoch=change.epoch,
            max_wait_ms=config.fetch_max_wait_ms if waits else 0,
            min_bytes=config.fetch_min_bytes,
            max_bytes=config.fetch_max_bytes,
            max_records=limit,
            batch_size=limit,
            share_acquire_mode=int(config.is_limited),
            topics=[
                FetchTopic(
                    topic_id=topic_id,
                    partitions=[
                        FetchPartition(partition_index=index, acknowledgement_batches=_wire(acks))
                        for index, acks in partitions.items()
                    ],
                )
                for topic_id, partitions in _by_topic(by_partition).items()
            ],
            forgotten_topics_data=[
                ForgottenTopic(topic_id=topic_id, partitions=list(partitions))
                for topic_id, partitions in _by_topic(dict.fromkeys(change.forgotten)).items()
            ],
        )

    def acknowledge(
        self, epoch: int, batches: Batches, topic_ids: Mapping[str, UUID], *, is_renewal: bool
    ) -> ShareAcknowledgeRequest:
        """Return a request that only acknowledges."""
        return ShareAcknowledgeRequest(
            group_id=self._config.group_id,
            member_id=self._member_id,
            share_session_epoch=epoch,
            is_renew_ack=is_renewal,
            topics=[
                AcknowledgeTopic(
                    topic_id=topic_id,
                    partitions=[
                        AcknowledgePartition(
                            partition_index=index, acknowledgement_batches=_wire(acks)
                        )
                        for index, acks in partitions.items()
                    ],
                )
                for topic_id, partitions in _by_topic(_by_id(batches, topic_ids)).items()
            ],
        )


def _by_id(
    batches: Batches, topic_ids: Mapping[str, UUID]
) -> dict[TopicIdPartition, list[AckBatch]]:
    return {(topic_ids[tp.topic], tp.partition): acks for tp, acks in batches.items()}


def _by_topic(by_partition: Mapping[TopicIdPartition, T]) -> dict[UUID, dict[int, T]]:
    found: dict[UUID, dict[int, T]] = {}
    for (topic_id, partition), value in by_partition.items():
        found.setdefault(topic_id, {})[partition] = value
    return found


def _wire(batches: Iterable[AckBatch]) -> list[AcknowledgementBatch]:
    return [
        AcknowledgementBatch(
            first_offset=batch.first,
            last_offset=batch.last,
            acknowledge_types=batch.wire_types(),
        )
        for batch in sorted(batches, key=lambda batch: batch.first)
    ]


def released(ranges: Collection[tuple[int, int]], expires_at_s: float) -> list[AckBatch]:
    """Return what gives acquired offsets back that no user has seen."""
    return [
        AckBatch(
            first,
            bytearray([AcknowledgeType.RELEASE]) * (last - first + 1),
            by_user=False,
            expires_at_s=expires_at_s,
        )
        for first, last in ranges
    ]


__all__ = ["ShareRequests", "released"]
