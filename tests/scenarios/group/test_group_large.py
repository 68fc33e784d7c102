"""The leader of a large group: its event loop goes on while it reads the members and assigns."""

import asyncio
import gc
import logging
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.scenarios.consuming import embedded
from tests.scenarios.grouping import GROUP, member_of
from tests.testing.broker.apache.group_peers import Peer

MEMBERS = 30
CLAIMS = 8_000
"""That each member had of a topic that is gone, which the leader reads and weighs all the same."""
LONGEST_S = 0.05
PATIENCE_S = 20


class Steps:
    """The most CPU that a callback of the loop took in its thread."""

    longest_s = 0.0


@contextmanager
def measured_steps() -> Iterator[Steps]:
    """Measure each callback of event loops of this thread, a task's step among them."""
    steps, run = Steps(), asyncio.Handle._run

    def measured(handle: Any) -> None:
        began = time.thread_time()
        run(handle)
        steps.longest_s = max(steps.longest_s, time.thread_time() - began)

    gc.collect()
    gc.disable()  # what else this process keeps is no work of the leader's
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio.Handle, "_run", measured)
        try:
            yield steps
        finally:
            gc.enable()


def told(number: int, claims: int = CLAIMS) -> dict[str, bytes]:
    assignor = StickyPartitionAssignor()
    claimed = list(range(number * claims, (number + 1) * claims))
    assignor.on_assignment(ConsumerProtocolMemberAssignment(0, [("gone", claimed)], b""))
    assignor.on_generation(1)
    return {assignor.name: assignor.metadata(["t"]).encode()}


async def led(broker: EmbeddedBroker) -> tuple[float, list[TopicPartition]]:
    """Let members join the group of a consumer; return its longest step, and all assignments."""
    given: list[TopicPartition] = []
    async with AsyncExitStack() as stack:
        consumer = member_of(broker, "t", partition_assignment_strategy=[StickyPartitionAssignor])
        await stack.enter_async_context(consumer)
        peers = []
        for number in range(MEMBERS):
            peer = await stack.enter_async_context(await Peer.connect(broker.bootstrap_servers))
            peer.group_id = GROUP
            # The group waits for whom it has given an id, so there is one rebalance for all.
            await peer.get_id(told(number))
            peers.append(peer)
        protocols = [told(number) for number in range(MEMBERS)]
        with measured_steps() as steps:
            for peer, said in zip(peers, protocols, strict=True):
                peer.send_join(said)
            for peer in peers:
                assert (await peer.joined()).leader != peer.member_id
                peer.send_sync(protocol_name="sticky")
            for peer in peers:
                error, assignment = await peer.synced()
                assert error == 0
                given += ConsumerProtocolMemberAssignment.decode(assignment).partitions()
        while len(consumer.assignment()) + len(given) != 2 * (MEMBERS + 1):
            await consumer.getmany(timeout_ms=10)
        given += consumer.assignment()
    return steps.longest_s, given


def test_2e_9_no_step_of_the_leaders_loop_is_long_in_a_large_group() -> None:
    """What would be 0.1 s of one step is computed in a thread."""
    with EmbeddedBroker.threaded() as broker:
        broker.create_topic("t", 2 * (MEMBERS + 1))
        longest_s, given = asyncio.run(asyncio.wait_for(led(broker), PATIENCE_S))
    print(f"longest step {longest_s * 1000:.1f} ms")
    assert sorted(given) == [TopicPartition("t", number) for number in range(2 * (MEMBERS + 1))]
    assert longest_s < LONGEST_S


class Held:
    """The assignments of "sticky" to more than one member wait until the test lets them go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began, self.may_go = threading.Event(), threading.Event()
        of_one = StickyPartitionAssignor().assign

        def assign(_: object, cluster: Any, members: Any) -> Any:
            if len(members) > 1:
                self.began.set()
                assert self.may_go.wait(PATIENCE_S), "nobody else could run"
            return of_one(cluster, members)

        monkeypatch.setattr(StickyPartitionAssignor, "assign", assign)


@asynccontextmanager
async def a_second_member(
    broker: EmbeddedBroker, consumer: AIOKafkaConsumer[Any, Any], protocols: dict[str, bytes]
) -> AsyncIterator[Peer]:
    """Let the consumer lead a group of two, whose other member has much to say."""
    async with await Peer.connect(broker.bootstrap_servers) as peer:
        peer.group_id = GROUP
        await consumer.start()
        await peer.get_id(protocols)
        peer.send_join(protocols)
        await peer.joined()
        yield peer


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    held = Held(monkeypatch)
    yield held
    held.may_go.set()


async def test_2e_4_heartbeats_go_on_while_the_leader_assigns_a_large_group(held: Held) -> None:
    async with embedded({"t": 4}) as broker:
        consumer = member_of(broker, "t", partition_assignment_strategy=[StickyPartitionAssignor])
        async with a_second_member(broker, consumer, told(0, 3 * CLAIMS)) as peer:
            await broker.wait_until(held.began.is_set)
            before = len(broker.requests_of(HeartbeatRequest))
            await broker.wait_until(lambda: len(broker.requests_of(HeartbeatRequest)) > before + 2)
            held.may_go.set()
            error, assignment = await peer.sync(protocol_name="sticky")
            assert error == 0
            assert len(ConsumerProtocolMemberAssignment.decode(assignment).partitions()) == 2
            await consumer.stop()


async def test_a_leader_that_stops_while_it_assigns_leaves_nothing_behind(
    held: Held, caplog: pytest.LogCaptureFixture
) -> None:
    """stop() does not wait for the thread, and nobody hears of what the thread returns (C1)."""
    async with embedded({"t": 4}) as broker:
        consumer = member_of(broker, "t", partition_assignment_strategy=[StickyPartitionAssignor])
        async with a_second_member(broker, consumer, told(0, 3 * CLAIMS)):
            await broker.wait_until(held.began.is_set)
            await asyncio.wait_for(consumer.stop(), PATIENCE_S)
            assert not held.may_go.is_set()
        held.may_go.set()
        await asyncio.get_running_loop().shutdown_default_executor()
        gc.collect()
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


async def test_an_assignor_of_the_users_is_called_in_the_loop() -> None:
    """It may touch what belongs to the loop, however large the group is."""
    loops = []

    class Mine(RoundRobinPartitionAssignor):
        name = "mine"

        def assign(self, cluster: Any, members: Any) -> Any:
            loops.append(asyncio.get_running_loop())
            return super().assign(cluster, members)

    said = ConsumerProtocolMemberMetadata(0, ["t"], b"x" * 100_000).encode()
    async with embedded({"t": 4}) as broker:
        consumer = member_of(broker, "t", partition_assignment_strategy=[Mine])
        async with a_second_member(broker, consumer, {"mine": said}) as peer:
            error, assignment = await peer.sync(protocol_name="mine")
            assert error == 0
            assert len(ConsumerProtocolMemberAssignment.decode(assignment).partitions()) == 2
            await consumer.stop()
    assert set(loops) == {asyncio.get_running_loop()}
