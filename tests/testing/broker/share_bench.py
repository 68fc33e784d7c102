"""A share group "g" that reads topic "t", by its handlers and without a network."""

from collections.abc import Sequence
from typing import Any

from aiokafka_lite.protocol.messages._share import AcknowledgementBatch
from aiokafka_lite.protocol.messages.share_acknowledge import (
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
)
from aiokafka_lite.protocol.messages.share_fetch import (
    FetchPartition,
    FetchTopic,
    ShareFetchRequest,
    ShareFetchResponse,
)
from aiokafka_lite.protocol.messages.share_group_heartbeat import (
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from aiokafka_lite.testing.broker.handlers import (
    share_acknowledge,
    share_fetch,
    share_group_heartbeat,
)
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION, Session
from aiokafka_lite.testing.broker.state.groups.share_group import ShareGroup
from tests.testing.broker.bench import Bench, batch

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
Runs = Sequence[tuple[int, int, int]]


class ShareBench(Bench):
    """Members "a", "b", … send what a member would; the first one has joined."""

    def __init__(self, partitions: int = 1, records: int = 3, **options: Any) -> None:
        super().__init__(**options)
        self.read = self.topic("t", partitions)
        self.cluster.group_settings["g"] = {"share.auto.offset.reset": "earliest"}
        self.epochs: dict[str, int] = {}
        for partition in self.read.partitions if records else ():
            partition.append(batch(*(b"%d" % i for i in range(records))))
        self.heartbeat()
        self.heartbeat()

    @property
    def group(self) -> ShareGroup:
        found = self.groups.find_share("g")
        assert found is not None
        return found

    def set(self, name: str, value: str) -> None:
        self.cluster.group_settings["g"][f"share.{name}"] = value

    def heartbeat(self, member_id: str = "a", **fields: Any) -> ShareGroupHeartbeatResponse:
        request = ShareGroupHeartbeatRequest(
            **{
                "group_id": "g",
                "member_id": member_id,
                "member_epoch": 0,
                "subscribed_topic_names": ["t"],
                **fields,
            }
        )
        return self.ask(share_group_heartbeat.HANDLER, request, 1)

    def request(
        self,
        member_id: str = "a",
        *,
        acks: dict[int, Sequence[tuple[int, int, Sequence[int]]]] | None = None,
        **fields: Any,
    ) -> ShareFetchRequest:
        epoch = self.epochs.get(member_id, 0)
        partitions = [
            FetchPartition(
                partition_index=index, acknowledgement_batches=_batches((acks or {}).get(index, ()))
            )
            for index in (range(len(self.read.partitions)) if epoch == 0 else (acks or {}))
        ]
        return ShareFetchRequest(
            **{
                "group_id": "g",
                "member_id": member_id,
                "share_session_epoch": epoch,
                "max_wait_ms": 0,
                "min_bytes": 1,
                "max_records": 500,
                "batch_size": 500,
                "topics": [FetchTopic(topic_id=self.read.topic_id, partitions=partitions)],
                "forgotten_topics_data": [],
                **fields,
            }
        )

    def fetch(
        self, member_id: str = "a", *, session: Session = OPEN_SESSION, **fields: Any
    ) -> ShareFetchResponse:
        answer = self.ask(
            share_fetch.HANDLER, self.request(member_id, **fields), 2, session=session
        )
        if not answer.error_code:
            self.epochs[member_id] = self.epochs.get(member_id, 0) + 1
        return answer

    def acquire(self, member_id: str = "a", **fields: Any) -> dict[int, Runs]:
        """Partition -> what a fetch has acquired of it."""
        return acquired(self.fetch(member_id, **fields))

    def acknowledge(
        self, *acks: tuple[int, int, int], member_id: str = "a", **fields: Any
    ) -> ShareAcknowledgeResponse:
        """Acknowledge records of partition 0: first, last, type."""
        batches = _batches([(first, last, [kind]) for first, last, kind in acks])
        partition = AcknowledgePartition(partition_index=0, acknowledgement_batches=batches)
        topic = AcknowledgeTopic(topic_id=self.read.topic_id, partitions=[partition])
        request = ShareAcknowledgeRequest(
            **{
                "group_id": "g",
                "member_id": member_id,
                "share_session_epoch": self.epochs.get(member_id, 0),
                "topics": [topic],
                **fields,
            }
        )
        answer = self.ask(share_acknowledge.HANDLER, request, 2)
        if not answer.error_code:
            self.epochs[member_id] += 1
        return answer

    def error(self, *acks: tuple[int, int, int], **fields: Any) -> int:
        """The error of acknowledging records of partition 0."""
        (topic,) = self.acknowledge(*acks, **fields).responses
        return topic.partitions[0].error_code


def acquired(answer: ShareFetchResponse) -> dict[int, Runs]:
    return {
        data.partition_index: [
            (each.first_offset, each.last_offset, each.delivery_count)
            for each in data.acquired_records
        ]
        for topic in answer.responses
        for data in topic.partitions
        if data.acquired_records
    }


def _batches(acks: Sequence[tuple[int, int, Sequence[int]]]) -> list[AcknowledgementBatch]:
    return [
        AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[*types])
        for first, last, types in acks
    ]


__all__ = ["ACCEPT", "REJECT", "RELEASE", "RENEW", "ShareBench", "acquired"]
