"""Offsets of a group that count with a transaction, and members that may not commit (KIP-447)."""

from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, OffsetAndMetadata, TopicPartition
from aiokafka_lite.errors import (
    BrokerResponseError,
    CommitFailedError,
    CoordinatorLoadInProgressError,
    FencedInstanceIdError,
    IllegalArgumentError,
    IllegalGenerationError,
    InvalidTopicError,
    NotCoordinatorForGroupError,
    RequestTimedOutError,
    StaleMemberEpochError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.producer.transaction.transaction_state import TransactionState
from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from tests.producer.world import kafka
from tests.scenarios.consuming import consumer_of, fill
from tests.scenarios.grouping import GROUP, committed, expel, member_of, poll
from tests.scenarios.transacting import (
    ID,
    ORDERS,
    commit_one,
    ends,
    state,
    transacting,
    visible,
)

pytestmark = pytest.mark.parametrize("version", [1, 2])


async def test_offsets_count_with_the_commit_and_not_before(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        await producer.begin_transaction()
        offsets = {ORDERS: OffsetAndMetadata(5, "note", 0)}
        await producer.send_offsets_to_transaction(offsets, "g")
        assert broker.transaction(ID).groups == {"g"}
        assert committed(broker) == {}
        await producer.commit_transaction()
        stored = broker.group("g").offsets[ORDERS]
        assert (stored.offset, stored.metadata, stored.leader_epoch) == (5, "note", 0)


async def test_offsets_of_an_aborted_transaction_do_not_count(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        for offset, is_kept in ((1, True), (2, False)):
            await producer.begin_transaction()
            await producer.send_offsets_to_transaction({ORDERS: offset}, "g")
            await (producer.commit_transaction() if is_kept else producer.abort_transaction())
        assert committed(broker) == {ORDERS: 1}
        assert ends(broker) == [True, False]


async def test_a_group_is_added_once_in_v1_and_never_in_v2(version: int) -> None:
    """AddOffsetsToTxn is sent once per transaction in V1, and never in V2 (2d'-7)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        for _ in range(2):
            await producer.begin_transaction()
            await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
            await producer.send_offsets_to_transaction({ORDERS: 2}, "g")
            await producer.send_offsets_to_transaction({ORDERS: 3}, "h")
            await producer.commit_transaction()
        assert len(broker.requests_of(AddOffsetsToTxnRequest)) == (4 if version == 1 else 0)
        versions = {
            received.api_version
            for received in broker.requests
            if isinstance(received.request, TxnOffsetCommitRequest)
        }
        assert versions == {4 if version == 1 else 6}
        assert committed(broker, "g") == {ORDERS: 2}
        assert committed(broker, "h") == {ORDERS: 3}


async def test_offsets_say_which_member_they_are_from(version: int) -> None:
    """Offsets of a transaction name the member that they come from (2d'-6, KIP-447)."""
    async with kafka(transaction_version=version) as broker:
        broker.create_topic("orders")
        fill(broker, ORDERS, 3)
        async with (
            member_of(broker, "orders", group_instance_id="i") as consumer,
            transacting(broker) as producer,
        ):
            await poll(consumer)
            member = consumer.group_metadata()
            await producer.begin_transaction()
            await producer.send_offsets_to_transaction(
                {ORDERS: await consumer.position(ORDERS)}, member
            )
            await producer.commit_transaction()
            (asked,) = broker.requests_of(TxnOffsetCommitRequest)
            assert (asked.group_id, asked.group_instance_id) == (GROUP, "i")
            assert (asked.generation_id_or_member_epoch, asked.member_id) == (
                member.generation_id,
                member.member_id,
            )
            assert asked.generation_id_or_member_epoch > 0
            assert committed(broker) == {ORDERS: 3}


async def test_a_zombie_member_is_refused(version: int) -> None:
    """Offsets of a zombie member raise CommitFailedError, which is abortable (KIP-447)."""
    async with kafka(transaction_version=version) as broker:
        broker.create_topic("orders")
        fill(broker, ORDERS, 3)
        async with (
            member_of(broker, "orders", heartbeat_interval_ms=40_000) as consumer,
            transacting(broker) as producer,
        ):
            await poll(consumer)
            member = consumer.group_metadata()
            await expel(consumer)
            await producer.begin_transaction()
            await producer.send_and_wait("bills", b"1")
            with pytest.raises(CommitFailedError) as raised:
                await producer.send_offsets_to_transaction({ORDERS: 3}, member)
            cause = raised.value.__cause__
            assert isinstance(cause, UnknownMemberIdError | IllegalGenerationError)
            assert type(cause).__name__ in str(raised.value)
            assert "max_poll_interval_ms" not in str(raised.value)
            with pytest.raises(CommitFailedError):
                await producer.commit_transaction()
            await producer.abort_transaction()
            assert committed(broker) == {}
            await commit_one(producer, b"2", "bills")
            assert await visible(broker, "bills") == [b"2"]


@pytest.mark.parametrize("newest", [5, 6])
async def test_an_epoch_that_is_not_the_members_is_named_by_newer_brokers(
    version: int, newest: int
) -> None:
    """STALE_MEMBER_EPOCH from version 6 on, ILLEGAL_GENERATION before (KIP-1319). Transactions of
    the first protocol use older versions.
    """
    says = StaleMemberEpochError if (version, newest) == (2, 6) else IllegalGenerationError
    async with kafka(transaction_version=version) as broker:
        broker.create_topic("orders")
        fill(broker, ORDERS, 3)
        async with (
            consumer_of(broker, "orders", group_id=GROUP, group_protocol="consumer") as consumer,
            transacting(broker, max_api_versions={"TxnOffsetCommit": newest}) as producer,
        ):
            await poll(consumer)
            member = consumer.group_metadata()
            stale = member._replace(generation_id=member.generation_id + 1)
            await producer.begin_transaction()
            await producer.send_and_wait("bills", b"1")
            with pytest.raises(CommitFailedError) as raised:
                await producer.send_offsets_to_transaction({ORDERS: 3}, stale)
            assert type(raised.value.__cause__) is says
            await producer.abort_transaction()
            assert committed(broker) == {}


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (UnknownMemberIdError, CommitFailedError),
        (IllegalGenerationError, CommitFailedError),
        (FencedInstanceIdError, FencedInstanceIdError),
    ],
)
async def test_a_group_that_has_moved_on_lets_abort_and_go_on(
    version: int, error: type[BrokerResponseError], expected: type[Exception]
) -> None:
    """Offsets for a group that has moved on let the producer abort and go on (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        await producer.begin_transaction()
        broker.faults.fail(TxnOffsetCommitRequest, error)
        with pytest.raises(expected):
            await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
        assert state(producer) is TransactionState.ABORTABLE_ERROR
        await producer.abort_transaction()
        await commit_one(producer, b"v")
        assert await visible(broker) == [b"v"]


@pytest.mark.parametrize(
    ("error", "is_found_again"),
    [
        (RequestTimedOutError, True),
        (NotCoordinatorForGroupError, True),
        (CoordinatorLoadInProgressError, False),
        (UnknownTopicOrPartitionError, False),
    ],
)
async def test_offsets_are_sent_again(
    version: int, error: type[BrokerResponseError], is_found_again: bool
) -> None:
    """TxnOffsetCommit looks the group's coordinator up again, not the transaction's (2d'-4)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        await producer.begin_transaction()
        broker.faults.fail(TxnOffsetCommitRequest, error)
        await producer.send_offsets_to_transaction({ORDERS: 1}, "g")
        await producer.commit_transaction()
        assert committed(broker) == {ORDERS: 1}
        found = [request.key for request in broker.requests_of(FindCoordinatorRequest)]
        assert found == [ID, "g", *(["g"] if is_found_again else [])]


async def test_the_coordinator_of_the_group_moves(version: int) -> None:
    async with (
        kafka(nodes=3, transaction_version=version) as broker,
        transacting(broker) as producer,
    ):
        broker.create_topic("orders")
        for offset in range(1, 4):
            await producer.begin_transaction()
            await producer.send_offsets_to_transaction({ORDERS: offset}, "g")
            broker.move_coordinator("g", offset)
            await producer.send_offsets_to_transaction({ORDERS: offset * 10}, "g")
            await producer.commit_transaction()
        assert committed(broker) == {ORDERS: 30}


@pytest.mark.parametrize(
    ("offsets", "error"),
    [
        ({ORDERS: -1}, ValueError),
        ({"orders": 1}, TypeError),
        (None, ValueError),
    ],
)
async def test_malformed_offsets_are_refused_and_do_no_harm(
    version: int, offsets: object, error: type[Exception]
) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        with pytest.raises(error):
            await producer.send_offsets_to_transaction(offsets, "g")  # type: ignore[arg-type]
        await producer.commit_transaction()


async def test_consume_process_produce(version: int) -> None:
    """Each record is processed once although every second transaction is aborted (KIP-98)."""
    async with kafka(transaction_version=version) as broker:
        broker.create_topic("orders")
        broker.create_topic("bills")
        fill(broker, ORDERS, *[1] * 10)
        async with (
            member_of(
                broker, "orders", enable_auto_commit=False, isolation_level="read_committed"
            ) as consumer,
            transacting(broker) as producer,
        ):
            attempt = 0
            while committed(broker).get(ORDERS) != 10:
                attempt += 1
                (record,) = (await poll(consumer, max_records=1))[ORDERS]
                await producer.begin_transaction()
                await producer.send("bills", record.value)
                await producer.send_offsets_to_transaction(
                    {ORDERS: record.offset + 1}, consumer.group_metadata()
                )
                if attempt % 2:
                    await producer.abort_transaction()
                    consumer.seek(ORDERS, record.offset)
                else:
                    await producer.commit_transaction()
        assert await visible(broker, "bills") == [b"v%d" % n for n in range(10)]


async def test_who_reads_stable_offsets_waits_for_the_end(version: int) -> None:
    """A consumer that asks for stable offsets waits for the end of the transaction (KIP-447)."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        await producer.begin_transaction()
        await producer.send_offsets_to_transaction({ORDERS: 4}, "g")
        async with AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            isolation_level="read_committed",
            retry_backoff_ms=1,
        ) as consumer:
            consumer.assign([ORDERS])
            await producer.commit_transaction()
            assert await consumer.committed(ORDERS) == 4


@pytest.mark.parametrize(
    ("offsets", "group"),
    [
        ({ORDERS: 1}, None),
        ({ORDERS: 1}, ""),
        ({}, None),
        ({ORDERS: 1}, "\ud800"),
        ({ORDERS: 1}, "x" * 40_000),
        ({ORDERS: (1, "x" * 40_000)}, "g"),
        ({ORDERS: (1, "\ud800")}, "g"),
        ({ORDERS: 2**63}, "g"),
        ({TopicPartition("orders", 2**31): 1}, "g"),
        ({TopicPartition("x" * 40_000, 0): 1}, "g"),
    ],
)
async def test_offsets_that_no_request_can_carry_fail_their_call_only(
    version: int, offsets: Any, group: Any
) -> None:
    """A wrong value is refused before anything is sent; the transaction goes on, and commits."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.send("orders", b"1")
        with pytest.raises((ValueError, IllegalArgumentError, InvalidTopicError)):
            await producer.send_offsets_to_transaction(offsets, group)
        await producer.commit_transaction()
        assert await visible(broker) == [b"1"]
        assert committed(broker) == {}


async def test_no_offsets_are_nothing_to_do(version: int) -> None:
    """An empty dict is no error, as with aiokafka, and needs no coordinator."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.send_offsets_to_transaction({}, "g")
        await producer.commit_transaction()
        assert broker.requests_of(TxnOffsetCommitRequest) == []
