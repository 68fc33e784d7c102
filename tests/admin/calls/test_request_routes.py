"""Where a request goes: any node, the controller, a named node, leaders, coordinators."""

import pytest

from aiokafka_lite.cluster.coordinator_cache import CoordinatorType
from aiokafka_lite.errors import (
    BrokerNotAvailableError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from tests.admin.support.admin_scene import admin_scene
from tests.support.patience import eventually

T0, T1, X0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("x", 0)
GROUP = CoordinatorType.GROUP


def number_of(key: str) -> int:
    return int(key)


async def test_any_node_is_not_chosen_by_the_route() -> None:
    async with admin_scene() as scene:
        located = await scene.routes.any_node(["a", "b"], 0)
        assert (located.nodes, located.failures) == ({None: ["a", "b"]}, {})


async def test_the_controller_is_asked_for_again_after_a_failure() -> None:
    async with admin_scene(2) as scene:
        first = await scene.routes.controller(["a"], 0)
        assert first.nodes == {1: ["a"]}
        scene.broker.stop_node(1)
        await eventually(lambda: scene.client.network.has_usable_node)
        moved = await scene.routes.controller(["a"], 1)
        assert moved.nodes == {2: ["a"]}


async def test_items_go_to_the_nodes_that_they_name() -> None:
    async with admin_scene(2) as scene:
        route = scene.routes.node(number_of)
        located = await route(["1", "2", "3", "1"], 0)
        assert located.nodes == {1: ["1", "1"], 2: ["2"]}
        with pytest.raises(BrokerNotAvailableError, match=r"broker 3 .* has 1, 2 now"):
            raise located.failures["3"]


async def test_a_node_that_joined_since_is_found() -> None:
    async with admin_scene(2) as scene:
        scene.broker.stop_node(2)
        await scene.client.metadata.refresh()
        scene.broker.start_node(2)
        located = await scene.routes.node(number_of)(["2"], 0)
        assert located.nodes == {2: ["2"]}


async def test_leaders_are_asked_for_anew_each_time_and_no_topic_is_made() -> None:
    async with admin_scene(2) as scene:
        scene.broker.create_topic("t", partitions=2)
        located = await scene.routes.leader([T0, T1, TopicPartition("t", 7), X0], 0)
        assert located.nodes == {1: [T0], 2: [T1]}
        assert isinstance(located.failures[X0], UnknownTopicOrPartitionError)
        with pytest.raises(UnknownTopicOrPartitionError, match="no partition t-7"):
            raise located.failures[TopicPartition("t", 7)]
        scene.broker.move_leader(T0, 2)
        assert (await scene.routes.leader([T0], 0)).nodes == {2: [T0]}
        assert "x" not in scene.broker.cluster.topics


async def test_a_partition_without_a_leader_fails_alone() -> None:
    async with admin_scene(2) as scene:
        scene.broker.create_topic("t", partitions=2, replication_factor=1)
        scene.broker.stop_node(2)
        await scene.client.metadata.refresh()
        located = await scene.routes.leader([T0, T1], 0)
        assert located.nodes == {1: [T0]}
        with pytest.raises(LeaderNotAvailableError, match="t-1 has no leader now"):
            raise located.failures[T1]


async def test_a_topic_that_may_not_be_described_fails_alone() -> None:
    async with admin_scene() as scene:
        scene.broker.create_topic("t")
        scene.broker.faults.fail(ApiKey.METADATA, TopicAuthorizationFailedError)
        located = await scene.routes.leader([T0], 0)
        assert isinstance(located.failures[T0], TopicAuthorizationFailedError)


async def test_coordinators_are_found_by_one_request() -> None:
    async with admin_scene(3) as scene:
        for number, node_id in enumerate((1, 2, 2)):
            scene.broker.move_coordinator(f"g{number}", node_id)
        located = await scene.routes.coordinator(GROUP)(["g0", "g1", "g2"], 0)
        assert located.nodes == {1: ["g0"], 2: ["g1", "g2"]}
        assert len(scene.asked(FindCoordinatorRequest)) == 1


async def test_a_coordinator_that_is_not_available_fails_its_key_only() -> None:
    async with admin_scene() as scene:
        scene.broker.move_coordinator("g1", None)
        located = await scene.routes.coordinator(GROUP)(["g0", "g1"], 0)
        assert located.nodes == {1: ["g0"]}
        assert isinstance(located.failures["g1"], GroupCoordinatorNotAvailableError)
        scene.broker.faults.fail(ApiKey.FIND_COORDINATOR, GroupAuthorizationFailedError)
        located = await scene.routes.coordinator(GROUP)(["g0"], 0)
        with pytest.raises(GroupAuthorizationFailedError, match="group 'g0'"):
            raise located.failures["g0"]


async def test_brokers_before_3_0_are_asked_for_one_coordinator_at_a_time() -> None:
    async with admin_scene(max_versions={ApiKey.FIND_COORDINATOR: 3}) as scene:
        located = await scene.routes.coordinator(GROUP)(["g0", "g1"], 0)
        assert located.nodes == {1: ["g0", "g1"]}
        assert [each.key for each in scene.asked(FindCoordinatorRequest)] == ["g0", "g1"]
