"""A bare transactional producer on one broker or another, request by request; it retries only what
a real broker may still be busy with.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import ConcurrentTransactions
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.testing.broker.bench import WireClient, batch

SETTLES_WITHIN_S = 60
LATEST, MAX_TIMESTAMP = -1, -3
NOT_THERE_YET = {14, 15, 16}
NOBODY = (-1, -1)
MINE = "<mine>"
"""The transactional id of the peer that asks."""
Ids = tuple[int, int]
"""Producer id and epoch."""


@dataclass(frozen=True)
class TransactionalKafka:
    """A broker, and the level of its feature transaction.version."""

    bootstrap_servers: str
    level: int

    @property
    def serves_v2(self) -> bool:
        """Whether it knows the requests of transactions V2, whatever the level."""
        return self.level > 0


class TxnPeer(WireClient):
    """A producer with a transactional id of its own; the ids it is given count from 0."""

    level = 2
    topic = ""
    topic_id = UUID(int=0)
    transactional_id = ""
    group = ""
    known_ids: list[int]

    @classmethod
    async def on(cls, kafka: TransactionalKafka, topic: str) -> Self:
        """Connect, with a new transactional id and a new group, when the coordinators are there."""
        peer = await cls.connect(kafka.bootstrap_servers)
        peer.level = kafka.level
        peer.topic = topic
        peer.transactional_id = f"tx-{secrets.token_hex(4)}"
        peer.group = f"g-{secrets.token_hex(4)}"
        for key_type, key in ((1, peer.transactional_id), (0, peer.group)):
            await peer.until_coordinated(key_type, key)
        await peer.until_led()
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
        peer.topic_id = (await peer.ask(request, 12)).topics[0].topic_id
        peer.known_ids = []
        return peer

    async def until_coordinated(self, key_type: int, key: str) -> None:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])

        async def code() -> int:
            return (await self.ask(request, 4)).coordinators[0].error_code

        # A real broker makes its own topics first, and loads them, and has no event for that.
        assert await patiently(code, NOT_THERE_YET) == 0
        if key_type == 1:
            loaded = EndTxnRequest(transactional_id=key, producer_id=0, producer_epoch=0)

            async def load_code() -> int:
                return (await self.ask(loaded, 0)).error_code

            assert await patiently(load_code, NOT_THERE_YET) == 49
            anybody = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1)

            async def id_code() -> int:
                return (await self.ask(anybody)).error_code

            assert await patiently(id_code, NOT_THERE_YET) == 0

    async def until_led(self) -> None:
        """Return when the partitions have leaders that know it."""
        wanted = [ListOffsetsPartition(partition_index=index, timestamp=-1) for index in range(2)]
        request = ListOffsetsRequest(
            replica_id=-1, topics=[ListOffsetsTopic(name=self.topic, partitions=wanted)]
        )

        async def code() -> int:
            answer = await self.ask(request, 7)
            return max(partition.error_code for partition in answer.topics[0].partitions)

        assert await patiently(code, {3, 5, 6}) == 0

    def told_ids(self, producer_id: int, epoch: int) -> Ids:
        """The ids as told, each id by its place among those told to this producer."""
        if producer_id < 0:
            return producer_id, epoch
        if producer_id not in self.known_ids:
            self.known_ids.append(producer_id)
        return self.known_ids.index(producer_id), epoch

    def real_id(self, told: int) -> int:
        """The id behind a place; what was never told is an id of somebody else."""
        return self.known_ids[told] if 0 <= told < len(self.known_ids) else told + 900_000

    def named(self, transactional_id: str) -> str:
        return self.transactional_id if transactional_id == MINE else transactional_id

    # What a producer asks…

    async def init(
        self,
        claim: Ids = NOBODY,
        *,
        version: int = 5,
        timeout_ms: int = 60_000,
        transactional_id: str = MINE,
    ) -> tuple[int, Ids]:
        """(error, ids), as told at the first try."""
        request = InitProducerIdRequest(
            transactional_id=self.named(transactional_id),
            transaction_timeout_ms=timeout_ms,
            producer_id=claim[0] if claim[0] < 0 else self.real_id(claim[0]),
            producer_epoch=claim[1],
        )
        answer = await self.ask(request, version)
        return answer.error_code, self.told_ids(answer.producer_id, answer.producer_epoch)

    async def settled_init(self, claim: Ids = NOBODY, **options: Any) -> tuple[int, Ids]:
        """As `init`, once the transaction before is over."""
        ids = NOBODY

        async def code() -> int:
            nonlocal ids
            error, ids = await self.init(claim, **options)
            return error

        return await patiently(code), ids

    async def add(
        self,
        ids: Ids,
        *partitions: int,
        topic: str | None = None,
        version: int = 3,
        transactional_id: str = MINE,
    ) -> list[int]:
        """The error of each partition, once the transaction before is over."""
        names = [TopicPartition(topic or self.topic, index) for index in partitions or (0,)]
        return await self.add_all(ids, names, version=version, transactional_id=transactional_id)

    async def add_all(
        self,
        ids: Ids,
        partitions: list[TopicPartition],
        *,
        version: int = 3,
        transactional_id: str = MINE,
    ) -> list[int]:
        topics: dict[str, list[int]] = {}
        for topic_partition in partitions:
            topics.setdefault(topic_partition.topic, []).append(topic_partition.partition)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.named(transactional_id),
            v3_and_below_producer_id=self.real_id(ids[0]),
            v3_and_below_producer_epoch=ids[1],
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=name, partitions=indexes)
                for name, indexes in topics.items()
            ],
        )
        codes: dict[TopicPartition, int] = {}

        async def code() -> int:
            answer = await self.ask(request, version)
            for topic in answer.results_by_topic_v3_and_below:
                for result in topic.results_by_partition:
                    codes[TopicPartition(topic.name, result.partition_index)] = (
                        result.partition_error_code
                    )
            return max(codes.values())

        await patiently(code)
        return [codes[topic_partition] for topic_partition in partitions]

    async def add_offsets(
        self,
        ids: Ids,
        *,
        version: int = 3,
        group: str | None = None,
        transactional_id: str = MINE,
    ) -> int:
        request = AddOffsetsToTxnRequest(
            transactional_id=self.named(transactional_id),
            producer_id=self.real_id(ids[0]),
            producer_epoch=ids[1],
            group_id=self.group if group is None else group,
        )

        async def code() -> int:
            return (await self.ask(request, version)).error_code

        return await patiently(code)

    async def produce(
        self,
        ids: Ids,
        sequence: int,
        *,
        version: int = 11,
        partition: int = 0,
        is_transactional: bool = True,
        transactional_id: str | None = MINE,
    ) -> tuple[int, int]:
        """(error, base offset) of a batch of one, once the transaction before is over."""
        # A record from the past and a marker of now would lie in different segments of a real log.
        data = batch(
            b"v",
            timestamps=[int(SYSTEM_CLOCK.time() * 1000)],
            producer=(self.real_id(ids[0]), ids[1], sequence),
            is_transactional=is_transactional,
        )
        request = ProduceRequest(
            transactional_id=None if transactional_id is None else self.named(transactional_id),
            acks=-1,
            timeout_ms=5000,
            topic_data=[
                TopicProduceData(
                    name=self.topic,
                    topic_id=self.topic_id if version >= 13 else UUID(int=0),
                    partition_data=[PartitionProduceData(index=partition, records=data)],
                )
            ],
        )
        offset = -1

        async def code() -> int:
            nonlocal offset
            answer = (await self.ask(request, version)).responses[0].partition_responses[0]
            offset = answer.base_offset
            return answer.error_code

        return await patiently(code, {19, ConcurrentTransactions.errno}), offset

    async def produce_all(
        self, *batches: bytes, transactional_id: str | None, version: int = 9
    ) -> set[int]:
        """The errors of one batch for each partition, at the first try."""
        data = [PartitionProduceData(index=i, records=records) for i, records in enumerate(batches)]
        request = ProduceRequest(
            transactional_id=None if transactional_id is None else self.named(transactional_id),
            acks=-1,
            timeout_ms=5000,
            topic_data=[TopicProduceData(name=self.topic, partition_data=data)],
        )
        (topic,) = (await self.ask(request, version)).responses
        return {partition.error_code for partition in topic.partition_responses}

    async def commit_offset(
        self,
        ids: Ids,
        offset: int = 1,
        *,
        version: int = 3,
        partition: int = 0,
        topic: str | None = None,
        group: str | None = None,
        metadata: str = "",
        transactional_id: str = MINE,
        **member: Any,
    ) -> int:
        request = TxnOffsetCommitRequest(
            transactional_id=self.named(transactional_id),
            group_id=self.group if group is None else group,
            producer_id=self.real_id(ids[0]),
            producer_epoch=ids[1],
            topics=[
                TxnOffsetCommitRequestTopic(
                    name=topic or self.topic,
                    topic_id=UUID(int=77) if topic else self.topic_id,
                    partitions=[
                        TxnOffsetCommitRequestPartition(
                            partition_index=partition,
                            committed_offset=offset,
                            committed_metadata=metadata,
                        )
                    ],
                )
            ],
            **member,
        )

        async def code() -> int:
            answer = await self.ask(request, version)
            return answer.topics[0].partitions[0].error_code

        return await patiently(code)

    async def end(
        self,
        ids: Ids,
        *,
        commit: bool = True,
        version: int = 4,
        transactional_id: str = MINE,
    ) -> tuple[int, Ids]:
        """(error, ids), once the transaction before is over."""
        request = EndTxnRequest(
            transactional_id=self.named(transactional_id),
            producer_id=self.real_id(ids[0]),
            producer_epoch=ids[1],
            committed=commit,
        )
        told = NOBODY

        async def code() -> int:
            nonlocal told
            answer = await self.ask(request, version)
            told = self.told_ids(answer.producer_id, answer.producer_epoch)
            return answer.error_code

        return await patiently(code), told

    # What anybody sees…

    async def offset_at(self, timestamp: int, *, committed: bool) -> int:
        """The offset in partition 0 for a timestamp, or one of Kafka's special numbers."""
        wanted = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=int(committed),
            topics=[ListOffsetsTopic(name=self.topic, partitions=[wanted])],
        )
        return (await self.ask(request, 7)).topics[0].partitions[0].offset

    async def ends(self) -> tuple[int, int]:
        """(last stable offset, high watermark)"""
        return (
            await self.offset_at(LATEST, committed=True),
            await self.offset_at(LATEST, committed=False),
        )

    async def settled_ends(self, at_least: int = 0) -> tuple[int, int]:
        """As `ends`, when every transaction of the partition has its marker."""
        async with asyncio.timeout(SETTLES_WITHIN_S):
            while (ends := await self.ends())[0] != ends[1] or ends[1] < at_least:
                await asyncio.sleep(0.01)
        return ends

    async def committed(self, *, stable: bool = True) -> tuple[int, int]:
        """(error, offset) of the group in partition 0."""
        topic = OffsetFetchRequestTopics(name=self.topic, partition_indexes=[0])
        request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id=self.group, topics=[topic])],
            require_stable=stable,
        )
        (found,) = (await self.ask(request, 8)).groups[0].topics[0].partitions
        return found.error_code, found.committed_offset

    async def all_committed(self) -> list[tuple[int, int, int]]:
        """(partition, error, offset) of everything the group has committed."""
        request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id=self.group, topics=None)], require_stable=True
        )
        (group,) = (await self.ask(request, 8)).groups
        return sorted(
            (found.partition_index, found.error_code, found.committed_offset)
            for topic in group.topics
            for found in topic.partitions
        )

    async def settled_committed(self) -> tuple[int, int]:
        """As `committed`, when no transaction can change it any more."""
        found = NOBODY

        async def code() -> int:
            nonlocal found
            found = await self.committed()
            return found[0]

        await patiently(code, {88})
        return found


async def patiently(
    ask: Callable[[], Awaitable[int]],
    passing: set[int] | frozenset[int] = frozenset({ConcurrentTransactions.errno}),
) -> int:
    """Ask until the error is not one of those that pass."""
    async with asyncio.timeout(SETTLES_WITHIN_S):
        while (code := await ask()) in passing:
            await asyncio.sleep(0.02)
    return code
