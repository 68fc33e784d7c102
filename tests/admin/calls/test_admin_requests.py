"""Calls are split, routed, repeated and bounded; what was cancelled leaves nothing behind."""

import asyncio
from collections.abc import Mapping

import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin.calls.admin_requests import MOST_ITEMS, SIDE_BY_SIDE, AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error
from aiokafka_lite.admin.calls.pending_items import SETTLING_S
from aiokafka_lite.cluster.coordinator_cache import CoordinatorType
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    NotControllerError,
    NotCoordinatorForGroupError,
    NotLeaderForPartitionError,
    RequestTimedOutError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from aiokafka_lite.protocol.messages.describe_cluster import DescribeClusterRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.admin.support.admin_scene import AdminScene, admin_scene
from tests.support.patience import eventually

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


async def create(node: AskedNode, names: list[str]) -> dict[str, KafkaError | None]:
    topics = [CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    response = await node.request(CreateTopicsRequest(topics=topics, timeout_ms=node.left_ms))
    return {
        each.name: broker_error(each.error_code, each.error_message, f"topic {each.name!r}")
        for each in response.topics
    }


async def create_one(node: AskedNode) -> int | None:
    error = (await create(node, ["t"]))["t"]
    if error is not None:
        raise error
    return node.node_id


async def end_offsets(
    node: AskedNode, keys: list[TopicPartition]
) -> Mapping[TopicPartition, int | KafkaError]:
    topics = [
        ListOffsetsTopic(
            name=key.topic,
            partitions=[ListOffsetsPartition(partition_index=key.partition, timestamp=-1)],
        )
        for key in keys
    ]
    found: dict[TopicPartition, int | KafkaError] = {}
    for topic in (await node.request(ListOffsetsRequest(topics=topics))).topics:
        for part in topic.partitions:
            key = TopicPartition(topic.name, part.partition_index)
            found[key] = broker_error(part.error_code, None, f"partition {key}") or part.offset
    return found


def creations(scene: AdminScene) -> int:
    return len(scene.asked(CreateTopicsRequest))


async def test_thousands_of_items_are_split_and_asked_for_side_by_side() -> None:
    async with admin_scene() as scene:
        sizes: list[int] = []
        at_a_time: set[int] = set()
        running = 0

        async def ask(_: AskedNode, keys: list[int]) -> dict[int, int | KafkaError]:
            nonlocal running
            running += 1
            sizes.append(len(keys))
            await asyncio.sleep(0)
            at_a_time.add(running)
            running -= 1
            return {key: -key for key in keys}

        route = scene.routes.any_node
        outcomes = await scene.requests.for_each("ask()", range(10_500), route, ask, timeout_s=9)
        assert list(outcomes.items()) == [(key, -key) for key in range(10_500)]
        assert sizes == [MOST_ITEMS] * 10 + [500]
        assert max(at_a_time) == SIDE_BY_SIDE
        sizes.clear()
        await scene.requests.for_each("a()", range(5), route, ask, timeout_s=9, most_items=2)
        assert sizes == [2, 2, 1]
        assert await scene.requests.for_each("a()", [], route, ask, timeout_s=9) == {}


async def test_a_value_that_no_request_can_carry_is_raised_as_it_is() -> None:
    async with admin_scene() as scene:

        async def ask(_: AskedNode, keys: list[int]) -> dict[int, int | KafkaError]:
            raise TypeError(f"{keys} cannot be sent")

        with pytest.raises(TypeError, match="cannot be sent"):
            await scene.requests.for_each(
                "ask()", range(3), scene.routes.any_node, ask, timeout_s=9, most_items=1
            )


async def test_only_what_a_node_left_open_is_asked_for_again() -> None:
    async with admin_scene() as scene:
        scene.broker.create_topic("b")
        scene.broker.faults.fail(ApiKey.CREATE_TOPICS, NotControllerError)
        outcomes = await scene.requests.for_each(
            "create()", ["a", "b"], scene.routes.controller, create, timeout_s=9
        )
        assert [type(each).__name__ for each in outcomes.values()] == [
            "NoneType",
            "TopicAlreadyExistsError",
        ]
        assert creations(scene) == 2


async def test_a_controller_that_is_lost_is_followed_to_its_successor() -> None:
    async with admin_scene(2) as scene:
        scene.broker.stop_node(1)
        node_id = await scene.requests.one(
            "create()", "t", scene.routes.controller, create_one, timeout_s=9
        )
        assert node_id == 2


async def test_a_leader_that_moves_between_attempts_is_followed() -> None:
    async with admin_scene(2) as scene:
        scene.broker.create_topic("t", partitions=2)
        asked: list[tuple[int | None, list[TopicPartition]]] = []

        async def ask(
            node: AskedNode, keys: list[TopicPartition]
        ) -> Mapping[TopicPartition, int | KafkaError]:
            asked.append((node.node_id, keys))
            if len(asked) == 1:
                scene.broker.move_leader(T0, 2)  # after the route has named node 1
            return await end_offsets(node, keys)

        outcomes = await scene.requests.for_each(
            "offsets()", [T0, T1], scene.routes.leader, ask, timeout_s=9
        )
        assert outcomes == {T0: 0, T1: 0}
        assert asked == [(1, [T0]), (2, [T1]), (2, [T0])]


async def test_a_node_that_is_down_fails_its_own_items_only() -> None:
    async with admin_scene(2) as scene:
        scene.broker.create_topic("t", partitions=2, replication_factor=1)
        scene.broker.faults.cut(ListOffsetsRequest, times=None, node_id=2)
        outcomes = await scene.requests.for_each(
            "offsets()", [T0, T1], scene.routes.leader, end_offsets, timeout_s=9
        )
        assert outcomes.succeeded == {T0: 0}
        with pytest.raises(KafkaTimeoutError, match=r"offsets\(\): no result within 9 s; last f"):
            outcomes.raise_first()
        assert isinstance(outcomes.failed[T1].__cause__, KafkaConnectionError)


async def test_a_coordinator_is_awaited_until_it_is_available() -> None:
    async with admin_scene() as scene:
        scene.broker.move_coordinator("g", None)
        asked = 0

        async def ask(node: AskedNode) -> int | None:
            nonlocal asked
            asked += 1
            code = (await node.request(HeartbeatRequest(group_id="g", member_id="m"))).error_code
            error = broker_error(code, None, "group 'g'")
            if isinstance(error, NotCoordinatorForGroupError):
                raise error
            return node.node_id

        route = scene.routes.coordinator(CoordinatorType.GROUP)
        with pytest.raises(KafkaTimeoutError) as caught:
            await scene.requests.one("ask()", "g", route, ask, timeout_s=2)
        assert isinstance(caught.value.__cause__, GroupCoordinatorNotAvailableError)
        assert asked == 0
        call = asyncio.create_task(scene.requests.one("ask()", "g", route, ask, timeout_s=60))
        await settle()
        scene.broker.move_coordinator("g", 1)
        scene.broker.faults.fail(HeartbeatRequest, NotCoordinatorForGroupError)
        assert await call == 1
        assert asked == 2


def test_a_coordinator_is_awaited_for_as_long_as_the_call_may_take() -> None:
    """Thousands of attempts need no more memory, and no deeper stack, than the first one."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.move_coordinator("g", None)
        async with AIOKafkaAdminClient(**kafka.client_options) as admin:
            with pytest.raises(KafkaTimeoutError) as caught:
                await admin.list_consumer_group_offsets("g", timeout_ms=3_000_000)
            assert isinstance(caught.value.__cause__, GroupCoordinatorNotAvailableError)

    run_virtual_kafka(main)


async def test_what_no_node_could_be_asked_is_an_error_of_the_item() -> None:
    async with admin_scene() as scene:
        outcomes = await scene.requests.for_each(
            "offsets()", [T0], scene.routes.leader, end_offsets, timeout_s=9
        )
        assert isinstance(outcomes.failed[T0], UnknownTopicOrPartitionError)


async def test_what_a_node_refuses_as_a_whole_is_raised() -> None:
    async with admin_scene() as scene:

        async def ask(node: AskedNode, keys: list[str]) -> dict[str, KafkaError | None]:
            await create(node, keys)
            raise ClusterAuthorizationFailedError("no")

        with pytest.raises(ClusterAuthorizationFailedError):
            await scene.requests.for_each(
                "ask()", ["a", "b"], scene.routes.any_node, ask, timeout_s=9
            )
        assert creations(scene) == 1


async def test_a_new_topic_may_settle_for_a_second_of_the_clients_clock() -> None:
    clock = FakeClock()
    async with admin_scene(clock=clock) as scene:
        call = asyncio.create_task(
            scene.requests.for_each("o()", [T0], scene.routes.leader, end_offsets, timeout_s=60)
        )
        await clock.advance(SETTLING_S * 0.9)
        assert not call.done()
        scene.broker.create_topic("t")
        await clock.advance(SETTLING_S)
        assert await call == {T0: 0}
        unknown = TopicPartition("x", 0)
        call = asyncio.create_task(
            scene.requests.for_each(
                "o()", [unknown], scene.routes.leader, end_offsets, timeout_s=60
            )
        )
        await clock.advance(SETTLING_S * 0.9)
        assert not call.done()
        await clock.advance(SETTLING_S)
        assert isinstance((await call)[unknown], UnknownTopicOrPartitionError)
        at_once = await scene.requests.for_each(
            "o()", [unknown], scene.routes.leader, end_offsets, timeout_s=60, settling_s=0.0
        )
        assert isinstance(at_once[unknown], UnknownTopicOrPartitionError)


@pytest.mark.parametrize("route", ["controller", "any_node"])
async def test_what_must_not_be_repeated_is_not_once_it_may_have_been_done(route: str) -> None:
    async with admin_scene() as scene:
        scene.broker.faults.cut(ApiKey.CREATE_TOPICS)
        with pytest.raises(KafkaConnectionError):
            await scene.requests.one(
                "create()",
                "t",
                getattr(scene.routes, route),
                create_one,
                timeout_s=9,
                is_repeatable=False,
            )
        assert creations(scene) == 1
        assert "t" in scene.broker.cluster.topics


async def test_what_a_broker_did_not_finish_in_time_is_not_repeated_either() -> None:
    async with admin_scene() as scene:
        scene.broker.faults.fail(ApiKey.CREATE_TOPICS, RequestTimedOutError)
        with pytest.raises(RequestTimedOutError):
            await scene.requests.one(
                "c()", "t", scene.routes.controller, create_one, timeout_s=9, is_repeatable=False
            )
        assert creations(scene) == 1


@pytest.mark.parametrize("route", ["controller", "any_node"])
async def test_what_a_node_refused_or_never_got_is_asked_for_again(route: str) -> None:
    async with admin_scene(2) as scene:
        scene.broker.stop_node(1)
        scene.broker.faults.fail(ApiKey.CREATE_TOPICS, NotControllerError)
        await scene.requests.one(
            "create()",
            "t",
            getattr(scene.routes, route),
            create_one,
            timeout_s=9,
            is_repeatable=False,
        )
        assert creations(scene) == 2


async def test_a_lost_response_is_asked_for_again() -> None:
    async with admin_scene() as scene:
        scene.broker.create_topic("t")
        scene.broker.faults.cut(ListOffsetsRequest)
        outcomes = await scene.requests.for_each(
            "o()", [T0], scene.routes.leader, end_offsets, timeout_s=9
        )
        assert outcomes == {T0: 0}
        assert len(scene.asked(ListOffsetsRequest)) == 2


async def test_a_node_that_never_answers_ends_the_call_at_its_bound() -> None:
    async with admin_scene() as scene:
        scene.broker.faults.drop(ApiKey.CREATE_TOPICS)
        began_s = scene.client.clock.monotonic()
        with pytest.raises(KafkaTimeoutError, match=r"create\(\): no result within 2\.5 s"):
            await scene.requests.one(
                "create()", "t", scene.routes.controller, create_one, timeout_s=2.5
            )
        assert scene.client.clock.monotonic() - began_s == pytest.approx(2.5, abs=0.1)
        [request] = scene.asked(CreateTopicsRequest)
        assert request.timeout_ms == 2_500


async def asked_of_three(scene: AdminScene) -> "asyncio.Task[Outcomes[TopicPartition, int]]":
    """Ask for the ends of ten partitions of each of three nodes, one request for each partition."""
    scene.broker.create_topic("t", partitions=30, replication_factor=1)
    before = len(scene.asked(ListOffsetsRequest))
    call = asyncio.create_task(
        scene.requests.for_each(
            "o()",
            [TopicPartition("t", number) for number in range(30)],
            scene.routes.leader,
            end_offsets,
            timeout_s=30,
            most_items=1,
        )
    )
    await eventually(lambda: len(scene.asked(ListOffsetsRequest)) > before)
    return call


async def test_a_node_that_never_answers_holds_up_no_other_node() -> None:
    clock = FakeClock()
    async with admin_scene(3, clock=clock) as scene:
        scene.broker.faults.stall(ListOffsetsRequest, times=None, node_id=2)
        scene.broker.faults.fail(ListOffsetsRequest, NotLeaderForPartitionError, 3, node_id=3)
        call = await asked_of_three(scene)

        def answered() -> set[int]:
            asked = [each for each in scene.broker.requests if each.api_key == 2]
            return {sum(each.node_id == node for each in asked) for node in (1, 3)}

        async with asyncio.timeout(30):
            while answered() != {10, 13}:
                await clock.advance(0.05)
                await asyncio.sleep(0)
        assert clock.monotonic() < 5
        assert not call.done()
        await clock.advance(31)
        outcomes = await call
        assert len(outcomes.succeeded) == 20
        texts = [str(error) for error in outcomes.failed.values()]
        assert len([text for text in texts if "node 2 " in text]) == len(texts) == 10
        assert any("; node 2 has not answered;" in text for text in texts)
        scene.broker.faults.clear()


async def test_another_node_answers_for_one_that_does_not() -> None:
    clock = FakeClock()
    async with admin_scene(2, clock=clock) as scene:
        scene.broker.faults.stall(DescribeClusterRequest)

        async def ask(node: AskedNode) -> int:
            return (await node.request(DescribeClusterRequest())).controller_id

        call = asyncio.create_task(
            scene.requests.one("d()", None, scene.routes.any_node, ask, timeout_s=30)
        )
        await eventually(lambda: scene.asked(DescribeClusterRequest))
        await clock.advance(15)
        await clock.advance(1)
        assert await call == 1
        scene.broker.faults.clear()


async def test_another_node_finds_the_leader_for_one_that_does_not_answer() -> None:
    clock = FakeClock()
    async with admin_scene(2, clock=clock) as scene:
        scene.broker.create_topic("t")
        before = len(scene.asked(MetadataRequest))
        scene.broker.faults.stall(MetadataRequest)
        call = asyncio.create_task(
            scene.requests.for_each("o()", [T0], scene.routes.leader, end_offsets, timeout_s=40)
        )
        await eventually(lambda: len(scene.asked(MetadataRequest)) > before)
        await clock.advance(10)
        await clock.advance(1)
        assert await call == {T0: 0}
        scene.broker.faults.clear()


async def test_a_cancelled_call_leaves_nothing_behind() -> None:
    async with admin_scene(2) as scene:
        scene.broker.create_topic("t", partitions=2, replication_factor=1)
        scene.broker.faults.stall(ListOffsetsRequest, times=None)
        before = asyncio.all_tasks()
        call = asyncio.create_task(
            scene.requests.for_each(
                "o()", [T0, T1], scene.routes.leader, end_offsets, timeout_s=1e6
            )
        )
        await eventually(lambda: len(scene.asked(ListOffsetsRequest)) == 2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        scene.broker.faults.clear()
        await eventually(lambda: asyncio.all_tasks() <= before)
        again = await scene.requests.for_each(
            "o()", [T0, T1], scene.routes.leader, end_offsets, timeout_s=9
        )
        assert again == {T0: 0, T1: 0}


async def test_a_client_that_closes_ends_its_calls() -> None:
    async with admin_scene() as scene:
        scene.broker.create_topic("t")
        scene.broker.faults.stall(ListOffsetsRequest)
        calls = [
            asyncio.create_task(
                scene.requests.for_each(
                    "o()", [tp], scene.routes.leader, end_offsets, timeout_s=1e6
                )
            )
            for tp in (T0, TopicPartition("t", 9))
        ]
        await eventually(lambda: scene.asked(ListOffsetsRequest))
        await scene.client.close()
        for call in calls:
            with pytest.raises(KafkaConnectionError, match="the client was closed"):
                (await call).raise_first()
        scene.broker.faults.clear()


async def test_a_late_call_tells_how_much_time_is_left() -> None:
    clock = FakeClock()
    async with admin_scene(clock=clock) as scene:
        scene.broker.faults.fail(ApiKey.CREATE_TOPICS, NotLeaderForPartitionError)
        call = asyncio.create_task(
            scene.requests.one("c()", "t", scene.routes.controller, create_one, timeout_s=5)
        )
        await clock.advance(1.0)
        await call
        first, second = scene.asked(CreateTopicsRequest)
        assert first.timeout_ms == 5_000
        assert 4_800 <= second.timeout_ms < 5_000


async def test_the_version_of_a_node() -> None:
    versions: dict[int, int | None] = {ApiKey.OFFSET_FETCH: 7, ApiKey.SHARE_GROUP_DESCRIBE: None}
    async with admin_scene(max_versions=versions) as scene:
        ends_s = scene.client.clock.monotonic() + 5
        node = AskedNode(scene.client, 1, ends_s, is_repeatable=True)
        assert await node.version_of(OffsetFetchRequest) == 7
        assert await node.version_of(ShareGroupDescribeRequest) is None
