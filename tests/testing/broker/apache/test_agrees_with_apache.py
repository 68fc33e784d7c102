"""The same bare requests to the embedded broker and to real Apache Kafkas get the same answers.

What a rule of the protocol is, Apache Kafka decides; each number below was seen on all of them.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio
from confluent_kafka.admin import AdminClient

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.message_header import decode_response
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from aiokafka_lite.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from aiokafka_lite.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from aiokafka_lite.protocol.messages.describe_cluster import DescribeClusterRequest
from aiokafka_lite.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    TopicProduceData,
)
from aiokafka_lite.record.batch_header import assign_offsets, parse_header
from aiokafka_lite.record.control_record import ControlRecordType
from aiokafka_lite.record.memory_records import iter_batches
from tests.testing.broker.bench import WireClient, batch, marker

# The answers are the subject; how they come over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

BIG = 1 << 24


class Peer(WireClient):
    """A connection to one broker or another, and a topic of its own there."""

    topic = ""
    topic_id = UUID(int=0)

    async def create(self, partitions: int = 1, **settings: str) -> None:
        """Create the topic, and return when it can be used; underscores stand for dots."""
        configs = [
            CreatableTopicConfig(name=name.replace("_", "."), value=value)
            for name, value in settings.items()
        ]
        topic = CreatableTopic(
            name=self.topic, num_partitions=partitions, replication_factor=1, configs=configs
        )
        created = await self.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000))
        assert created.topics[0].error_code == 0, created
        self.topic_id = created.topics[0].topic_id
        # A real broker knows of a leader before it is one, and has no event to wait for.
        async with asyncio.timeout(30):
            while await self.lacks_leaders(partitions):
                await asyncio.sleep(0.01)

    async def lacks_leaders(self, partitions: int) -> bool:
        wanted = [ListOffsetsPartition(partition_index=i, timestamp=-1) for i in range(partitions)]
        topic = ListOffsetsTopic(name=self.topic, partitions=wanted)
        answer = await self.ask(ListOffsetsRequest(replica_id=-1, topics=[topic]), 7)
        return any(partition.error_code for partition in answer.topics[0].partitions)

    async def produce(
        self, *records: bytes | None, acks: int = -1, version: int = 9
    ) -> PartitionProduceResponse:
        """One batch per partition; the answer about the last one."""
        return (
            (await self.ask(self.produce_request(*records, acks=acks), version))
            .responses[0]
            .partition_responses[-1]
        )

    def produce_request(self, *records: bytes | None, acks: int = -1) -> ProduceRequest:
        data = [PartitionProduceData(index=i, records=r) for i, r in enumerate(records)]
        topic = TopicProduceData(name=self.topic, partition_data=data)
        return ProduceRequest(acks=acks, timeout_ms=60_000, topic_data=[topic])

    async def fetch(
        self,
        *offsets: int,
        version: int = 16,
        partition_max_bytes: int = BIG,
        epoch: int = -1,
        forget: int | None = None,
        **fields: Any,
    ) -> FetchResponse:
        wanted = [
            FetchPartition(
                partition=i,
                fetch_offset=offset,
                partition_max_bytes=partition_max_bytes,
                current_leader_epoch=epoch,
            )
            for i, offset in enumerate(offsets)
        ]
        named: dict[str, Any] = (
            {"topic_id": self.topic_id} if version >= 13 else {"topic": self.topic}
        )
        request = FetchRequest(
            **{"max_wait_ms": 0, "min_bytes": 1, "max_bytes": BIG, **fields},
            topics=[FetchTopic(**named, partitions=wanted)] if wanted else [],
            forgotten_topics_data=[]
            if forget is None
            else [ForgottenTopic(**named, partitions=[forget])],
        )
        return await self.ask(request, version)

    async def offset(self, timestamp: int, version: int = 9, **fields: Any) -> tuple[int, ...]:
        """(error, offset, timestamp, epoch)"""
        wanted = ListOffsetsPartition(partition_index=0, timestamp=timestamp, **fields)
        request = ListOffsetsRequest(
            replica_id=-1, topics=[ListOffsetsTopic(name=self.topic, partitions=[wanted])]
        )
        (found,) = (await self.ask(request, version)).topics[0].partitions
        return found.error_code, found.offset, found.timestamp, found.leader_epoch


@pytest_asyncio.fixture
async def peer(any_kafka: str, topic_name: str) -> AsyncIterator[Peer]:
    async with await Peer.connect(any_kafka) as peer:
        peer.topic = topic_name.replace("[", "-").replace("]", "-")
        yield peer


def partitions(response: FetchResponse) -> list[PartitionData]:
    return [data for topic in response.responses for data in topic.partitions]


def sizes(response: FetchResponse) -> list[tuple[int, int]]:
    """(partition, bytes of records) of each partition told."""
    return [(data.partition_index, len(data.records or b"")) for data in partitions(response)]


def told(response: FetchResponse) -> list[tuple[int, int, int, int, int]]:
    """(partition, error, high watermark, last stable offset, log start)"""
    return [
        (
            data.partition_index,
            data.error_code,
            data.high_watermark,
            data.last_stable_offset,
            data.log_start_offset,
        )
        for data in partitions(response)
    ]


# Versions…


async def test_an_unknown_version_of_api_versions(peer: Peer) -> None:
    """A version of ApiVersions that is not known is answered in version 0 (2f-6)."""
    peer.writer.write(bytes.fromhex("0000000e 0012 0063 00000009 0001 78 00 01 01 00"))
    correlation_id, answer = decode_response(ApiVersionsResponse, await peer.receive_frame(), 0)
    assert (correlation_id, answer.error_code) == (9, 35)
    assert [(key.api_key, key.min_version) for key in answer.api_keys] == [(18, 0)]


async def test_an_unknown_version_of_anything_else(peer: Peer) -> None:
    peer.writer.write(bytes.fromhex("0000000e 0003 0063 00000009 0001 78 00 01 01 00"))
    assert await peer.is_closed_by_peer()


async def test_produce_versions_that_are_advertised(peer: Peer) -> None:
    nameless = await peer.ask(ApiVersionsRequest(), 3)
    assert (nameless.error_code, nameless.api_keys) == (42, [])
    named = ApiVersionsRequest(client_software_name="x", client_software_version="1")
    answer = await peer.ask(named, 3)
    (produce,) = [key for key in answer.api_keys if key.api_key == ApiKey.PRODUCE]
    assert produce.min_version == 0


async def test_who_means_another_node_is_told_so(peer: Peer) -> None:
    """From version 5 on ApiVersions names cluster and node together, or neither (KIP-1242)."""
    software: dict[str, Any] = {"client_software_name": "x", "client_software_version": "1"}
    told = await peer.ask(ApiVersionsRequest(**software), 3)
    (own,) = [key for key in told.api_keys if key.api_key == ApiKey.API_VERSIONS]
    if own.max_version < 5:
        return  # Kafka 3.9
    cluster_id = (await peer.ask(DescribeClusterRequest(), 1)).cluster_id
    cases = (
        (cluster_id, 1, 0),
        (cluster_id, 2, 129),
        ("other", 1, 129),
        ("", 1, 129),
        (cluster_id, -1, 42),
        (None, 1, 42),
        (None, -1, 0),
    )
    for cluster, node_id, code in cases:
        request = ApiVersionsRequest(**software, cluster_id=cluster, node_id=node_id)
        answer = await peer.ask(request, 5)
        assert (answer.error_code, bool(answer.api_keys)) == (code, code == 0), (cluster, node_id)


# Produce…


async def test_sequences(peer: Peer) -> None:
    """Duplicates keep their offset; gaps and old epochs are refused (KIP-98)."""
    await peer.create()

    async def send(epoch: int, sequence: int, count: int = 1) -> tuple[int, int]:
        values = [b"v"] * count
        answer = await peer.produce(batch(*values, producer=(4711, epoch, sequence)))
        return answer.error_code, answer.base_offset

    assert await send(1, 0, 2) == (0, 0)
    assert await send(1, 2) == (0, 2)
    assert await send(1, 0, 2) == (0, 0)
    assert await send(1, 4) == (45, -1)
    assert await send(0, 3) == (47, -1)
    for sequence in range(3, 8):
        assert await send(1, sequence) == (0, sequence)
    assert await send(1, 2) == (45, -1)
    assert await send(2, 8) == (45, -1)
    assert await send(2, 0) == (0, 8)


async def test_sequence_wraps(peer: Peer) -> None:
    """Sequence numbers wrap from 2^31-1 to 0 (2d-11)."""
    await peer.create()
    first = await peer.produce(batch(b"a", b"b", b"c", producer=(4712, 0, 2**31 - 2)))
    second = await peer.produce(batch(b"d", producer=(4712, 0, 1)))
    assert [(a.error_code, a.base_offset) for a in (first, second)] == [(0, 0), (0, 3)]


def flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def with_bytes(data: bytes, at: int, what: bytes) -> bytes:
    """The batch with other bytes in its header, and a CRC that fits."""
    changed = bytearray(data)
    changed[at : at + len(what)] = what
    assign_offsets(changed, 0, 0, 1)
    return bytes(changed)


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (flipped(batch(b"a")), 2),
        (batch(b"a") + batch(b"b"), 87),
        (marker(7, ControlRecordType.COMMIT), 53),
        (with_bytes(marker(7, ControlRecordType.COMMIT), 21, b"\0\x20"), 87),
        (with_bytes(batch(b"a" * 50), 57, b"\0\0\0\2"), 87),
        (batch(b"a" * 2_000_000), 10),
    ],
    ids=["crc", "two batches", "transaction", "control batch", "count", "too large"],
)
async def test_batches_that_are_refused(peer: Peer, records: bytes, code: int) -> None:
    await peer.create()
    answer = await peer.produce(records)
    assert (answer.error_code, answer.base_offset) == (code, -1)


async def test_zstd_in_an_old_version(peer: Peer) -> None:
    await peer.create()
    data = batch(b"a" * 1000, compression=CompressionType.ZSTD)
    assert (await peer.produce(data, version=6)).error_code == 76
    assert (await peer.produce(data, version=7)).error_code == 0


async def test_acks_that_do_not_exist(peer: Peer) -> None:
    await peer.create()
    assert (await peer.produce(batch(), acks=2)).error_code == 21


async def test_partitions_that_do_not_exist(peer: Peer) -> None:
    await peer.create()
    assert (await peer.produce(batch(), batch())).error_code == 3


async def test_acks_0_with_an_error(peer: Peer) -> None:
    await peer.create()
    peer.send(peer.produce_request(flipped(batch()), acks=0), 9)
    assert await peer.is_closed_by_peer()


async def test_log_append_time(peer: Peer) -> None:
    await peer.create(message_timestamp_type="LogAppendTime")
    answer = await peer.produce(batch(b"a", b"b"))
    assert answer.log_append_time_ms > 1_600_000_000_000
    (data,) = partitions(await peer.fetch(0))
    header = parse_header(data.records or b"")
    assert (header.base_timestamp, header.timestamp_type) == (1000, 1)
    assert header.max_timestamp == answer.log_append_time_ms
    assert header.partition_leader_epoch == 0
    assert (await peer.offset(-3))[1:3] == (0, answer.log_append_time_ms)


# Fetch…


async def test_limits_of_a_fetch(peer: Peer) -> None:
    """The limits of a fetch are soft, and a trailing batch is cut anywhere (A4)."""
    await peer.create(3)
    size = len(batch(b"x"))
    for _ in range(3):
        await peer.produce(batch(b"x"), batch(b"x"), batch(b"x"))
    assert sizes(await peer.fetch(0, 0, 0, max_bytes=1)) == [(0, size), (1, 0), (2, 0)]
    assert sizes(await peer.fetch(3, 1, 0, max_bytes=1)) == [(0, 0), (1, size), (2, 0)]
    limited = await peer.fetch(0, 0, 0, partition_max_bytes=1)
    assert sizes(limited) == [(0, size), (1, 0), (2, 0)]
    limited = await peer.fetch(0, 0, 0, partition_max_bytes=size + 7)
    assert sizes(limited) == [(0, size + 7), (1, size + 7), (2, size + 7)]
    limited = await peer.fetch(0, 0, 0, max_bytes=4 * size + 7)
    assert sizes(limited) == [(0, 3 * size), (1, size + 7), (2, 0)]
    limited = await peer.fetch(0, 0, 0, max_bytes=4 * size - 1)
    assert sizes(limited) == [(0, 3 * size), (1, 0), (2, 0)]


async def test_a_fetch_in_the_middle_of_a_batch(peer: Peer) -> None:
    await peer.create()
    await peer.produce(batch(b"a", b"b", b"c"))
    await peer.produce(batch(b"d"))
    (data,) = partitions(await peer.fetch(1))
    assert [entry.base_offset for entry in iter_batches(data.records or b"")] == [0, 3]


async def test_offsets_and_epochs_of_a_fetch(peer: Peer) -> None:
    await peer.create()
    await peer.produce(batch(b"a"))
    assert told(await peer.fetch(0)) == [(0, 0, 1, 1, 0)]
    assert told(await peer.fetch(1)) == [(0, 0, 1, 1, 0)]
    assert told(await peer.fetch(2)) == [(0, 1, -1, -1, -1)]
    assert told(await peer.fetch(0, epoch=0)) == [(0, 0, 1, 1, 0)]
    assert told(await peer.fetch(0, epoch=7)) == [(0, 75, -1, -1, -1)]
    assert told(await peer.fetch(0, 0))[1] == (1, 3, -1, -1, -1)
    (data,) = partitions(await peer.fetch(1))
    assert (data.records, data.aborted_transactions) == (b"", None)
    (data,) = partitions(await peer.fetch(0, isolation_level=1))
    assert data.aborted_transactions == []


async def test_topics_that_a_fetch_does_not_know(peer: Peer) -> None:
    peer.topic_id = UUID(int=77)
    (data,) = partitions(await peer.fetch(0))
    assert data.error_code == 100
    (data,) = partitions(await peer.fetch(0, version=12))
    assert data.error_code == 3


async def test_a_fetch_session(peer: Peer) -> None:
    """A fetch session goes the same way on both brokers, request by request (D2, 2a-2)."""
    await peer.create(2)
    await peer.produce(batch(b"a"), batch(b"a"))
    opened = await peer.fetch(0, 1, session_epoch=0)
    assert [entry[0] for entry in sizes(opened)] == [0, 1]
    session: dict[str, Any] = {"session_id": opened.session_id}
    assert opened.session_id > 0
    answer = await peer.fetch(1, **session, session_epoch=1)
    assert (answer.session_id, sizes(answer)) == (opened.session_id, [])
    await peer.produce(batch(b"a"), batch(b"a"))
    answer = await peer.fetch(**session, session_epoch=2, max_bytes=1)
    assert sizes(answer) == [(0, len(batch(b"a"))), (1, 0)]
    # Partition 0 gave records and is last now.
    answer = await peer.fetch(**session, session_epoch=3, max_bytes=1)
    assert sizes(answer) == [(1, len(batch(b"a")))]
    wrong = await peer.fetch(**session, session_epoch=3)
    assert (wrong.error_code, wrong.session_id, wrong.responses) == (71, 0, [])
    wrong = await peer.fetch(**session, session_epoch=4, version=12)
    assert (wrong.error_code, wrong.session_id) == (106, 0)
    answer = await peer.fetch(**session, session_epoch=4, forget=1)
    assert [entry[0] for entry in sizes(answer)] == [0]
    closed = await peer.fetch(**session, session_epoch=-1)
    assert (closed.error_code, closed.session_id, closed.responses) == (0, 0, [])
    gone = await peer.fetch(**session, session_epoch=5)
    assert (gone.error_code, gone.session_id) == (70, 0)


async def test_a_session_that_loses_its_last_partition(peer: Peer) -> None:
    await peer.create()
    opened = await peer.fetch(0, session_epoch=0)
    session: dict[str, Any] = {"session_id": opened.session_id}
    answer = await peer.fetch(**session, session_epoch=1, forget=0)
    assert (answer.error_code, answer.session_id, answer.responses) == (0, 0, [])
    assert (await peer.fetch(**session, session_epoch=2)).error_code == 70


async def test_errors_in_a_session_are_told_until_they_end(peer: Peer) -> None:
    await peer.create()
    opened = await peer.fetch(5, session_epoch=0)
    session: dict[str, Any] = {"session_id": opened.session_id}
    assert told(opened) == [(0, 1, -1, -1, -1)]
    assert told(await peer.fetch(**session, session_epoch=1)) == [(0, 1, -1, -1, -1)]
    assert told(await peer.fetch(0, **session, session_epoch=2)) == [(0, 0, 0, 0, 0)]
    assert told(await peer.fetch(**session, session_epoch=3)) == []


async def test_a_fetch_waits_for_bytes_it_may_bring(peer: Peer) -> None:
    await peer.create()
    await peer.produce(batch(b"x"))
    loop = asyncio.get_running_loop()
    began = loop.time()
    assert partitions(await peer.fetch(0, min_bytes=1, max_wait_ms=5000))[0].records
    assert loop.time() - began < 3
    began = loop.time()
    answer = await peer.fetch(0, min_bytes=2, max_wait_ms=5000, partition_max_bytes=1)
    assert len(partitions(answer)[0].records or b"") == len(batch(b"x"))
    assert loop.time() - began < 3
    began = loop.time()
    await peer.produce(batch(b"x"))
    answer = await peer.fetch(0, min_bytes=75, max_wait_ms=300, partition_max_bytes=70)
    assert len(partitions(answer)[0].records or b"") == len(batch(b"x"))
    assert loop.time() - began >= 0.25


# Offsets…


async def test_offsets_by_time_and_at_the_ends(peer: Peer) -> None:
    await peer.create()
    assert await peer.offset(-3) == (0, -1, -1, -1)
    await peer.produce(batch(b"a", b"b", timestamps=(100, 300)))
    await peer.produce(batch(b"c", b"d", timestamps=(200, 400)))
    assert await peer.offset(-1) == (0, 4, -1, 0)
    assert await peer.offset(-2) == (0, 0, -1, 0)
    assert await peer.offset(-3) == (0, 3, 400, 0)
    assert await peer.offset(-4) == (0, 0, -1, 0)
    assert await peer.offset(-5) == (0, -1, -1, -1)
    assert await peer.offset(0) == (0, 0, 100, 0)
    assert await peer.offset(150) == (0, 1, 300, 0)
    assert await peer.offset(301) == (0, 3, 400, 0)
    assert await peer.offset(401) == (0, -1, -1, -1)
    assert await peer.offset(-1, current_leader_epoch=5) == (75, -1, -1, -1)


async def test_special_timestamps_need_their_version(peer: Peer) -> None:
    await peer.create()
    for timestamp, first in ((-3, 7), (-4, 8), (-5, 9)):
        assert (await peer.offset(timestamp, version=first))[0] == 0
        assert (await peer.offset(timestamp, version=first - 1))[0] == 35


async def test_a_partition_asked_for_twice(peer: Peer) -> None:
    await peer.create()
    wanted = [ListOffsetsPartition(partition_index=0, timestamp=-1)] * 2
    request = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name=peer.topic, partitions=wanted)]
    )
    answer = await peer.ask(request, 7)
    assert {p.error_code for t in answer.topics for p in t.partitions} == {42}


async def test_ends_of_leader_epochs(peer: Peer) -> None:
    """Both brokers answer the same end offset for each leader epoch (KIP-320)."""
    await peer.create()
    await peer.produce(batch(b"a", b"b"))

    async def end(epoch: int, partition: int = 0, current: int = -1) -> tuple[int, int, int]:
        wanted = OffsetForLeaderPartition(
            partition=partition, leader_epoch=epoch, current_leader_epoch=current
        )
        topic = OffsetForLeaderTopic(topic=peer.topic, partitions=[wanted])
        answer = await peer.ask(OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic]), 4)
        (found,) = answer.topics[0].partitions
        return found.error_code, found.leader_epoch, found.end_offset

    assert await end(0) == (0, 0, 2)
    assert await end(5) == (0, -1, -1)
    assert await end(0, partition=9) == (3, -1, -1)
    assert await end(0, current=9) == (75, -1, -1)


# Producers and coordinators…


async def test_producer_ids(peer: Peer) -> None:
    async def init(producer_id: int = -1, epoch: int = -1) -> tuple[int, int, int]:
        request = InitProducerIdRequest(
            transactional_id=None,
            transaction_timeout_ms=1000,
            producer_id=producer_id,
            producer_epoch=epoch,
        )
        async with asyncio.timeout(30):
            while (answer := await peer.ask(request, 4)).error_code == 14:
                await asyncio.sleep(0.01)  # a fresh broker has no ids to give out yet
        return answer.error_code, answer.producer_id, answer.producer_epoch

    first, second = await init(), await init()
    assert (first[0], first[2]) == (0, 0)
    assert second[1] > first[1]
    # An idempotent producer that brings its id gets another one.
    again = await init(second[1], 3)
    assert again[0] == again[2] == 0
    assert again[1] > second[1]
    assert (await init(second[1]))[0] == 42


async def test_coordinators_of_an_unknown_kind(peer: Peer) -> None:
    request = FindCoordinatorRequest(coordinator_keys=["g"], key_type=9)
    answer = await peer.ask(request, 4)
    assert [c.error_code for c in answer.coordinators] == [42]


# Topics…


async def test_topics_that_cannot_be_created(peer: Peer) -> None:
    await peer.create()

    def topic(name: str, partitions: int = 1, replicas: int = 1, **more: Any) -> CreatableTopic:
        return CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=replicas, **more
        )

    bad_config = [CreatableTopicConfig(name="max.message.bytes", value="-5")]
    placed = [CreatableReplicaAssignment(partition_index=0, broker_ids=[1])]
    gap = [CreatableReplicaAssignment(partition_index=1, broker_ids=[1])]
    unknown_node = [CreatableReplicaAssignment(partition_index=0, broker_ids=[77])]
    asked = {
        "exists": (topic(peer.topic), 36),
        "no partitions": (topic(f"{peer.topic}-a", partitions=0), 37),
        "replicas": (topic(f"{peer.topic}-b", replicas=9), 38),
        "config": (topic(f"{peer.topic}-c", configs=bad_config), 40),
        "name": (topic("a b"), 17),
        "placed": (topic(f"{peer.topic}-d", assignments=placed), 42),
        "gap": (topic(f"{peer.topic}-e", -1, -1, assignments=gap), 39),
        "node": (topic(f"{peer.topic}-f", -1, -1, assignments=unknown_node), 39),
    }
    request = CreateTopicsRequest(
        topics=[entry for entry, _ in asked.values()], timeout_ms=60_000, validate_only=True
    )
    answer = await peer.ask(request)
    codes = {result.name: result.error_code for result in answer.topics}
    assert codes == {entry.name: code for entry, code in asked.values()}
    twice = CreateTopicsRequest(
        topics=[topic("x"), topic("x")], timeout_ms=60_000, validate_only=True
    )
    assert {result.error_code for result in (await peer.ask(twice)).topics} == {42}


async def test_what_is_told_of_a_created_topic(peer: Peer) -> None:
    topic = CreatableTopic(name=peer.topic, num_partitions=2, replication_factor=-1)
    (result,) = (await peer.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000))).topics
    assert (result.error_code, result.error_message) == (0, None)
    assert (result.num_partitions, result.replication_factor) == (2, 1)
    assert result.topic_id != UUID(int=0)


async def test_partitions_that_cannot_be_added(peer: Peer) -> None:
    await peer.create(2)

    async def extend(name: str, count: int, *, validate_only: bool = False) -> int:
        request = CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name=name, count=count, assignments=None)],
            timeout_ms=60_000,
            validate_only=validate_only,
        )
        return (await peer.ask(request)).results[0].error_code

    assert await extend(peer.topic, 2) == 37
    assert await extend(peer.topic, 1) == 37
    assert await extend(f"{peer.topic}-unknown", 3) == 3
    assert await extend(peer.topic, 3, validate_only=True) == 0
    assert await extend(peer.topic, 3) == 0


async def test_topics_that_cannot_be_deleted(peer: Peer) -> None:
    await peer.create()

    async def delete(**fields: Any) -> int:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(**fields)], timeout_ms=60_000)
        return (await peer.ask(request, 6)).responses[0].error_code

    assert await delete(name=f"{peer.topic}-unknown") == 3
    assert await delete(name=None, topic_id=UUID(int=77)) == 100
    assert await delete(name=peer.topic, topic_id=peer.topic_id) == 42
    assert await delete(name=None, topic_id=peer.topic_id) == 0


async def test_topics_metadata_does_not_know(peer: Peer) -> None:
    async def ask(version: int, **fields: Any) -> tuple[int, str | None]:
        request = MetadataRequest(
            topics=[MetadataRequestTopic(**fields)], allow_auto_topic_creation=False
        )
        (topic,) = (await peer.ask(request, version)).topics
        return topic.error_code, topic.name

    assert await ask(12, name="unknown") == (3, "unknown")
    assert await ask(12, name="a b") == (17, "a b")
    assert await ask(12, name=None, topic_id=UUID(int=77)) == (100, None)
    assert await ask(4, name="unknown") == (3, "unknown")


async def test_what_metadata_tells_of_a_topic(peer: Peer) -> None:
    await peer.create()
    request = MetadataRequest(topics=[MetadataRequestTopic(name=peer.topic)])
    answer = await peer.ask(request, 12)
    (topic,) = answer.topics
    (partition,) = topic.partitions
    (node,) = answer.brokers
    assert (topic.topic_id, topic.is_internal) == (peer.topic_id, False)
    assert (partition.leader_id, partition.leader_epoch) == (node.node_id, 0)
    assert (partition.replica_nodes, partition.isr_nodes) == ([node.node_id], [node.node_id])
    assert partition.offline_replicas == []
    assert topic.topic_authorized_operations == -(2**31)
    request.include_topic_authorized_operations = True
    assert (await peer.ask(request, 12)).topics[0].topic_authorized_operations == 0xDF8


async def test_the_cluster(peer: Peer) -> None:
    answer = await peer.ask(DescribeClusterRequest(include_cluster_authorized_operations=True), 1)
    assert len(answer.brokers) == 1
    assert len(answer.cluster_id) == 22
    assert answer.cluster_authorized_operations == 0x1FA0
    assert (await peer.ask(DescribeClusterRequest(endpoint_type=2), 1)).error_code == 114
    assert (await peer.ask(DescribeClusterRequest(endpoint_type=9), 1)).error_code == 115


async def test_a_client_of_librdkafka_lists_all_topics(peer: Peer) -> None:
    """Its question for all topics has three bytes after its end."""
    await peer.create(3)
    host, port = peer.writer.get_extra_info("peername")[:2]

    def listed() -> int:
        admin = AdminClient({"bootstrap.servers": f"{host}:{port}"})
        return len(admin.list_topics(timeout=30).topics[peer.topic].partitions)

    assert await asyncio.to_thread(listed) == 3
