"""Rules of fetching that only show in what a broker receives: A2, A11, 2a-6, 2a-8, 2a-12, 2b-15."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from aiokafka_lite.cluster import connection_pool
from aiokafka_lite.consumer import consumer_config
from aiokafka_lite.consumer.fetch import fetcher
from aiokafka_lite.errors import (
    BrokerResponseError,
    CorruptRecordException,
    FencedLeaderEpochError,
    FetchSessionIdNotFound,
    InconsistentTopicIdError,
    KafkaStorageError,
    NotLeaderForPartitionError,
    OffsetNotAvailableError,
    RecordTooLargeError,
    ReplicaNotAvailableError,
    UnknownError,
    UnknownLeaderEpochError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.protocol.messages.fetch import FetchRequest, FetchResponse
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.handlers.fetch import PendingFetch
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import batch, batches, marker, tps, with_bad_crc
from tests.net.support.pool_bytes import idle_bytes, pooled_bytes
from tests.scenarios.consuming import (
    answers_are_there,
    consumer_of,
    embedded,
    eventually,
    fill,
    offsets,
    read,
)

P0, P1, P2 = tps(0, 1, 2)


def named(request: FetchRequest) -> list[tuple[int, int]]:
    """The partitions a request names, with their offsets."""
    return [
        (partition.partition, partition.fetch_offset)
        for topic in request.topics
        for partition in topic.partitions
    ]


def fetch_versions(broker: EmbeddedBroker) -> set[int]:
    return {
        received.api_version
        for received in broker.requests
        if isinstance(received.request, FetchRequest)
    }


def fetches_by_node(broker: EmbeddedBroker) -> Counter[int]:
    return Counter(r.node_id for r in broker.requests if isinstance(r.request, FetchRequest))


# Two fetches per poll…


@pytest.mark.parametrize("kind", ["getmany", "getone"])
async def test_a2_the_next_fetch_is_set_going_even_by_a_poll_that_raises(kind: str) -> None:
    """What stands aside holds up nobody: the other partition is asked for before the raise."""
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t") as consumer:
        broker.append(P0, with_bad_crc(batches(0, 2)))
        poll = consumer.getone() if kind == "getone" else consumer.getmany(timeout_ms=30_000)
        with pytest.raises(CorruptRecordException):
            await poll
        assert consumer.statistics().fetching_nodes == {1}
        await broker.wait_until(lambda: len(broker.requests_of(FetchRequest)) == 2)
        second = broker.requests_of(FetchRequest)[1]
        assert [topic.partitions for topic in second.forgotten_topics_data] == [[0]]


# Polls of named partitions…


async def test_getone_of_named_partitions_does_not_take_what_was_decoded_ahead_of_others() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 5)
        fill(broker, P1, 5)
        await consumer.seek_to_beginning()
        found = [await consumer.getone()]
        for named_one in (P1, P0, P1, P1, P0):
            found.append(await consumer.getone(named_one))
            assert found[-1].partition == named_one.partition
        found += [await consumer.getone() for _ in range(4)]
        assert [r.offset for r in found if r.partition == 0] == [0, 1, 2, 3, 4]
        assert [r.offset for r in found if r.partition == 1] == [0, 1, 2, 3, 4]


async def test_e4_a_fetch_of_markers_only_does_not_hide_the_records_behind_it() -> None:
    """Both are buffered, no answer is to come: the record is there for the asking."""
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t") as consumer:
        broker.append(P0, marker(0))
        fill(broker, P1, 1)
        await consumer.seek_to_beginning()
        await consumer.getmany()
        await answers_are_there(consumer)
        assert [f.topic_partition for f in consumer.statistics().buffered] == [P0, P1]
        broker.faults.stall(FetchRequest, times=None)
        record = await asyncio.wait_for(consumer.getone(), 30)
        assert (record.partition, record.offset) == (1, 0)
        assert await consumer.position(P0) == 1
        broker.faults.release()


# Topic ids…


async def test_2a_6_without_topic_ids_every_fetch_is_of_version_12_at_most() -> None:
    """Metadata of version 9 tells no ids; the incremental requests are capped like the first."""
    async with (
        embedded({"t": 2}, max_versions={MetadataRequest.api_key: 9}) as broker,
        consumer_of(broker, "t") as consumer,
    ):
        for first in (0, 2, 4):
            fill(broker, P0, 2)
            assert await read(consumer, 2) == {P0: [first, first + 1]}
        assert len(broker.requests_of(FetchRequest)) > 2
        assert broker.requests_of(FetchRequest)[-1].session_epoch > 0
        assert fetch_versions(broker) == {12}


# Sessions…


async def test_d1_each_node_has_a_session_of_its_own() -> None:
    """What one node says of its session is nothing to the other's."""
    async with (
        embedded({"t": 2}, nodes=2) as broker,
        consumer_of(broker, "t", fetch_max_wait_ms=5) as consumer,
    ):
        for tp in (P0, P1):
            fill(broker, tp, 2)
        await read(consumer, 4)
        await answers_are_there(consumer)
        broker.forget_requests()
        broker.faults.fail(FetchRequest, FetchSessionIdNotFound, node_id=broker.leader(P0))
        for tp in (P0, P1):
            fill(broker, tp, 2)
        assert await read(consumer, 4) == {P0: [2, 3], P1: [2, 3]}
        await answers_are_there(consumer)
        sessions: dict[int, list[FetchRequest]] = {1: [], 2: []}
        for received in broker.requests:
            if isinstance(received.request, FetchRequest):
                sessions[received.node_id].append(received.request)
        lost, kept = sessions[broker.leader(P0)], sessions[broker.leader(P1)]
        assert [request.session_epoch for request in lost[1:3]] == [0, 1]
        assert len({request.session_id for request in kept}) == 1
        first_epoch = kept[0].session_epoch
        epochs = [request.session_epoch for request in kept]
        assert epochs == list(range(first_epoch, first_epoch + len(kept)))
        assert kept[0].session_id not in {request.session_id for request in lost}


async def test_d2_of_500_partitions_only_those_that_change_are_named_and_forgotten() -> None:
    """Kept as a broker keeps it, the book of each session ends with every partition's position."""
    busy = [TopicPartition("t", number) for number in range(0, 500, 25)]
    async with (
        embedded({"t": 500}, nodes=3) as broker,
        consumer_of(broker, "t", fetch_max_wait_ms=5, max_poll_records=7) as consumer,
    ):
        await consumer.getmany(timeout_ms=1000)
        for tp in busy:
            fill(broker, tp, 3, 3)
        assert await read(consumer, 120) == {tp: [0, 1, 2, 3, 4, 5] for tp in busy}
        before = fetches_by_node(broker)
        while any((fetches_by_node(broker) - before)[node] < 4 for node in (1, 2, 3)):
            assert await consumer.getmany(timeout_ms=20) == {}
        books: dict[int, dict[int, int]] = {}
        sizes: dict[int, list[int]] = {}
        for received in broker.requests:
            request = received.request
            if not isinstance(request, FetchRequest):
                continue
            node = received.node_id
            forgotten = [n for topic in request.forgotten_topics_data for n in topic.partitions]
            if request.session_epoch == 0:
                books[node] = {}
            for number in forgotten:
                del books[node][number]
            books[node].update(named(request))
            sizes.setdefault(node, []).append(len(named(request)) + len(forgotten))
        assert sorted(sizes) == [1, 2, 3]
        for node, (first, *later) in sizes.items():
            assert first == sum(broker.leader(TopicPartition("t", n)) == node for n in range(500))
            assert sum(later) <= 4 * len(busy), "each comes back as new, and is forgotten, twice"
            assert later[-2:] == [0, 0], "nothing changes, nothing is said"
        positions = {tp.partition: await consumer.position(tp) for tp in consumer.assignment()}
        assert {n: offset for book in books.values() for n, offset in book.items()} == positions


async def test_2a_12_a_node_all_of_whose_partitions_are_buffered_is_asked_nothing() -> None:
    """Not even by an empty request, which would be a change of the session and cost a round."""
    async with (
        embedded({"t": 2}, nodes=2) as broker,
        consumer_of(broker, "t", max_poll_records=1, fetch_max_wait_ms=20_000) as consumer,
    ):
        fill(broker, P0, 5)
        fill(broker, P1, 5)
        await consumer.seek_to_beginning()
        await read(consumer, 8)
        await broker.wait_until(lambda: len(broker.requests_of(FetchRequest)) == 3)
        assert len(consumer.statistics().buffered) == 1
        busy = broker.leader(consumer.statistics().buffered[0].topic_partition)
        asked = [r.node_id for r in broker.requests if isinstance(r.request, FetchRequest)]
        assert sorted(asked) == sorted([1, 2, 3 - busy])


async def test_2a_8_a_throttled_empty_answer_is_waited_out_and_begun_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An empty throttled answer says nothing of the partitions and is waited out (KIP-219)."""
    answer, throttled = PendingFetch.answer, [FetchResponse(throttle_time_ms=3000)] * 2

    def answer_or_throttle(fetch: PendingFetch, found: Any) -> FetchResponse:
        return throttled.pop() if throttled else answer(fetch, found)

    monkeypatch.setattr(PendingFetch, "answer", answer_or_throttle)
    async with embedded({"t": 1}) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        async with consumer_of(broker, "t", clock=clock) as consumer:
            fill(broker, P0, 2)
            assert offsets(await consumer.getmany(timeout_ms=60_000)) == {0: [0, 1]}
            assert clock.monotonic() >= 5.9
            requests = broker.requests_of(FetchRequest)[:3]
            assert [(r.session_id, r.session_epoch) for r in requests] == [(0, 0)] * 3
            assert [named(r) for r in requests] == [[(0, 0)]] * 3


async def test_2a_8_a_throttled_empty_incremental_answer_keeps_the_session() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        # The broker answers, in real time, before the clock jumps to the end of the request's.
        async with consumer_of(broker, "t", clock=clock, fetch_max_wait_ms=5) as consumer:
            fill(broker, P0, 2)
            await read(consumer, 2)
            await answers_are_there(consumer)
            broker.forget_requests()
            broker.faults.throttle(FetchRequest, 3000)
            poll = asyncio.create_task(consumer.getmany(timeout_ms=60_000))
            await eventually(consumer, lambda: not consumer.statistics().fetching_nodes)
            fill(broker, P0, 1)
            assert offsets(await poll) == {0: [2]}
            epochs = [r.session_epoch for r in broker.requests_of(FetchRequest)]
            assert epochs == list(range(epochs[0], epochs[0] + len(epochs)))
            assert epochs[0] > 0


# Errors of partitions…


@pytest.mark.parametrize(
    ("error", "asks"),
    [
        (NotLeaderForPartitionError, True),
        (ReplicaNotAvailableError, True),
        (KafkaStorageError, True),
        (FencedLeaderEpochError, True),
        (OffsetNotAvailableError, True),
        (UnknownTopicOrPartitionError, True),
        (UnknownTopicIdError, True),
        (InconsistentTopicIdError, True),
        (UnknownLeaderEpochError, False),
        (UnknownError, False),
    ],
)
async def test_2b_15_what_a_moved_leader_or_a_changed_topic_says_asks_for_metadata(
    error: type[BrokerResponseError], asks: bool
) -> None:
    """Once the partition is read again, the broker has, or has not, been asked."""
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", retry_backoff_ms=20) as consumer,
    ):
        fill(broker, P0, 2)
        await read(consumer, 2)
        await answers_are_there(consumer)
        broker.forget_requests()
        broker.faults.fail(FetchRequest, error)
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}
        if asks:
            await broker.wait_until(lambda: bool(broker.requests_of(MetadataRequest)))
        else:
            assert broker.requests_of(MetadataRequest) == []


# Memory…


async def test_a11_unread_memory_stays_within_its_bound_however_slow_the_application_is() -> None:
    """(fetch_buffer_bytes + fetch_max_bytes) per node, plus one batch that went beyond a limit."""
    buffer_bytes, max_bytes = 1500, 500
    options = {
        "fetch_buffer_bytes": buffer_bytes,
        "fetch_max_bytes": max_bytes,
        "max_partition_fetch_bytes": 500,
        "max_poll_records": 10,
        "fetch_max_wait_ms": 1,
    }
    async with (
        embedded({"t": 30}, nodes=3) as broker,
        consumer_of(broker, "t", **options) as consumer,
    ):
        partitions = [TopicPartition("t", number) for number in range(30)]
        for tp in partitions:
            fill(broker, tp, *[10] * 5)
        one_batch = len(batches(0, 10)) + 50
        seen: dict[int, list[int]] = {}
        most = 0
        while sum(map(len, seen.values())) < 30 * 50:
            for partition, numbers in offsets(await consumer.getmany(timeout_ms=30_000)).items():
                seen.setdefault(partition, []).extend(numbers)
            await answers_are_there(consumer)
            unread = consumer.statistics().unread_bytes
            assert unread <= 3 * (buffer_bytes + max_bytes + one_batch)
            most = max(most, unread)
        assert most >= 3 * buffer_bytes, "the bound was reached"
        assert seen == {tp.partition: list(range(50)) for tp in partitions}


async def test_a11_a_few_bytes_left_of_paused_partitions_do_not_hold_the_answers_they_came_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The memory is at most twice what may lie unread: (fetch_buffer_bytes + fetch_max_bytes)."""
    pool = FrameBufferPool(1 << 30)
    monkeypatch.setattr(connection_pool, "FrameBufferPool", lambda: pool)
    limits = {"fetch_buffer_bytes": 200_000, "fetch_max_bytes": 200_000}
    *paused, busy = [TopicPartition("t", number) for number in range(16)]
    async with embedded({"t": 16}) as broker, consumer_of(broker, **limits) as consumer:
        consumer.assign([*paused, busy])
        for tp in (*paused, busy):
            await consumer.position(tp)
        for offset, tp in enumerate(paused):
            broker.append(busy, batch([b"x" * 150_000], offset))
            fill(broker, tp, 2)
            got = await consumer.getmany(busy, timeout_ms=30_000)  # one answer has both
            assert offsets(got) == {busy.partition: [offset]}
            consumer.pause(tp)
            await answers_are_there(consumer)
            assert pooled_bytes(pool) - idle_bytes(pool) <= 800_000
        consumer.resume(*paused)
        assert await read(consumer, 2 * len(paused)) == {tp: [0, 1] for tp in paused}


# Size…


@pytest.mark.parametrize("reader", ["getone", "getmany"])
async def test_a4_an_answer_above_the_limit_is_an_error_with_bytes_limit_and_remedy(
    reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is `fetch_max_bytes` and room for a large batch: raising the option is the remedy.

    Seeking past the batch is the other one. Each poll says it until one of them is done.
    """
    for module in (consumer_config, fetcher):
        monkeypatch.setattr(module, "MAX_FRAME_BYTES", 100_000)
    async with embedded({"t": 1}) as broker:
        broker.append(P0, batch([b"x" * 250_000]))
        fill(broker, P0, 1)
        quick = {"retry_backoff_ms": 1, "reconnect_backoff_ms": 1}
        async with consumer_of(broker, "t", fetch_max_bytes=50_000, **quick) as consumer:
            for _ in range(2):
                with pytest.raises(RecordTooLargeError) as caught:
                    await asyncio.wait_for(
                        consumer.getone()
                        if reader == "getone"
                        else consumer.getmany(timeout_ms=30_000),
                        30,
                    )
                text = str(caught.value)
                assert "t-0" in text
                assert "250" in text
                assert "150000" in text
                assert "raise fetch_max_bytes" in text
            consumer.seek(P0, 1)
            assert (await consumer.getone()).offset == 1
        async with consumer_of(broker, "t", fetch_max_bytes=200_000) as consumer:
            assert await read(consumer, 2) == {P0: [0, 1]}


async def test_a4_an_answer_above_the_limit_is_nobodys_business_after_a_seek(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The answer comes after the application has sought past the batch that made it too large."""
    for module in (consumer_config, fetcher):
        monkeypatch.setattr(module, "MAX_FRAME_BYTES", 100_000)
    async with embedded({"t": 1}) as broker:
        broker.append(P0, batch([b"x" * 250_000]))
        fill(broker, P0, 1)
        async with consumer_of(broker, "t", fetch_max_bytes=50_000) as consumer:
            await consumer.position(P0)
            assert not await consumer.getmany(timeout_ms=0)
            consumer.seek(P0, 1)
            await answers_are_there(consumer)
            assert (await consumer.getone()).offset == 1
