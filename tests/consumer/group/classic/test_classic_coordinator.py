"""What the member says to its coordinator, how long it waits, and when the coordinator counts as
lost (2e-1 to 2e-5), against the embedded broker.
"""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.clock import Clock
from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache, CoordinatorType
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.group.classic.classic_coordinator import ClassicCoordinator
from aiokafka_lite.consumer.group.classic.member import Generation, Member
from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupAuthorizationFailedError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    MemberIdRequired,
    NotCoordinatorForGroupError,
    RequestTimedOutError,
    UnknownError,
    UnknownMemberIdError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.support.leftovers import nothing_left_behind

TOPICS = ConsumerProtocolMemberMetadata(3, ["t"], None).encode()
PROTOCOLS = [
    JoinGroupRequestProtocol(name="range", metadata=TOPICS),
    JoinGroupRequestProtocol(name="roundrobin", metadata=TOPICS),
]


class Scene:
    """A member of group g, its client on `clock`, and the cluster."""

    def __init__(self, broker: EmbeddedBroker, client: KafkaClient, config: ConsumerConfig) -> None:
        self.broker = broker
        self.client = client
        self.member = Member("g", config.group_instance_id)
        self.cache = CoordinatorCache(client)
        self.coordinator = ClassicCoordinator(config, client, self.cache, self.member)

    async def join(self, reason: str = "a test") -> Generation:
        """Join as the membership would: take the id, then be part of a generation (KIP-394)."""
        member = self.member
        while True:
            member.begin_join()
            answer = await self.coordinator.join(PROTOCOLS, reason)
            if answer.error_code != MemberIdRequired.errno:
                break
            member.take_member_id(answer.member_id)
        assert answer.error_code == 0
        member.joined(Generation(answer.generation_id, answer.member_id, answer.protocol_name))
        return member.generation

    async def be_stable(self) -> Generation:
        generation = await self.join()
        answer = await self.coordinator.sync({generation.member_id: b"mine"})
        assert answer.error_code == 0
        self.member.synced()
        return generation


@asynccontextmanager
async def scene_of(
    nodes: int = 1,
    clock: Clock | None = None,
    max_versions: dict[int, int | None] | None = None,
    **options: Any,
) -> AsyncIterator[Scene]:
    async with (
        nothing_left_behind(),
        EmbeddedBroker(nodes, max_versions=max_versions) as broker,
    ):
        config = ConsumerConfig(bootstrap_servers=broker.bootstrap_servers, group_id="g", **options)
        client = KafkaClient(config, clock=clock or FakeClock(), rng=random.Random(1))
        await client.start()
        try:
            yield Scene(broker, client, config)
        finally:
            await client.close()


# Finding…


async def test_the_coordinator_is_known_once_it_was_found_and_until_it_is_lost() -> None:
    async with scene_of(2) as scene:
        scene.broker.move_coordinator("g", 2)
        assert scene.coordinator.node_id is None
        assert await scene.cache.find(CoordinatorType.GROUP, "g", 60.0) == 2
        assert scene.coordinator.node_id == 2
        scene.coordinator.lost("the test says so")
        assert scene.coordinator.node_id is None


async def test_what_others_learn_of_the_groups_coordinator_is_shared() -> None:
    """Commits ask the same cache."""
    async with scene_of() as scene:
        await scene.cache.find(CoordinatorType.GROUP, "g", 60.0)
        assert scene.coordinator.node_id == 1


async def test_a_question_finds_the_coordinator_first() -> None:
    async with scene_of(2) as scene:
        scene.broker.move_coordinator("g", 2)
        await scene.coordinator.heartbeat()
        assert scene.coordinator.node_id == 2
        [asked] = [r for r in scene.broker.requests if isinstance(r.request, HeartbeatRequest)]
        assert asked.node_id == 2


async def test_a_question_without_coordinator_ends_after_request_timeout_ms() -> None:
    async with scene_of(
        clock=FakeClock(autojump_threshold_s=0.02), request_timeout_ms=5000
    ) as scene:
        scene.broker.move_coordinator("g", None)
        with pytest.raises(KafkaTimeoutError, match="no coordinator of group 'g' within 5 s"):
            await scene.coordinator.heartbeat()


async def test_who_may_not_use_the_group_hears_it_at_once() -> None:
    async with scene_of() as scene:
        scene.broker.faults.fail(FindCoordinatorRequest, GroupAuthorizationFailedError)
        with pytest.raises(GroupAuthorizationFailedError):
            await scene.coordinator.join(PROTOCOLS, "a test")


# Joining…


async def test_2e_2_join_group_tells_both_timeouts_and_every_assignor() -> None:
    async with scene_of(session_timeout_ms=20_000, max_poll_interval_ms=90_000) as scene:
        generation = await scene.join("the consumer starts")
        first, second = scene.broker.requests_of(JoinGroupRequest)
        assert (first.member_id, second.member_id) == ("", generation.member_id)
        assert second.session_timeout_ms == 20_000
        assert second.rebalance_timeout_ms == 90_000
        assert second.protocol_type == "consumer"
        assert [protocol.name for protocol in second.protocols] == ["range", "roundrobin"]
        assert [bytes(protocol.metadata) for protocol in second.protocols] == [TOPICS, TOPICS]
        assert second.group_instance_id is None
        assert second.reason == "the consumer starts"
        assert scene.broker.group("g").leader == generation.member_id


async def test_2e_2_rebalance_timeout_ms_goes_before_max_poll_interval_ms() -> None:
    async with scene_of(rebalance_timeout_ms=7_000) as scene:
        await scene.join()
        assert scene.broker.requests_of(JoinGroupRequest)[-1].rebalance_timeout_ms == 7_000


async def test_kip_345_a_static_member_joins_by_its_instance_id() -> None:
    async with scene_of(group_instance_id="i-1") as scene:
        generation = await scene.be_stable()
        assert [r.group_instance_id for r in scene.broker.requests_of(JoinGroupRequest)] == ["i-1"]
        [sync] = scene.broker.requests_of(SyncGroupRequest)
        assert sync.group_instance_id == "i-1"
        await scene.coordinator.heartbeat()
        [heartbeat] = scene.broker.requests_of(HeartbeatRequest)
        assert heartbeat.group_instance_id == "i-1"
        view = scene.broker.group("g").members[generation.member_id]
        assert view.group_instance_id == "i-1"


@pytest.mark.parametrize(("reason", "told"), [("", None), ("x" * 300, "x" * 255)])
async def test_kip_800_a_reason_is_cut_and_an_empty_one_is_none(
    reason: str, told: str | None
) -> None:
    async with scene_of() as scene:
        await scene.join(reason)
        assert scene.broker.requests_of(JoinGroupRequest)[-1].reason == told


@pytest.mark.parametrize("version", [0, 1, 4, 5, 9])
async def test_older_brokers_are_joined_without_what_they_do_not_know(version: int) -> None:
    """Old brokers get no fields they lack (KIP-62, KIP-394, KIP-345, KIP-800)."""
    async with scene_of(max_versions={ApiKey.JOIN_GROUP: version}) as scene:
        await scene.join("a test")
        requests = scene.broker.requests_of(JoinGroupRequest)
        assert len(requests) == (1 if version < 4 else 2)
        assert requests[-1].reason == ("a test" if version >= 8 else None)


async def test_the_answer_to_join_group_is_the_callers_business() -> None:
    """An error in the answer is returned to the caller and loses no coordinator (2e-3)."""
    async with scene_of() as scene:
        scene.broker.faults.fail(JoinGroupRequest, NotCoordinatorForGroupError)
        answer = await scene.coordinator.join(PROTOCOLS, "a test")
        assert answer.error_code == NotCoordinatorForGroupError.errno
        assert scene.coordinator.node_id == 1


# Syncing and heartbeats…


async def test_the_leader_brings_all_assignments_with_its_generation() -> None:
    async with scene_of() as scene:
        generation = await scene.join()
        answer = await scene.coordinator.sync({generation.member_id: b"mine"})
        assert bytes(answer.assignment) == b"mine"
        [sync] = scene.broker.requests_of(SyncGroupRequest)
        assert (sync.generation_id, sync.member_id) == (1, generation.member_id)
        assert (sync.protocol_type, sync.protocol_name) == ("consumer", "range")


async def test_who_does_not_lead_brings_nothing() -> None:
    async with scene_of() as scene:
        await scene.be_stable()
        answer = await scene.coordinator.sync({})
        assert bytes(answer.assignment) == b"mine"
        assert scene.broker.requests_of(SyncGroupRequest)[-1].assignments == []


async def test_a_heartbeat_tells_member_and_generation() -> None:
    async with scene_of() as scene:
        generation = await scene.be_stable()
        assert (await scene.coordinator.heartbeat()).error_code == 0
        [heartbeat] = scene.broker.requests_of(HeartbeatRequest)
        assert (heartbeat.group_id, heartbeat.generation_id, heartbeat.member_id) == (
            "g",
            1,
            generation.member_id,
        )


async def test_a_heartbeat_of_nobody_is_answered_with_an_error_not_raised() -> None:
    async with scene_of() as scene:
        answer = await scene.coordinator.heartbeat()
        assert answer.error_code == UnknownMemberIdError.errno


async def test_f1_heartbeats_do_not_queue_behind_other_requests_to_the_node() -> None:
    async with scene_of() as scene:
        await scene.be_stable()
        scene.broker.forget_requests()
        scene.broker.faults.stall(MetadataRequest)
        waiting = asyncio.create_task(scene.client.network.request(1, MetadataRequest(topics=[])))
        await scene.broker.wait_until(lambda: bool(scene.broker.requests))
        assert (await scene.coordinator.heartbeat()).error_code == 0
        assert not waiting.done()
        scene.broker.faults.release()
        await waiting


# How long it waits, and what it makes of silence…

Ask = Callable[[ClassicCoordinator], Coroutine[Any, Any, object]]


def join(coordinator: ClassicCoordinator) -> Coroutine[Any, Any, object]:
    return coordinator.join(PROTOCOLS, "a test")


def sync(coordinator: ClassicCoordinator) -> Coroutine[Any, Any, object]:
    return coordinator.sync({})


def heartbeat(coordinator: ClassicCoordinator) -> Coroutine[Any, Any, object]:
    return coordinator.heartbeat()


REQUESTS: dict[Ask, Any] = {
    join: JoinGroupRequest,
    sync: SyncGroupRequest,
    heartbeat: HeartbeatRequest,
}
ASKS = pytest.mark.parametrize("ask", REQUESTS, ids=lambda ask: ask.__name__)


@pytest.mark.parametrize(
    ("ask", "options", "bound_s"),
    [
        # The larger of the request timeout and the rebalance timeout plus 5 s (2e-2).
        (join, {"max_poll_interval_ms": 60_000, "request_timeout_ms": 20_000}, 65),
        (join, {"max_poll_interval_ms": 60_000, "request_timeout_ms": 90_000}, 90),
        (join, {"rebalance_timeout_ms": 40_000, "request_timeout_ms": 20_000}, 45),
        (sync, {"max_poll_interval_ms": 60_000, "request_timeout_ms": 20_000}, 65),
        (sync, {"max_poll_interval_ms": 60_000, "request_timeout_ms": 90_000}, 90),
        # A session without an answer is the end (2e-4).
        (heartbeat, {"session_timeout_ms": 10_000, "request_timeout_ms": 20_000}, 10),
        (heartbeat, {"session_timeout_ms": 45_000, "request_timeout_ms": 20_000}, 20),
    ],
)
async def test_2e_2_how_long_an_answer_is_waited_for(
    ask: Ask, options: dict[str, Any], bound_s: float
) -> None:
    clock = FakeClock()
    async with scene_of(clock=clock, **options) as scene:
        await scene.cache.find(CoordinatorType.GROUP, "g", 60.0)
        scene.broker.faults.drop(REQUESTS[ask])
        asking = asyncio.create_task(ask(scene.coordinator))
        await scene.broker.wait_until(lambda: bool(scene.broker.requests_of(REQUESTS[ask])))
        await clock.advance(bound_s - 0.1)
        assert not asking.done()
        await clock.advance(0.1)
        with pytest.raises(RequestTimedOutError):
            await asking
        assert scene.coordinator.node_id is None


@ASKS
async def test_2e_3_a_lost_connection_loses_the_coordinator(ask: Ask) -> None:
    async with scene_of() as scene:
        await scene.cache.find(CoordinatorType.GROUP, "g", 60.0)
        scene.broker.faults.cut(REQUESTS[ask])
        with pytest.raises(KafkaConnectionError):
            await ask(scene.coordinator)
        assert scene.coordinator.node_id is None


@ASKS
async def test_a_failure_that_another_coordinator_would_not_mend_keeps_it(ask: Ask) -> None:
    async with scene_of(max_versions={REQUESTS[ask].api_key: None}) as scene:
        with pytest.raises(UnsupportedVersionError):
            await ask(scene.coordinator)
        assert scene.coordinator.node_id == 1


@ASKS
async def test_cancelling_a_question_keeps_the_coordinator(ask: Ask) -> None:
    async with scene_of() as scene:
        await scene.cache.find(CoordinatorType.GROUP, "g", 60.0)
        scene.broker.faults.stall(REQUESTS[ask])
        asking = asyncio.create_task(ask(scene.coordinator))
        await scene.broker.wait_until(lambda: bool(scene.broker.requests_of(REQUESTS[ask])))
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert scene.coordinator.node_id == 1
        scene.broker.faults.release()


# Leaving…


async def test_2e_5_leaving_takes_the_member_out_and_says_why() -> None:
    """LeaveGroup removes the member at once and carries a reason (KIP-800)."""
    async with scene_of() as scene:
        generation = await scene.be_stable()
        await scene.coordinator.leave(generation.member_id, "x" * 300, 5.0)
        assert scene.broker.group("g").members == {}
        [leave] = scene.broker.requests_of(LeaveGroupRequest)
        [identity] = leave.members
        assert (identity.member_id, identity.reason) == (generation.member_id, "x" * 255)
        assert identity.group_instance_id is None


@pytest.mark.parametrize("version", [0, 2, 3, 4, 5])
async def test_2e_5_older_brokers_are_left_in_their_own_form(version: int) -> None:
    """Version 3 brought a list of members (KIP-345), version 5 the reason."""
    async with scene_of(max_versions={ApiKey.LEAVE_GROUP: version}) as scene:
        generation = await scene.be_stable()
        await scene.coordinator.leave(generation.member_id, "a test", 5.0)
        assert scene.broker.group("g").members == {}
        [leave] = scene.broker.requests_of(LeaveGroupRequest)
        assert len(leave.members) == (1 if version >= 3 else 0)


async def test_leaving_names_the_instance_id_of_a_static_member() -> None:
    """Static members do not leave by themselves (2e-5); when told to, they are named (KIP-345)."""
    async with scene_of(group_instance_id="i-1") as scene:
        generation = await scene.be_stable()
        await scene.coordinator.leave(generation.member_id, "a test", 5.0)
        assert scene.broker.requests_of(LeaveGroupRequest)[0].members[0].group_instance_id == "i-1"
        assert scene.broker.group("g").members == {}


async def test_an_unknown_coordinator_is_not_looked_for_in_order_to_leave() -> None:
    async with scene_of() as scene:
        generation = await scene.be_stable()
        scene.coordinator.lost("the test says so")
        scene.broker.forget_requests()
        await scene.coordinator.leave(generation.member_id, "a test", 5.0)
        assert scene.broker.requests == []


async def test_a_coordinator_that_throttles_a_connection_is_told_by_another() -> None:
    """It takes no request on that connection (KIP-219)."""
    async with scene_of() as scene:
        generation = await scene.be_stable()
        scene.broker.faults.throttle(HeartbeatRequest, 10_000)
        await scene.coordinator.heartbeat()
        assert scene.client.network.ready_delay(1, Lane.COORDINATOR) > 0
        await scene.coordinator.leave(generation.member_id, "a test", 5.0)
        assert len(scene.broker.requests_of(LeaveGroupRequest)) == 1
        assert scene.client.network.ready_delay(1, Lane.COORDINATOR) > 0


async def test_a_join_that_waits_for_others_does_not_hold_up_leaving_on_another_lane() -> None:
    async with scene_of() as scene:
        generation = await scene.be_stable()
        scene.broker.faults.stall(JoinGroupRequest)
        joining = asyncio.create_task(join(scene.coordinator))
        await scene.broker.wait_until(lambda: len(scene.broker.requests_of(JoinGroupRequest)) == 3)
        await scene.coordinator.leave(generation.member_id, "a test", 5.0, (Lane.GENERAL,))
        assert scene.broker.group("g").members == {}
        joining.cancel()
        scene.broker.faults.release()


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """The lines of the coordinator's log."""
    name = "aiokafka_lite.consumer.group.classic.classic_coordinator"
    caplog.set_level(logging.INFO, name)
    return lambda: [r.getMessage() for r in caplog.records if r.name == name]


async def test_leaving_is_logged(said: Callable[[], list[str]]) -> None:
    async with scene_of() as scene:
        generation = await scene.be_stable()
        await scene.coordinator.leave(generation.member_id, "a test", 5.0)
    assert said() == [f"{generation.member_id} left group 'g': a test"]


@pytest.mark.parametrize("error", [UnknownMemberIdError, UnknownError])
async def test_an_error_in_the_answer_to_leaving_is_logged_only(
    said: Callable[[], list[str]], error: type[BrokerResponseError]
) -> None:
    async with scene_of() as scene:
        generation = await scene.be_stable()
        scene.broker.faults.fail(LeaveGroupRequest, error)
        await scene.coordinator.leave(generation.member_id, "a test", 5.0)
    assert said() == [f"{generation.member_id} left group 'g': a test ({error.message})"]


@pytest.mark.parametrize("fault", ["cut", "drop"])
async def test_a_failure_to_leave_is_logged_only_and_bounded(
    said: Callable[[], list[str]], fault: str
) -> None:
    clock = FakeClock(autojump_threshold_s=0.02)
    async with scene_of(clock=clock) as scene:
        generation = await scene.be_stable()
        getattr(scene.broker.faults, fault)(LeaveGroupRequest)
        before_s = clock.monotonic()
        await scene.coordinator.leave(generation.member_id, "a test", 5.0)
        assert clock.monotonic() - before_s == pytest.approx(5.0 if fault == "drop" else 0.0)
    assert "may not hear of it" in said()[0]


async def test_the_client_may_be_closed_while_a_question_is_on_its_way() -> None:
    async with scene_of() as scene:
        await scene.cache.find(CoordinatorType.GROUP, "g", 60.0)
        scene.broker.faults.stall(JoinGroupRequest)
        joining = asyncio.create_task(join(scene.coordinator))
        await scene.broker.wait_until(lambda: bool(scene.broker.requests_of(JoinGroupRequest)))
        await scene.client.close()
        with pytest.raises(KafkaError):
            await joining
        scene.broker.faults.release()
