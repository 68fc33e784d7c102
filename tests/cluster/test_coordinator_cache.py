"""Coordinators are found by asking, kept while they answer, and forgotten when they do not."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache, CoordinatorType
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    IllegalStateError,
    KafkaTimeoutError,
    TransactionalIdAuthorizationFailed,
)
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.support.leftovers import nothing_left_behind

GROUP, TRANSACTION = CoordinatorType.GROUP, CoordinatorType.TRANSACTION


class Scene:
    """A cluster, a client of it, and the cache."""

    def __init__(self, broker: EmbeddedBroker, client: KafkaClient) -> None:
        self.broker = broker
        self.client = client
        self.cache = CoordinatorCache(client)

    async def find(self, group_id: str = "g", timeout_s: float = 60.0) -> int:
        return await self.cache.find(GROUP, group_id, timeout_s)

    @property
    def questions(self) -> list[FindCoordinatorRequest]:
        return self.broker.requests_of(FindCoordinatorRequest)


@asynccontextmanager
async def scene_of(
    nodes: int = 1, clock: Clock | None = None, down: int | None = None, **options: Any
) -> AsyncIterator[Scene]:
    """The node `down` is stopped before the client has seen it."""
    async with nothing_left_behind(), EmbeddedBroker(nodes) as broker:
        seeds = broker.bootstrap_servers
        if down is not None:
            broker.stop_node(down)
        config = ClientConfig(bootstrap_servers=seeds, **options)
        client = KafkaClient(config, clock=clock or FakeClock(), rng=random.Random(1))
        await client.start()
        try:
            yield Scene(broker, client)
        finally:
            await client.close()


async def test_a_coordinator_is_asked_for_once_and_then_known() -> None:
    async with scene_of(3) as scene:
        assert scene.cache.known(GROUP, "g") is None
        node_id = await scene.find()
        assert node_id in scene.client.metadata.snapshot.nodes
        assert await scene.find() == node_id
        assert scene.cache.known(GROUP, "g") == node_id
        [question] = scene.questions
        assert (question.key, question.key_type) == ("g", 0)


async def test_a_known_coordinator_is_returned_even_without_time_left() -> None:
    async with scene_of() as scene:
        await scene.find()
        assert await scene.find(timeout_s=0.0) == 1


@pytest.mark.parametrize("node_id", [1, 2, 3])
async def test_each_group_has_its_own_coordinator(node_id: int) -> None:
    async with scene_of(3) as scene:
        scene.broker.move_coordinator("g", node_id)
        scene.broker.move_coordinator("other", node_id % 3 + 1)
        assert await scene.find() == node_id
        assert await scene.find("other") == node_id % 3 + 1


async def test_a_group_and_a_transactional_id_of_one_name_are_two_keys() -> None:
    async with scene_of() as scene:
        await scene.find("x")
        assert scene.cache.known(TRANSACTION, "x") is None
        await scene.cache.find(TRANSACTION, "x", 60.0)
        scene.cache.forget(GROUP, "x", "moved")
        assert scene.cache.known(TRANSACTION, "x") == 1
        assert [question.key_type for question in scene.questions] == [0, 1]


async def test_one_key_is_asked_for_in_the_form_every_broker_knows() -> None:
    async with scene_of() as scene:
        await scene.find()
        [received] = [r for r in scene.broker.requests if r.api_key == 10]
        assert received.api_version == 3


async def test_2e_3_a_coordinator_that_moved_is_found_again_once_it_is_forgotten() -> None:
    async with scene_of(2) as scene:
        scene.broker.move_coordinator("g", 1)
        assert await scene.find() == 1
        scene.broker.move_coordinator("g", 2)
        assert await scene.find() == 1
        scene.cache.forget(GROUP, "g", "NOT_COORDINATOR")
        assert scene.cache.known(GROUP, "g") is None
        assert await scene.find() == 2


async def test_loss_and_return_of_a_coordinator_are_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "aiokafka_lite.cluster.coordinator_cache")
    async with scene_of() as scene:
        await scene.find()
        assert caplog.messages == []
        scene.cache.forget(GROUP, "g", "no answer")
        scene.cache.forget(GROUP, "g", "no answer")
        await scene.find()
        await scene.find()
    client_id = scene.client.config.client_id
    assert [m for m in caplog.messages if "coordinator" in m] == [
        f"{client_id}: coordinator of group 'g' was node 1, looking for it again: no answer",
        f"{client_id}: coordinator of group 'g' is node 1",
    ]


async def test_forgetting_what_is_not_known_does_nothing() -> None:
    async with scene_of() as scene:
        scene.cache.forget(GROUP, "g", "whatever")
        assert await scene.find() == 1


# Asking…


async def test_many_who_ask_at_once_share_one_question() -> None:
    async with scene_of() as scene:
        assert await asyncio.gather(*(scene.find() for _ in range(5))) == [1] * 5
        assert len(scene.questions) == 1


async def test_who_gives_up_does_not_take_the_answer_from_the_others() -> None:
    async with scene_of() as scene:
        scene.broker.faults.stall(FindCoordinatorRequest)
        impatient = asyncio.create_task(scene.find())
        patient = asyncio.create_task(scene.find())
        await scene.broker.wait_until(lambda: bool(scene.questions))
        impatient.cancel()
        with pytest.raises(asyncio.CancelledError):
            await impatient
        scene.broker.faults.release()
        assert await patient == 1
        assert len(scene.questions) == 1


async def test_a_question_all_have_given_up_still_brings_its_answer() -> None:
    async with scene_of() as scene:
        scene.broker.faults.stall(FindCoordinatorRequest)
        asking = asyncio.create_task(scene.find())
        await scene.broker.wait_until(lambda: bool(scene.questions))
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        scene.broker.faults.release()
        assert await scene.find() == 1
        assert len(scene.questions) == 1


async def test_2e_15_it_is_asked_again_after_a_backoff_until_there_is_one() -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with scene_of(clock=clock, retry_backoff_ms=1000, retry_backoff_max_ms=8000) as scene:
        scene.broker.faults.fail(FindCoordinatorRequest, GroupCoordinatorNotAvailableError, times=3)
        before_s = clock.monotonic()
        assert await scene.find() == 1
        assert len(scene.questions) == 4
        assert clock.monotonic() - before_s == pytest.approx(1 + 2 + 4, rel=0.2)


async def test_a_lost_connection_is_tried_again() -> None:
    async with scene_of(clock=FakeClock(autojump_threshold_s=0.02)) as scene:
        scene.broker.faults.cut(FindCoordinatorRequest)
        assert await scene.find() == 1


@pytest.mark.parametrize(
    ("key_type", "error"),
    [
        (GROUP, GroupAuthorizationFailedError),
        (TRANSACTION, TransactionalIdAuthorizationFailed),
    ],
)
async def test_what_asking_again_does_not_mend_is_raised_at_once(
    key_type: CoordinatorType, error: type[BrokerResponseError]
) -> None:
    async with scene_of() as scene:
        scene.broker.faults.fail(FindCoordinatorRequest, error)
        name = key_type.name.lower()
        with pytest.raises(error, match=f"looking for the coordinator of {name} 'x'"):
            await scene.cache.find(key_type, "x", 60.0)
        assert len(scene.questions) == 1
        assert await scene.cache.find(key_type, "x", 60.0) == 1


async def test_the_end_of_the_time_names_the_key_the_time_and_the_last_failure() -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with scene_of(clock=clock) as scene:
        scene.broker.move_coordinator("g", None)
        before_s = clock.monotonic()
        with pytest.raises(KafkaTimeoutError) as raised:
            await scene.find(timeout_s=5.0)
        assert clock.monotonic() - before_s == pytest.approx(5.0)
        assert "no coordinator of group 'g' within 5 s" in str(raised.value)
        assert "no node coordinates 'g'" in str(raised.value)
        assert isinstance(raised.value.__cause__, GroupCoordinatorNotAvailableError)
        scene.broker.move_coordinator("g", 1)
        assert await scene.find(timeout_s=5.0) == 1


async def test_the_time_ends_although_no_answer_comes() -> None:
    clock = FakeClock()
    async with scene_of(clock=clock) as scene:
        scene.broker.faults.drop(FindCoordinatorRequest)
        asking = asyncio.create_task(scene.find(timeout_s=5.0))
        await scene.broker.wait_until(lambda: bool(scene.questions))
        await clock.advance(4.9)
        assert not asking.done()
        await clock.advance(0.1)
        with pytest.raises(
            KafkaTimeoutError, match="no coordinator of group 'g' within 5 s; check"
        ):
            await asking


async def test_a_coordinator_that_joined_the_cluster_after_the_metadata_costs_a_refresh() -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with scene_of(2, clock=clock, down=2) as scene:
        assert set(scene.client.metadata.snapshot.nodes) == {1}
        scene.broker.start_node(2)
        scene.broker.move_coordinator("g", 2)
        assert await scene.find() == 2
        assert set(scene.client.metadata.snapshot.nodes) == {1, 2}


async def test_closing_the_client_ends_the_search() -> None:
    async with scene_of(clock=FakeClock(autojump_threshold_s=0.02)) as scene:
        scene.broker.faults.drop(FindCoordinatorRequest)
        asking = asyncio.create_task(scene.find())
        await scene.broker.wait_until(lambda: bool(scene.questions))
        await settle()
        await scene.client.close()
        with pytest.raises(IllegalStateError, match="closed"):
            await asking


async def test_a_late_error_of_the_old_node_does_not_forget_the_new_one() -> None:
    async with scene_of(nodes=2) as scene:
        scene.broker.move_coordinator("g", 1)
        assert await scene.find() == 1
        scene.cache.forget(GROUP, "g", "it is dead", failed=1)
        assert scene.cache.known(GROUP, "g") is None
        scene.broker.move_coordinator("g", 2)
        assert await scene.find() == 2
        scene.cache.forget(GROUP, "g", "late", failed=1)
        assert scene.cache.known(GROUP, "g") == 2
