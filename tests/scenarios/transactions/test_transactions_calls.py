"""Calls that take too long, are cancelled, or come while another has not ended (2d'-1)."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from aiokafka_lite.errors import (
    BufferExhaustedError,
    GroupCoordinatorNotAvailableError,
    IllegalStateError,
    KafkaError,
    KafkaTimeoutError,
    NotCoordinatorForGroupError,
    ProducerClosed,
    TopicAuthorizationFailedError,
    TransactionAbortableError,
)
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.producer.transaction.transaction_state import TransactionState
from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnState as Ending
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.producer.world import jumping_clock, kafka
from tests.scenarios.consuming import PATIENCE_S
from tests.scenarios.transacting import (
    ID,
    ORDERS,
    commit_one,
    ends,
    impatient,
    state,
    transacting,
    visible,
)

both_protocols = pytest.mark.parametrize("version", [1, 2])
both_ends = pytest.mark.parametrize("is_commit", [True, False])


@both_protocols
@both_ends
async def test_an_end_that_times_out_is_called_again_for_its_result(
    version: int, is_commit: bool
) -> None:
    """A commit or abort that timed out is called again for its result (2d'-1)."""
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker) as producer,
    ):
        end, other = producer.commit_transaction, producer.abort_transaction
        if not is_commit:
            end, other = other, end
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"v")
        broker.faults.stall(EndTxnRequest)
        with impatient(producer), pytest.raises(KafkaTimeoutError, match="call it again"):
            await end()
        for call in (
            other,
            producer.begin_transaction,
            lambda: producer.send("orders", b"w"),
            lambda: producer.send_offsets_to_transaction({ORDERS: 1}, "g"),
        ):
            with pytest.raises(IllegalStateError):
                await call()
        with impatient(producer), pytest.raises(KafkaTimeoutError):
            await end()
        broker.faults.release()
        await end()
        assert state(producer) is TransactionState.READY
        assert ends(broker) == [is_commit]
        await commit_one(producer, b"next")
        assert await visible(broker) == [b"v", b"next"][not is_commit :]


@both_protocols
async def test_the_result_that_is_fetched_later_may_be_an_error(version: int) -> None:
    """The result that a repeated commit fetches may be an error (2d'-1)."""
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker) as producer,
    ):
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"v")
        broker.faults.stall(EndTxnRequest)
        broker.faults.fail(EndTxnRequest, TransactionAbortableError)
        with impatient(producer), pytest.raises(KafkaTimeoutError):
            await producer.commit_transaction()
        broker.faults.release()
        with pytest.raises(TransactionAbortableError):
            await producer.commit_transaction()
        await producer.abort_transaction()
        await commit_one(producer, b"next")
        assert await visible(broker) == [b"next"]


@both_protocols
async def test_a_cancelled_commit_goes_on(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"v")
        broker.faults.stall(EndTxnRequest)
        task = asyncio.create_task(producer.commit_transaction())
        await broker.wait_until(lambda: ends(broker) == [True])
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        with pytest.raises(IllegalStateError, match="call it again"):
            await producer.begin_transaction()
        broker.faults.release()
        await producer.commit_transaction()
        assert await visible(broker) == [b"v"]
        assert ends(broker) == [True]


@both_protocols
async def test_two_commits_at_once_are_one(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.send("orders", b"v")
        await asyncio.gather(producer.commit_transaction(), producer.commit_transaction())
        assert ends(broker) == [True]


@both_protocols
async def test_a_begin_that_is_cancelled_has_begun_nothing(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        task = asyncio.create_task(producer.begin_transaction())
        task.cancel()
        await asyncio.wait([task])
        assert state(producer) is TransactionState.READY
        await commit_one(producer, b"v")


@both_protocols
async def test_offsets_that_time_out_hinder_no_abort(version: int) -> None:
    """Offsets that timed out need not be repeated before an abort (2d'-1)."""
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker) as producer,
    ):
        broker.create_topic("orders")
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"2")
        broker.faults.stall(TxnOffsetCommitRequest)
        with impatient(producer), pytest.raises(KafkaTimeoutError, match="commit_transaction"):
            await producer.send_offsets_to_transaction({ORDERS: 5}, "g")
        with impatient(producer), pytest.raises(KafkaTimeoutError):
            await producer.abort_transaction()
        assert ends(broker) == [True]  # it might be served behind the end
        broker.faults.release()
        await producer.abort_transaction()
        assert broker.group("g").offsets == {}
        await commit_one(producer, b"3")
        assert await visible(broker) == [b"1", b"3"]


@both_protocols
async def test_a_commit_waits_for_offsets_nobody_waits_for(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"1")
        asked = AddOffsetsToTxnRequest if version == 1 else TxnOffsetCommitRequest
        broker.faults.stall(asked)
        task = asyncio.create_task(producer.send_offsets_to_transaction({ORDERS: 5}, "g"))
        await broker.wait_until(lambda: len(broker.requests_of(asked)) == 1)
        task.cancel()
        await asyncio.wait([task])
        commit = asyncio.create_task(producer.commit_transaction())
        for _ in range(20):
            await asyncio.sleep(0)
        broker.faults.release()
        await commit
        assert {tp: o.offset for tp, o in broker.group("g").offsets.items()} == {ORDERS: 5}


@both_protocols
async def test_a_block_that_is_cancelled_in_send_offsets_aborts(version: int) -> None:
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders")

        async def work() -> None:
            async with producer.transaction():
                await producer.send_and_wait("orders", b"1")
                await producer.send_offsets_to_transaction({ORDERS: 5}, "g")

        broker.faults.stall(TxnOffsetCommitRequest)
        task = asyncio.create_task(work())
        await broker.wait_until(lambda: len(broker.requests_of(TxnOffsetCommitRequest)) == 1)
        task.cancel()
        for _ in range(20):
            await asyncio.sleep(0)
        broker.faults.release()
        await asyncio.wait([task])
        assert task.cancelled()
        assert ends(broker) == [False]
        assert state(producer) is TransactionState.READY
        assert broker.group("g").offsets == {}


async def test_an_abort_waits_until_it_is_known_what_was_added() -> None:
    """V1: a partition added behind the end would be in a transaction that nobody ends"""
    async with kafka(transaction_version=1) as broker, transacting(broker) as producer:
        await commit_one(producer, b"1")
        broker.faults.stall(AddPartitionsToTxnRequest)
        await producer.begin_transaction()
        await producer.send("orders", b"2")
        await broker.wait_until(lambda: len(broker.requests_of(AddPartitionsToTxnRequest)) == 2)
        abort = asyncio.create_task(producer.abort_transaction())
        for _ in range(20):
            await asyncio.sleep(0)
        assert ends(broker) == [True]
        broker.faults.release()
        await abort
        assert ends(broker) == [True, False]
        assert broker.transaction(ID).state is Ending.COMPLETE_ABORT


async def test_an_abort_adds_nothing_more() -> None:
    """V1: a partition that was to be added next is not, once nothing of it will count."""
    async with kafka(transaction_version=1) as broker, transacting(broker) as producer:
        broker.create_topic("orders", 2)
        broker.faults.stall(AddPartitionsToTxnRequest)
        await producer.begin_transaction()
        await producer.send("orders", b"1", partition=0)
        await broker.wait_until(lambda: len(broker.requests_of(AddPartitionsToTxnRequest)) == 1)
        await producer.send("orders", b"2", partition=1)
        abort = asyncio.create_task(producer.abort_transaction())
        for _ in range(5):
            await asyncio.sleep(0)
        broker.faults.release()
        await abort
        assert len(broker.requests_of(AddPartitionsToTxnRequest)) == 1
        assert ends(broker) == [False]


async def test_a_commit_tells_what_has_failed_though_a_partition_still_waits_to_be_added() -> None:
    """V1: nobody waits for a coordinator that puts it off, once the transaction is lost anyway."""
    async with kafka(transaction_version=1) as broker, transacting(broker) as producer:
        broker.create_topic("orders", 2)
        await producer.begin_transaction()
        await (await producer.send("orders", b"1", partition=0))
        broker.faults.fail(AddPartitionsToTxnRequest, 3, times=None)
        broker.faults.stall(ProduceRequest)
        broker.faults.fail(ProduceRequest, TopicAuthorizationFailedError)
        acks = [await producer.send("orders", b"2", partition=number) for number in range(2)]
        commit = asyncio.create_task(producer.commit_transaction())
        await broker.wait_until(lambda: len(broker.requests_of(ProduceRequest)) == 2)
        assert state(producer) is TransactionState.COMMITTING
        broker.faults.release()
        with pytest.raises(TopicAuthorizationFailedError):
            await commit
        await asyncio.gather(*acks, return_exceptions=True)
        await producer.abort_transaction()
        assert ends(broker) == [False]


async def test_an_abort_lets_nothing_be_added_again_and_again() -> None:
    async with kafka(transaction_version=1) as broker, transacting(broker) as producer:
        await commit_one(producer, b"1")
        broker.faults.fail(AddPartitionsToTxnRequest, 3, times=None)
        await producer.begin_transaction()
        await producer.send("orders", b"2")
        await broker.wait_until(lambda: len(broker.requests_of(AddPartitionsToTxnRequest)) == 4)
        await producer.abort_transaction()
        assert ends(broker) == [True]
        broker.faults.clear()
        await commit_one(producer, b"3")
        assert await visible(broker) == [b"1", b"3"]


@both_protocols
async def test_an_abort_does_not_wait_for_the_coordinator_of_a_group(version: int) -> None:
    """Offsets for a group whose coordinator cannot be found keep no transaction from its end."""
    async with kafka(transaction_version=version) as broker, transacting(broker) as producer:
        broker.create_topic("orders")
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"1")
        broker.faults.fail(FindCoordinatorRequest, GroupCoordinatorNotAvailableError, times=None)
        with impatient(producer), pytest.raises(KafkaTimeoutError, match="commit_transaction"):
            await producer.send_offsets_to_transaction({ORDERS: 5}, "g")
        await producer.abort_transaction()
        assert ends(broker) == [False]
        assert broker.transaction(ID).state is Ending.COMPLETE_ABORT
        broker.faults.clear()
        await commit_one(producer, b"2")
        assert await visible(broker) == [b"2"]


@pytest.mark.parametrize("is_served", [True, False])
async def test_what_may_have_been_added_is_ended(is_served: bool) -> None:
    """V1: the answer to AddPartitionsToTxn is lost, and the next attempt refused while the user
    aborts. The coordinator is told of the end all the same, and the next transaction goes on, with
    a new epoch: an attempt that comes later still is refused.
    """
    async with (
        kafka(transaction_version=1) as broker,
        transacting(broker, retry_backoff_ms=20, retry_backoff_max_ms=20) as producer,
    ):
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        broker.faults.cut(AddPartitionsToTxnRequest)
        if not is_served:
            broker.faults.fail(AddPartitionsToTxnRequest, NotCoordinatorForGroupError)
        ack = await producer.send("orders", b"2")
        await broker.wait_until(lambda: len(broker.requests_of(AddPartitionsToTxnRequest)) == 2)
        broker.faults.fail(AddPartitionsToTxnRequest, NotCoordinatorForGroupError)
        await producer.abort_transaction()
        assert ack.exception() is not None
        assert ends(broker) == [True, False]
        assert broker.transaction(ID).state is not Ending.ONGOING
        assert broker.transaction(ID).producer_epoch == 1
        await commit_one(producer, b"3")
        assert await visible(broker) == [b"1", b"3"]


@pytest.mark.parametrize("is_served", [True, False])
async def test_a_group_that_may_have_been_added_is_ended(is_served: bool) -> None:
    """V1: as with partitions, when the lost answer is one to AddOffsetsToTxn."""
    async with (
        kafka(transaction_version=1) as broker,
        transacting(broker, retry_backoff_ms=20, retry_backoff_max_ms=20) as producer,
    ):
        await commit_one(producer, b"1")
        await producer.begin_transaction()
        broker.faults.cut(AddOffsetsToTxnRequest)
        if not is_served:
            broker.faults.fail(AddOffsetsToTxnRequest, NotCoordinatorForGroupError)
        offsets = asyncio.create_task(producer.send_offsets_to_transaction({ORDERS: 1}, "g"))
        await broker.wait_until(lambda: len(broker.requests_of(AddOffsetsToTxnRequest)) == 1)
        broker.faults.fail(AddOffsetsToTxnRequest, NotCoordinatorForGroupError)
        await producer.abort_transaction()
        with pytest.raises(NotCoordinatorForGroupError):
            await offsets
        assert ends(broker) == [True, False]
        assert broker.transaction(ID).state is not Ending.ONGOING
        assert broker.transaction(ID).producer_epoch == 1
        await commit_one(producer, b"2")
        assert await visible(broker) == [b"1", b"2"]


@both_protocols
async def test_a_send_that_found_no_memory_spoils_no_commit(version: int) -> None:
    """A send that found no memory does not keep the transaction from committing (2d'-3)."""
    clock = jumping_clock()
    async with (
        kafka(clock=clock, transaction_version=version) as broker,
        transacting(
            broker, clock=clock, buffer_memory=2000, max_batch_size=1500, max_block_ms=5000
        ) as producer,
    ):
        broker.create_topic("orders", 2)
        await producer.begin_transaction()
        await producer.send_and_wait("orders", b"0", partition=0)
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"1" * 1000, partition=0)
        with pytest.raises(BufferExhaustedError):
            await producer.send("orders", b"2" * 1400, partition=1)
        broker.faults.release()
        await ack
        await producer.commit_transaction()
        assert await visible(broker) == [b"0", b"1" * 1000]
        await producer.begin_transaction()
        await producer.commit_transaction()


@both_protocols
async def test_a_send_that_waits_for_memory_is_not_taken_into_the_next_transaction(
    version: int,
) -> None:
    async with (
        kafka(transaction_version=version) as broker,
        transacting(broker, buffer_memory=2000, max_batch_size=1500) as producer,
    ):
        broker.create_topic("orders", 2)
        await producer.begin_transaction()
        broker.faults.stall(ProduceRequest)
        ack = await producer.send("orders", b"1" * 1000, partition=0)
        await broker.wait_until(lambda: len(broker.requests_of(ProduceRequest)) == 1)
        late = asyncio.create_task(producer.send("orders", b"2" * 1400, partition=1))
        for _ in range(5):
            await asyncio.sleep(0)
        commit = asyncio.create_task(producer.commit_transaction())
        for _ in range(5):
            await asyncio.sleep(0)
        broker.faults.release()
        await ack
        with pytest.raises(IllegalStateError):
            await late
        await commit
        assert producer._engine.pool.used_bytes == 0
        assert await visible(broker, partition=1) == []


@both_protocols
async def test_stop_aborts_what_is_open(version: int) -> None:
    """`stop` aborts an open transaction (2d-22)."""
    async with kafka(transaction_version=version) as broker:
        async with transacting(broker, linger_ms=60_000) as producer:
            broker.create_topic("orders")
            await producer.begin_transaction()
            sent = await producer.send("orders", b"1")
            await producer.flush()
            unsent = await producer.send("orders", b"2")
        assert sent.result().offset == 0
        assert unsent.exception() is not None
        assert ends(broker) == [False]
        assert broker.transaction(ID).state is Ending.COMPLETE_ABORT
        assert await visible(broker) == []


@both_protocols
async def test_stop_lets_a_commit_end(version: int) -> None:
    """`stop` lets a commit end that was begun (2d-22)."""
    async with kafka(transaction_version=version) as broker:
        async with transacting(broker) as producer:
            await producer.begin_transaction()
            await producer.send_and_wait("orders", b"1")
            broker.faults.delay(EndTxnRequest, 0.05)
            task = asyncio.create_task(producer.commit_transaction())
            await broker.wait_until(lambda: ends(broker) == [True])
            task.cancel()
        assert broker.transaction(ID).state is Ending.COMPLETE_COMMIT
        assert await visible(broker) == [b"1"]


@both_protocols
async def test_stop_aborts_behind_a_commit_that_failed(version: int) -> None:
    """`stop` aborts a transaction whose commit timed out and then failed (2d-22)."""
    async with kafka(transaction_version=version) as broker:
        async with transacting(broker) as producer:
            await producer.begin_transaction()
            await producer.send_and_wait("orders", b"1")
            broker.faults.stall(EndTxnRequest)
            broker.faults.fail(EndTxnRequest, TransactionAbortableError)
            with impatient(producer), pytest.raises(KafkaTimeoutError):
                await producer.commit_transaction()
            broker.faults.release()
        assert ends(broker) == [True, False]
        assert broker.transaction(ID).state is Ending.COMPLETE_ABORT


@both_protocols
async def test_a_stop_that_is_cancelled_while_it_aborts_closes_all_the_same(version: int) -> None:
    """What is on its way fails at once."""
    async with kafka(transaction_version=version) as broker:
        async with transacting(broker) as producer:
            await producer.begin_transaction()
            await producer.send_and_wait("orders", b"1")
            broker.faults.stall(ProduceRequest)
            ack = await producer.send("orders", b"2")
            await broker.wait_until(lambda: len(broker.requests_of(ProduceRequest)) == 2)
            stop = asyncio.create_task(producer.stop())
            for _ in range(20):
                await asyncio.sleep(0)
            stop.cancel()
            await asyncio.wait([stop])
            assert stop.cancelled()
            assert not producer.kafka_client.owner.children
            assert isinstance(ack.exception(), ProducerClosed)
        broker.faults.release()


@both_protocols
async def test_stop_ends_in_time_when_nobody_answers(version: int) -> None:
    """To abort takes half of the bound at most, and the rest is for what is on its way (2d-22)."""
    clock = jumping_clock()
    async with kafka(clock=clock, transaction_version=version) as broker:
        async with transacting(broker, clock=clock) as producer:
            await producer.begin_transaction()
            await producer.send_and_wait("orders", b"1")
            broker.faults.drop(EndTxnRequest, times=None)
            began_s = clock.monotonic()
            await producer.stop(timeout_ms=8000)
            assert clock.monotonic() - began_s < 5
        broker.faults.clear()


async def test_a_commit_that_fails_late_and_the_abort_behind_it_share_the_bound_of_stop() -> None:
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        async with transacting(broker, clock=clock) as producer:
            await producer.begin_transaction()
            await producer.send_and_wait("orders", b"1")
            broker.faults.delay(EndTxnRequest, 3.0)
            broker.faults.fail(EndTxnRequest, TransactionAbortableError)
            began_s = clock.monotonic()
            commit = asyncio.create_task(producer.commit_transaction())
            await broker.wait_until(lambda: ends(broker) == [True])
            broker.faults.drop(EndTxnRequest, times=None)
            await producer.stop(timeout_ms=8000)
            assert ends(broker) == [True, False]
            assert clock.monotonic() - began_s < 5.5
        with pytest.raises(TransactionAbortableError):
            await commit
        broker.faults.clear()


async def test_a_start_that_gets_no_id_in_time_leaves_nothing_and_may_be_repeated() -> None:
    """design.md 4: half a start leaves nothing behind"""
    clock = jumping_clock()
    async with kafka(clock=clock) as broker:
        broker.faults.drop(InitProducerIdRequest, times=None)
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            transactional_id=ID,
            max_block_ms=10_000,
            clock=clock,
        )
        for _ in range(2):
            with pytest.raises(KafkaTimeoutError, match="init did not end within 10 s"):
                await producer.start()
            assert not producer.kafka_client.owner.children
            with pytest.raises(IllegalStateError, match=r"await producer.start\(\) first"):
                await producer.send("orders", b"0")
        broker.faults.clear()
        async with producer:
            await commit_one(producer, b"1")
            assert await visible(broker) == [b"1"]


async def test_a_start_cancelled_while_it_gets_its_id_may_be_repeated() -> None:
    async with kafka() as broker:
        broker.faults.stall(InitProducerIdRequest)
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=ID)
        task = asyncio.create_task(producer.start())
        await broker.wait_until(lambda: bool(broker.requests_of(InitProducerIdRequest)))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        broker.faults.release()
        async with producer:
            await commit_one(producer, b"1")


async def test_a_producer_stopped_while_it_gets_its_id_is_stopped_for_good() -> None:
    async with kafka() as broker:
        broker.faults.stall(InitProducerIdRequest)
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, transactional_id=ID)
        start = asyncio.create_task(producer.start())
        await broker.wait_until(lambda: bool(broker.requests_of(InitProducerIdRequest)))
        await producer.stop(timeout_ms=0)
        with pytest.raises(KafkaError):
            await start
        broker.faults.release()
        with pytest.raises(ProducerClosed):
            await producer.start()


async def test_stop_does_not_wait_for_an_id_that_nobody_needs_any_more() -> None:
    """stop() during a start() that waits for its producer id ends without waiting for it."""
    clock = FakeClock()
    async with kafka(clock=clock) as broker:
        broker.faults.stall(InitProducerIdRequest)
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, transactional_id=ID, clock=clock
        )
        start = asyncio.create_task(producer.start())
        await broker.wait_until(lambda: bool(broker.requests_of(InitProducerIdRequest)))
        began_s = clock.monotonic()
        async with asyncio.timeout(PATIENCE_S):
            await producer.stop()  # by a clock that stands still
        assert clock.monotonic() == began_s
        with pytest.raises(KafkaError):
            await start
        broker.faults.release()


@both_protocols
@pytest.mark.parametrize(
    ("api", "error", "said"),
    [
        (TxnOffsetCommitRequest, "UNKNOWN_TOPIC_OR_PARTITION", "TxnOffsetCommit of orders-0"),
        (ProduceRequest, "NOT_LEADER_OR_FOLLOWER", "of records for orders-0"),
        (EndTxnRequest, "COORDINATOR_LOAD_IN_PROGRESS", "EndTxn for transactional_id='t'"),
        (AddPartitionsToTxnRequest, "COORDINATOR_LOAD_IN_PROGRESS", "AddPartitionsToTxn"),
        (InitProducerIdRequest, "COORDINATOR_LOAD_IN_PROGRESS", "InitProducerId"),
    ],
    ids=lambda each: each.__name__ if isinstance(each, type) else "",
)
async def test_a_call_that_times_out_names_the_failure_it_knows_of(
    version: int, api: type[Any], error: str, said: str
) -> None:
    """Whatever a call waits for, its timeout says what came back last (2d'-4)."""
    if api is AddPartitionsToTxnRequest and version == 2:
        return  # the second protocol does not send it
    clock = jumping_clock()
    async with kafka(transaction_version=version, clock=clock) as broker:
        broker.create_topic("orders")
        options: dict[str, Any] = {"transactional_id": ID, "max_block_ms": 9000, "clock": clock}
        options["bootstrap_servers"] = broker.bootstrap_servers
        producer = AIOKafkaProducer(**options)
        if api is InitProducerIdRequest:
            broker.faults.fail(api, error, times=None)
            with pytest.raises(KafkaTimeoutError, match=f"last failure.*{said}"):
                await producer.start()
            return
        async with producer:
            await producer.begin_transaction()
            broker.faults.fail(api, error, times=None)
            await producer.send("orders", b"v", partition=0)
            call = producer.commit_transaction()
            if api is TxnOffsetCommitRequest:
                call.close()
                call = producer.send_offsets_to_transaction({ORDERS: 1}, "g")
            with pytest.raises(KafkaTimeoutError, match=f"last failure.*{said}"):
                await call
            broker.faults.clear()
            with suppress(KafkaError):
                await producer.commit_transaction()
