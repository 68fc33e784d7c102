"""Rounds of fetches without what waits: which are left to a task, and what their outcome does."""

from collections.abc import AsyncIterator

import pytest

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_rounds import FetchRounds, NodeFetches
from aiokafka_lite.consumer.fetch.planned_fetch import PlannedFetch
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.protocol.messages.fetch import FetchResponse
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded

(P0,) = tps(0)


class Rounds(FetchRounds):
    """Keeps what a fetcher gives to tasks."""

    def __init__(self, client: KafkaClient, config: ConsumerConfig) -> None:
        subscription = SubscriptionState(None)
        subscription.assign_from_user([P0])
        subscription.seek(P0, 0)
        buffer = FetchBuffer(subscription.revision)
        super().__init__(config, client, subscription, buffer, PollSignal(client.clock))
        self.left: list[PlannedFetch] = []
        self.faults: list[Exception] = []

    def _begin_waiting(self, node: NodeFetches, planned: PlannedFetch) -> None:
        assert node.planned is planned
        self.left.append(planned)

    def _report_fault(self, node: NodeFetches, fault: Exception) -> None:
        self.faults.append(fault)


class Broken:
    """In the place of the part that takes responses in."""

    def handle(self, *_: object) -> None:
        raise ZeroDivisionError


@pytest.fixture
async def rounds() -> AsyncIterator[Rounds]:
    """A round that has begun. It was left to a task, because its connection is not there yet."""
    async with embedded({"t": 1}) as broker:
        config = ConsumerConfig(bootstrap_servers=broker.bootstrap_servers)
        client = KafkaClient(config)
        client.metadata.set_topics({"t"})
        await client.start()
        begun = Rounds(client, config)
        begun.start_fetches()
        assert len(begun.left) == 1
        yield begun
        await client.close()


async def test_a10_no_round_begins_while_the_node_owes_an_answer(rounds: Rounds) -> None:
    rounds._subscription.revision.note(P0)
    rounds.start_fetches()
    assert len(rounds.left) == 1
    assert rounds.fetch_delay(1) is None


async def test_after_a_failure_the_node_waits_for_the_backoff(rounds: Rounds) -> None:
    rounds.left[0].answered(None, KafkaConnectionError("gone"))
    delay_s = rounds.fetch_delay(1)
    assert delay_s is not None
    assert delay_s > 0
    due_at_s = rounds.start_fetches()
    assert due_at_s is not None
    assert len(rounds.left) == 1


async def test_an_answer_without_records_lets_the_next_round_begin(rounds: Rounds) -> None:
    rounds.left[0].answered(FetchResponse(error_code=70), None)  # an unknown session
    rounds.start_fetches()
    assert len(rounds.left) == 2


async def test_an_unexpected_error_is_reported(rounds: Rounds) -> None:
    rounds._handler = Broken()  # type: ignore[assignment]  # a test's own
    rounds.left[0].answered(FetchResponse(), None)
    (fault,) = rounds.faults
    assert isinstance(fault, ZeroDivisionError)
    fault = RuntimeError("none of Kafka's")
    rounds.left[0].answered(None, fault)
    assert rounds.faults[1:] == [fault]


async def test_nothing_is_taken_in_after_the_end(rounds: Rounds) -> None:
    rounds._is_closed = True
    rounds.left[0].answered(FetchResponse(error_code=70), None)
    assert rounds.start_fetches() is None
    assert rounds.fetch_delay(1) is None
    assert len(rounds.left) == 1
