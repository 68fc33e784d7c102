"""Batches of an exactly-once session whose end is in doubt, is cancelled, or comes too late: each
record counts once, whoever stops waiting.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from aiokafka_lite import AIOKafkaProducer, ConsumerRecord, ExactlyOnceSession, TopicPartition
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.errors import (
    BrokerResponseError,
    CommitFailedError,
    FencedInstanceIdError,
    IllegalGenerationError,
    IllegalStateError,
    KafkaTimeoutError,
    NotCoordinatorForGroupError,
    ProducerFenced,
    TransactionAbortableError,
)
from aiokafka_lite.model import ConsumerGroupMetadata
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.producer.world import kafka
from tests.scenarios.consuming import fill
from tests.scenarios.grouping import committed, expel, member_of, nobody_is_left, stable
from tests.scenarios.transacting import ends, ends_impatiently, transacting, visible

IN, OUT = TopicPartition("in", 0), "out"
PATIENCE_MS = 30_000
Batch = dict[TopicPartition, list[ConsumerRecord[bytes, bytes]]]

pytestmark = pytest.mark.parametrize("version", [1, 2])


@asynccontextmanager
async def copying(
    version: int, **options: Any
) -> AsyncIterator[tuple[EmbeddedBroker, ExactlyOnceSession[bytes, bytes]]]:
    """A broker of either protocol, and a session on it."""
    async with (
        kafka(transaction_version=version) as broker,
        copying_from(broker, **options) as session,
    ):
        yield broker, session


@asynccontextmanager
async def copying_from(
    broker: EmbeddedBroker, *, partitions: int = 1, **options: Any
) -> AsyncIterator[ExactlyOnceSession[bytes, bytes]]:
    """A session that copies a topic, of ten records in each partition, in batches of five."""
    broker.create_topic("in", partitions)
    broker.create_topic(OUT)
    for number in range(partitions):
        fill(broker, TopicPartition("in", number), 10)
    consumer = member_of(
        broker,
        "in",
        enable_auto_commit=False,
        isolation_level="read_committed",
        max_poll_records=5,
        **options,
    )
    producer = AIOKafkaProducer(
        bootstrap_servers=broker.bootstrap_servers,
        transactional_id="copy",
        linger_ms=0,
        retry_backoff_ms=5,
    )
    async with ExactlyOnceSession(consumer, producer) as session:
        yield session


async def copy(session: ExactlyOnceSession[bytes, bytes]) -> list[int]:
    """One batch; return its offsets."""
    async with session.batch(timeout_ms=PATIENCE_MS) as records:
        return await write(session, records)


async def write(session: ExactlyOnceSession[bytes, bytes], records: Batch) -> list[int]:
    """Send a copy of each record; return their offsets."""
    found = [record for batch in records.values() for record in batch]
    for record in found:
        await session.producer.send(OUT, b"%d" % record.offset)
    return [record.offset for record in found]


async def copied(broker: EmbeddedBroker) -> list[int]:
    """The offsets of what was copied, as a reader of committed records sees it."""
    return [int(value or b"") for value in await visible(broker, OUT)]


async def test_a_commit_in_doubt_that_succeeds_is_not_repeated(version: int) -> None:
    """When commit_transaction() did not end in time, the next batch waits for how it ended."""
    async with copying(version) as (broker, session):
        broker.faults.stall(EndTxnRequest)
        with ends_impatiently(session.producer):
            for _ in range(3):  # the first writes, the others have to wait for its end
                with pytest.raises(KafkaTimeoutError, match="commit_transaction"):
                    await copy(session)
        broker.faults.release()
        assert await copy(session) == [5, 6, 7, 8, 9]
        assert await copied(broker) == list(range(10))
        assert ends(broker) == [True, True]
        assert committed(broker) == {IN: 10}


async def test_a_commit_in_doubt_that_fails_is_aborted_and_its_records_come_again(
    version: int,
) -> None:
    """A commit whose refusal comes after the caller has lost patience counts for nothing."""
    async with copying(version) as (broker, session):
        broker.faults.stall(EndTxnRequest)
        broker.faults.fail(EndTxnRequest, TransactionAbortableError)
        with ends_impatiently(session.producer), pytest.raises(KafkaTimeoutError):
            await copy(session)
        broker.faults.release()
        assert await copy(session) == [0, 1, 2, 3, 4]
        assert await copied(broker) == [0, 1, 2, 3, 4]
        assert ends(broker) == [True, False, True]


async def test_a_commit_in_doubt_that_the_user_ends_is_not_repeated(version: int) -> None:
    """Who calls commit_transaction() again, as its error says, may go on with batches."""
    async with copying(version) as (broker, session):
        broker.faults.stall(EndTxnRequest)
        with ends_impatiently(session.producer), pytest.raises(KafkaTimeoutError):
            await copy(session)
        broker.faults.release()
        await session.producer.commit_transaction()
        assert await copy(session) == [5, 6, 7, 8, 9]
        assert await copied(broker) == list(range(10))


async def test_a_seek_between_two_batches_is_followed(version: int) -> None:
    """A batch that counts leaves the positions alone: the next one begins where the user wants."""
    async with copying(version) as (_, session):
        assert await copy(session) == [0, 1, 2, 3, 4]
        session.consumer.seek(IN, 8)
        assert await copy(session) == [8, 9]


async def test_a_seek_past_the_record_that_made_a_block_raise_is_followed(version: int) -> None:
    """Once the error comes out of the block its records are to be read again, or skipped."""
    async with copying(version) as (broker, session):

        async def work() -> None:
            async with session.batch(timeout_ms=PATIENCE_MS):
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await work()
        assert await session.consumer.position(IN) == 0
        session.consumer.seek(IN, 3)
        assert await copy(session) == [3, 4, 5, 6, 7]
        assert committed(broker) == {IN: 8}


async def test_a_seek_is_followed_behind_a_commit_in_doubt_that_counts(version: int) -> None:
    """Nothing of such a batch has to be read again, so its end leaves the positions alone."""
    async with copying(version) as (broker, session):
        broker.faults.stall(EndTxnRequest)
        with ends_impatiently(session.producer), pytest.raises(KafkaTimeoutError):
            await copy(session)
        session.consumer.seek(IN, 8)
        broker.faults.release()
        assert await copy(session) == [8, 9]
        assert await copied(broker) == [0, 1, 2, 3, 4, 8, 9]


async def test_a_batch_commits_its_own_offsets_whatever_is_polled_or_sought_in_its_block(
    version: int,
) -> None:
    """What the group has committed is what the transaction has processed."""
    async with copying(version) as (broker, session):
        async with session.batch(timeout_ms=PATIENCE_MS) as records:
            assert await write(session, records) == [0, 1, 2, 3, 4]
            assert (await session.consumer.getone()).offset == 5
        assert committed(broker) == {IN: 5}
        async with session.batch(timeout_ms=PATIENCE_MS) as records:
            assert await write(session, records) == [6, 7, 8, 9]
            session.consumer.seek(IN, 2)
        assert committed(broker) == {IN: 10}
        assert await copy(session) == [2, 3, 4, 5, 6]


async def test_a_commit_that_is_cancelled_is_found_by_the_next_batch(version: int) -> None:
    """A batch cancelled during its commit counts or not; the next batch knows which."""
    async with copying(version) as (broker, session):
        broker.faults.stall(EndTxnRequest)
        task = asyncio.create_task(copy(session))
        await broker.wait_until(lambda: ends(broker) == [True])
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        broker.faults.release()
        assert await copy(session) == [5, 6, 7, 8, 9]
        assert await copied(broker) == list(range(10))


@pytest.mark.parametrize("cancels", [1, 2, 3])
async def test_a_batch_cancelled_again_and_again_loses_no_record(
    version: int, cancels: int
) -> None:
    """However often a batch is cancelled while it is aborted, its records come again."""
    async with copying(version) as (broker, session):
        started = asyncio.Event()

        async def work() -> None:
            async with session.batch(timeout_ms=PATIENCE_MS) as records:
                await write(session, records)
                await session.producer.flush()
                started.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await started.wait()
        broker.faults.stall(EndTxnRequest)
        broker.faults.fail(OffsetFetchRequest, NotCoordinatorForGroupError, times=None)
        for _ in range(cancels):
            task.cancel()
            for _ in range(20):
                await asyncio.sleep(0)
        if cancels > 1:
            await asyncio.wait([task])
        broker.faults.release()
        await asyncio.wait([task])
        assert task.cancelled()
        broker.faults.clear()
        assert await copy(session) == [0, 1, 2, 3, 4]
        assert await copied(broker) == [0, 1, 2, 3, 4]
        assert committed(broker) == {IN: 5}


async def rebalance(broker: EmbeddedBroker, session: ExactlyOnceSession[bytes, bytes]) -> None:
    """Let the group come to its next generation, with the same member."""
    generation = session.consumer.group_metadata().generation_id
    session.consumer.enforce_rebalance()
    await broker.wait_until(
        lambda: (
            session.consumer.group_metadata().generation_id > generation
            and bool(session.consumer.assignment())
        )
    )


async def test_a_cancel_behind_a_rebalance_loses_no_record(version: int) -> None:
    """A member that keeps its partition reads a batch again that a rebalance has undone, also
    when it is cancelled while it asks where the group stands.
    """
    async with copying(version, partition_assignment_strategy=[CooperativeStickyAssignor]) as (
        broker,
        session,
    ):
        async with session.batch(timeout_ms=PATIENCE_MS) as records:
            assert await write(session, records) == [0, 1, 2, 3, 4]
            await rebalance(broker, session)
        before = len(broker.requests_of(OffsetFetchRequest))
        broker.faults.stall(OffsetFetchRequest)
        task = asyncio.create_task(copy(session))
        await broker.wait_until(lambda: len(broker.requests_of(OffsetFetchRequest)) > before)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        broker.faults.release()
        assert await copy(session) == [0, 1, 2, 3, 4]
        assert await copied(broker) == [0, 1, 2, 3, 4]


async def test_a_partition_lost_in_mid_batch_is_left_to_its_new_owner(version: int) -> None:
    """Behind a rebalance a member reads again what it still owns, and only that."""
    async with copying(version, partitions=2) as (broker, session):
        other = member_of(broker, "in")
        async with session.batch(timeout_ms=PATIENCE_MS, max_records=20) as records:
            assert await write(session, records)
            await other.start()
            await stable(broker, members=2)
            await broker.wait_until(lambda: len(session.consumer.assignment()) == 1)
        (kept,) = session.consumer.assignment()
        async with session.batch(timeout_ms=PATIENCE_MS) as again:
            assert {tp: batch[0].offset for tp, batch in again.items()} == {kept: 0}
        assert committed(broker) == {kept: 5}
        await other.stop()


async def test_a_partition_given_up_in_mid_batch_is_not_read_again(version: int) -> None:
    """A block that assigns other partitions, and raises, hinders no later batch."""
    async with copying(version, partitions=2) as (broker, session):
        session.consumer.unsubscribe()
        await nobody_is_left(broker)
        session.consumer.assign([IN])
        there = TopicPartition("in", 1)

        async def work() -> None:
            async with session.batch(timeout_ms=PATIENCE_MS) as records:
                assert records.keys() == {IN}
                session.consumer.assign([there])
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await work()
        async with session.batch(timeout_ms=PATIENCE_MS) as records:
            assert {tp: batch[0].offset for tp, batch in records.items()} == {there: 0}


async def test_behind_a_rebalance_a_batch_is_read_again_once_the_coordinator_answers(
    version: int,
) -> None:
    """All partitions are asked for in one call with one bound, and nothing is polled before."""
    async with copying(
        version,
        partitions=4,
        default_api_timeout_ms=300,
        partition_assignment_strategy=[CooperativeStickyAssignor],
    ) as (broker, session):
        async with session.batch(timeout_ms=PATIENCE_MS, max_records=40) as records:
            await write(session, records)
            await rebalance(broker, session)
        broker.faults.fail(OffsetFetchRequest, NotCoordinatorForGroupError, times=None)
        with pytest.raises(KafkaTimeoutError, match="committed offsets"):
            await copy(session)
        broker.faults.clear()
        while len(await copied(broker)) < 40:
            await copy(session)
        assert sorted(await copied(broker)) == sorted([*range(10)] * 4)


async def test_an_error_in_the_block_comes_out_though_no_coordinator_answers(
    version: int,
) -> None:
    """Nobody waits for the group's coordinator to read again what was aborted for sure."""
    async with copying(version, partitions=6) as (broker, session):
        first: Batch = {}

        async def work() -> None:
            async with session.batch(timeout_ms=PATIENCE_MS, max_records=60) as records:
                first.update(records)
                broker.faults.fail(OffsetFetchRequest, NotCoordinatorForGroupError, times=None)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await work()
        async with session.batch(timeout_ms=PATIENCE_MS, max_records=60) as again:
            assert again.keys() >= first.keys()
            assert {batch[0].offset for batch in again.values()} == {0}
        broker.faults.clear()


async def test_an_abort_that_takes_too_long_is_waited_for_by_the_next_batch(version: int) -> None:
    """An abort that did not end in time hides no error, and is ended before the next batch."""
    async with copying(version) as (broker, session):
        broker.faults.stall(EndTxnRequest)

        async def work() -> None:
            async with session.batch(timeout_ms=PATIENCE_MS) as records:
                await write(session, records)
                await session.producer.flush()
                raise ZeroDivisionError

        with ends_impatiently(session.producer):
            with pytest.raises(ZeroDivisionError):
                await work()
            with pytest.raises(KafkaTimeoutError, match="abort_transaction"):
                await copy(session)
        broker.faults.release()
        assert await copy(session) == [0, 1, 2, 3, 4]
        assert await copied(broker) == [0, 1, 2, 3, 4]


async def test_a_commit_failed_error_of_the_block_itself_goes_on(version: int) -> None:
    """Only the session's own offsets tell of a rebalance; the same error of another consumer, in
    the block, is the user's to hear.
    """
    async with copying(version) as (_, session):
        with pytest.raises(CommitFailedError, match="of another consumer"):
            async with session.batch(timeout_ms=PATIENCE_MS):
                raise CommitFailedError("of another consumer")
        assert await copy(session) == [0, 1, 2, 3, 4]


async def test_nothing_is_committed_by_a_consumer_that_is_no_member(
    version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A subscribed consumer that has lost its membership processes nothing: a coordinator takes
    transactional offsets without member id and generation from anybody (KIP-447).
    """
    async with copying(version) as (broker, session):
        with monkeypatch.context() as patched:
            nobody = ConsumerGroupMetadata("g", -1, "")
            patched.setattr(session.consumer, "group_metadata", lambda: nobody)
            assert await copy(session) == []
        assert broker.requests_of(TxnOffsetCommitRequest) == []
        assert await copy(session) == [0, 1, 2, 3, 4]
        assert await copied(broker) == [0, 1, 2, 3, 4]


async def test_a_member_expelled_in_mid_batch_commits_nothing(version: int) -> None:
    """A batch whose member the group has thrown out counts for nothing, without an error."""
    async with copying(version) as (broker, session):
        async with session.batch(timeout_ms=PATIENCE_MS) as records:
            assert await write(session, records) == [0, 1, 2, 3, 4]
            before = session.consumer.group_metadata().member_id
            await expel(session.consumer)
            await broker.wait_until(
                lambda: session.consumer.group_metadata().member_id not in ("", before)
            )
        assert broker.requests_of(TxnOffsetCommitRequest) == []  # who knows it need not ask
        assert await copied(broker) == []
        assert await copy(session) == [0, 1, 2, 3, 4]
        assert await copied(broker) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("refusal", [None, IllegalGenerationError])
async def test_a_member_that_hears_of_its_end_by_its_offsets_repeats_no_batch_in_vain(
    version: int, refusal: type[BrokerResponseError] | None
) -> None:
    """The refused batch is aborted; the next one is read by the member that joined in its place,
    not by one that the group has thrown out, whose next heartbeat is far away.
    """
    async with copying(version, heartbeat_interval_ms=40_000) as (broker, session):
        async with session.batch(timeout_ms=PATIENCE_MS) as records:
            assert await write(session, records) == [0, 1, 2, 3, 4]
            before = session.consumer.group_metadata()
            if refusal is None:
                await expel(session.consumer)
            else:
                broker.faults.fail(TxnOffsetCommitRequest, refusal)
        assert len(broker.requests_of(TxnOffsetCommitRequest)) == 1
        assert session.consumer.group_metadata().generation_id != before.generation_id
        assert await copied(broker) == []
        assert await copy(session) == [0, 1, 2, 3, 4]
        assert await copied(broker) == [0, 1, 2, 3, 4]
        assert ends(broker) == [False, True]


async def test_a_static_member_whose_offsets_say_that_it_is_fenced_polls_no_more(
    version: int,
) -> None:
    """Another consumer has its place, and would be thrown out if this one went on."""
    async with copying(version, heartbeat_interval_ms=40_000, group_instance_id="i") as (
        broker,
        session,
    ):
        broker.faults.fail(TxnOffsetCommitRequest, FencedInstanceIdError)
        for _ in range(3):
            with pytest.raises(FencedInstanceIdError):
                await copy(session)
        assert len(broker.requests_of(TxnOffsetCommitRequest)) == 1
        assert await copied(broker) == []


async def test_a_batch_within_a_batch_is_refused_and_harms_neither(version: int) -> None:
    """A session has one transaction at a time."""
    async with copying(version) as (broker, session):
        async with session.batch(timeout_ms=PATIENCE_MS) as records:
            assert await write(session, records) == [0, 1, 2, 3, 4]
            with pytest.raises(IllegalStateError, match="leave the block"):
                await copy(session)
        assert await copy(session) == [5, 6, 7, 8, 9]
        assert await copied(broker) == list(range(10))


async def test_a_scope_cancelled_around_a_batch_loses_no_record(version: int) -> None:
    """anyio's cancellation strikes at every await, and the batch is aborted all the same, before
    the block is left.
    """
    async with copying(version) as (broker, session):
        with anyio.CancelScope() as scope:
            async with session.batch(timeout_ms=PATIENCE_MS) as records:
                await write(session, records)
                await session.producer.flush()
                scope.cancel()
                await anyio.sleep_forever()
        assert ends(broker) == [False]
        assert await copy(session) == [0, 1, 2, 3, 4]
        assert await copied(broker) == [0, 1, 2, 3, 4]


async def test_a_session_whose_producer_was_fenced_says_so_each_time(version: int) -> None:
    """After ProducerFenced a session is of no use: nothing is processed any more."""
    async with copying(version) as (broker, session):
        assert await copy(session) == [0, 1, 2, 3, 4]
        async with transacting(broker, "copy"):
            for _ in range(2):
                with pytest.raises(ProducerFenced):
                    await copy(session)
        assert await copied(broker) == [0, 1, 2, 3, 4]
        assert committed(broker) == {IN: 5}


async def test_a_session_left_with_a_commit_in_doubt_lets_it_end(version: int) -> None:
    """The end of the session's own block waits for a commit that is on its way."""
    async with kafka(transaction_version=version) as broker:
        async with copying_from(broker) as session:
            broker.faults.delay(EndTxnRequest, 0.3)
            with ends_impatiently(session.producer), pytest.raises(KafkaTimeoutError):
                await copy(session)
        assert await copied(broker) == [0, 1, 2, 3, 4]
        assert committed(broker) == {IN: 5}
