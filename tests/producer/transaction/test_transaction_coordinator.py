"""Asking until there is an answer that means something."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK, Clock
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import (
    ConcurrentTransactions,
    CoordinatorLoadInProgressError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    InvalidProducerIdMapping,
    NotCoordinatorForGroupError,
    ProducerFenced,
    TransactionAbortableError,
    TransactionalIdAuthorizationFailed,
    UnsupportedVersionError,
)
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.transaction.transaction_coordinator import (
    CONCURRENT_RETRY_S,
    TransactionCoordinator,
    TransactionError,
)
from aiokafka_lite.producer.transaction.transaction_errors import INIT_ACTIONS, TxnAction
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.producer.world import jumping_clock, kafka

ID = "t"


@asynccontextmanager
async def coordinator_of(
    broker: EmbeddedBroker, *, clock: Clock = SYSTEM_CLOCK, **options: Any
) -> AsyncIterator[TransactionCoordinator]:
    options = {"retry_backoff_ms": 1, "retry_backoff_max_ms": 1, **options}
    config = ProducerConfig(bootstrap_servers=broker.bootstrap_servers, **options)
    client = KafkaClient(config, clock=clock)
    await client.start()
    try:
        yield TransactionCoordinator(client, ID)
    finally:
        await client.close()


async def ask(
    coordinator: TransactionCoordinator,
    error_of: Callable[[InitProducerIdResponse], int] = lambda told: told.error_code,
    **options: Any,
) -> InitProducerIdResponse:
    request = InitProducerIdRequest(transactional_id=ID, transaction_timeout_ms=1000)
    return await coordinator.ask(
        "InitProducerId", lambda: request, error_of, INIT_ACTIONS, **options
    )


def asked(broker: EmbeddedBroker) -> tuple[int, int]:
    """How often for the coordinator, and how often the coordinator."""
    return (
        len(broker.requests_of(FindCoordinatorRequest)),
        len(broker.requests_of(InitProducerIdRequest)),
    )


async def test_the_coordinator_of_the_id_is_asked() -> None:
    async with kafka(nodes=3) as broker, coordinator_of(broker) as coordinator:
        assert (await ask(coordinator)).producer_epoch == 0
        assert broker.requests[-1].node_id == broker.transaction(ID).coordinator
        assert asked(broker) == (1, 1)


@pytest.mark.parametrize(
    ("error", "found"), [(NotCoordinatorForGroupError, 3), (CoordinatorLoadInProgressError, 1)]
)
async def test_it_is_found_again_only_where_that_helps(error: type, found: int) -> None:
    """The client looks the coordinator up again only for errors that this can mend (2d'-4)."""
    async with kafka() as broker, coordinator_of(broker) as coordinator:
        broker.faults.fail(InitProducerIdRequest, error, times=2)
        await ask(coordinator)
        assert asked(broker) == (found, 3)


async def test_it_is_found_again_when_it_does_not_answer() -> None:
    async with kafka() as broker, coordinator_of(broker) as coordinator:
        broker.faults.cut(InitProducerIdRequest)
        await ask(coordinator)
        assert asked(broker) == (2, 2)


async def test_the_end_of_the_last_transaction_is_awaited_at_short_intervals() -> None:
    """CONCURRENT_TRANSACTIONS is retried at short intervals of 20 ms (2d'-4)."""
    clock = jumping_clock()
    async with (
        kafka(clock=clock) as broker,
        coordinator_of(
            broker, clock=clock, retry_backoff_ms=1000, retry_backoff_max_ms=1000
        ) as coordinator,
    ):
        broker.faults.fail(InitProducerIdRequest, ConcurrentTransactions, times=5)
        began_s = clock.monotonic()
        await ask(coordinator)
        assert clock.monotonic() - began_s == pytest.approx(5 * CONCURRENT_RETRY_S)


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (ProducerFenced, TxnAction.FENCED),
        (TransactionAbortableError, TxnAction.ABORT),
        (TransactionalIdAuthorizationFailed, TxnAction.ABORT),
        (InvalidProducerIdMapping, TxnAction.FATAL),
    ],
)
async def test_an_answer_that_ends_it_is_raised_with_its_action(
    error: type[Exception], action: TxnAction
) -> None:
    async with kafka() as broker, coordinator_of(broker) as coordinator:
        broker.faults.fail(InitProducerIdRequest, error.errno)  # type: ignore[attr-defined]
        with pytest.raises(TransactionError, match="transactional_id='t'") as raised:
            await ask(coordinator)
        assert raised.value.action is action
        assert isinstance(raised.value.error, error)
        assert asked(broker) == (1, 1)


@pytest.mark.parametrize(
    ("error", "action"),
    [
        (GroupAuthorizationFailedError, TxnAction.ABORT),
        (TransactionalIdAuthorizationFailed, TxnAction.FATAL),
    ],
)
async def test_who_may_not_know_the_coordinator_is_told(
    error: type[Exception], action: TxnAction
) -> None:
    """A producer that may not look up its coordinator gets the broker's error (2d'-4)."""
    async with kafka() as broker, coordinator_of(broker) as coordinator:
        broker.faults.fail(FindCoordinatorRequest, error.errno)  # type: ignore[attr-defined]
        with pytest.raises(TransactionError) as raised:
            await ask(coordinator, group_id="g")
        assert raised.value.action is action


async def test_a_request_that_the_broker_does_not_know_is_fatal() -> None:
    """A transactional request that the broker does not know is fatal (2d'-4)."""
    async with (
        kafka(max_versions={InitProducerIdRequest.api_key: None}) as broker,
        coordinator_of(broker) as coordinator,
    ):
        with pytest.raises(TransactionError) as raised:
            await ask(coordinator)
        assert raised.value.action is TxnAction.FATAL
        assert isinstance(raised.value.error, UnsupportedVersionError)


async def test_one_question_at_a_time() -> None:
    """At most one transactional request is in flight, whatever node it goes to (2d'-2)."""
    async with kafka(nodes=2) as broker, coordinator_of(broker) as coordinator:
        broker.move_transaction_coordinator(ID, 1)
        broker.move_coordinator("g", 2)
        for group_id in (None, "g"):  # there is a connection to each
            await ask(coordinator, lambda _: 0, group_id=group_id)
        broker.faults.stall(InitProducerIdRequest)
        tasks = [
            asyncio.create_task(ask(coordinator, lambda _: 0, group_id=group_id))
            for group_id in (None, "g")
        ]
        await broker.wait_until(lambda: asked(broker) == (2, 3))
        for _ in range(50):
            await asyncio.sleep(0)
        assert asked(broker) == (2, 3)
        broker.faults.release()
        await asyncio.gather(*tasks)


async def test_who_gives_up_stops_at_the_next_refusal() -> None:
    async with kafka() as broker, coordinator_of(broker) as coordinator:
        broker.faults.fail(InitProducerIdRequest, CoordinatorLoadInProgressError, times=None)
        with pytest.raises(TransactionError) as raised:
            await ask(coordinator, gives_up=lambda: asked(broker)[1] >= 3)
        assert raised.value.action is TxnAction.ABORT
        assert asked(broker)[1] == 3


async def test_who_gives_up_has_to_know_first_whether_it_was_served() -> None:
    async with kafka() as broker, coordinator_of(broker) as coordinator:
        broker.faults.cut(InitProducerIdRequest, times=2)
        assert (await ask(coordinator, gives_up=lambda: True)).producer_epoch == 2


async def test_no_coordinator_for_long_is_looked_for_again() -> None:
    clock = jumping_clock()
    async with (
        kafka(nodes=2, clock=clock) as broker,
        coordinator_of(broker, clock=clock, request_timeout_ms=1000) as coordinator,
    ):
        await ask(coordinator)
        broker.move_transaction_coordinator(ID, None)
        asking = asyncio.create_task(ask(coordinator))
        await broker.wait_until(lambda: asked(broker)[0] > 3)
        broker.move_transaction_coordinator(ID, 2)
        assert (await asking).producer_epoch == 1


async def test_a_refusal_says_whether_an_attempt_before_may_have_been_served() -> None:
    """Who was refused in the end has to know that an earlier request may have done its work."""
    for is_cut in (True, False):
        async with kafka() as broker, coordinator_of(broker) as coordinator:
            if is_cut:
                broker.faults.cut(InitProducerIdRequest)
            task = asyncio.create_task(ask(coordinator))
            if is_cut:
                await broker.wait_until(lambda: asked(broker)[1] == 1)
            broker.faults.fail(InitProducerIdRequest, TransactionAbortableError)
            with pytest.raises(TransactionError) as raised:
                await task
            assert raised.value.may_be_served is is_cut


async def test_a_doubt_stays_until_the_question_ends() -> None:
    """A refusal in between does not say what became of the attempt before it."""
    async with kafka() as broker, coordinator_of(broker) as coordinator:
        broker.faults.cut(InitProducerIdRequest)
        task = asyncio.create_task(ask(coordinator))
        await broker.wait_until(lambda: asked(broker)[1] == 1)
        broker.faults.fail(InitProducerIdRequest, CoordinatorLoadInProgressError)
        broker.faults.fail(InitProducerIdRequest, TransactionAbortableError)
        with pytest.raises(TransactionError) as raised:
            await task
        assert asked(broker)[1] == 3
        assert raised.value.may_be_served


async def test_who_gives_up_waits_for_no_backoff() -> None:
    """An abort that is called while a coordinator puts off a question goes on at its answer."""
    pause_ms = 3_600_000
    async with (
        kafka() as broker,
        coordinator_of(
            broker, retry_backoff_ms=pause_ms, retry_backoff_max_ms=pause_ms
        ) as coordinator,
    ):
        broker.faults.fail(InitProducerIdRequest, CoordinatorLoadInProgressError)
        with pytest.raises(TransactionError) as raised:
            await ask(coordinator, gives_up=lambda: True)
        assert raised.value.action is TxnAction.ABORT


async def test_who_gives_up_during_a_backoff_asks_no_more() -> None:
    """So that nothing is added to a transaction that is being aborted."""
    async with kafka() as broker, coordinator_of(broker) as coordinator:
        broker.faults.fail(InitProducerIdRequest, CoordinatorLoadInProgressError)
        before_and_after = iter([False, True])
        with pytest.raises(TransactionError) as raised:
            await ask(coordinator, gives_up=lambda: next(before_and_after))
        assert raised.value.action is TxnAction.ABORT
        assert asked(broker)[1] == 1


async def test_looking_for_a_coordinator_ends_once_the_question_is_of_no_use() -> None:
    """And it keeps nobody else from asking his coordinator."""
    async with kafka() as broker, coordinator_of(broker) as coordinator:
        await ask(coordinator)
        broker.faults.fail(FindCoordinatorRequest, GroupCoordinatorNotAvailableError, times=None)
        is_useless = False
        task = asyncio.create_task(ask(coordinator, group_id="g", gives_up=lambda: is_useless))
        await broker.wait_until(lambda: asked(broker)[0] > 2)
        await ask(coordinator)
        is_useless = True
        with pytest.raises(TransactionError) as raised:
            await task
        assert raised.value.action is TxnAction.ABORT
        assert not raised.value.may_be_served
