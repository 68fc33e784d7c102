"""Parts of a group go to its coordinator, whatever they are."""

import pytest

from aiokafka_lite.admin.calls.request_routes import Route
from aiokafka_lite.admin.groups.group_route import coordinator_of
from aiokafka_lite.errors import GroupAuthorizationFailedError
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from tests.admin.support.admin_scene import admin_scene


async def test_all_items_go_to_one_node() -> None:
    async with admin_scene(nodes=3) as scene:
        route: Route[int] = coordinator_of(scene.requests, "g")
        expected = scene.broker.group("g").coordinator
        assert (await route([1, 2, 3], 0)).nodes == {expected: [1, 2, 3]}
        assert len(scene.asked(FindCoordinatorRequest)) == 1


async def test_without_a_coordinator_the_whole_call_fails() -> None:
    async with admin_scene() as scene:
        scene.broker.faults.fail(ApiKey.FIND_COORDINATOR, GroupAuthorizationFailedError)
        route: Route[str] = coordinator_of(scene.requests, "g")
        with pytest.raises(GroupAuthorizationFailedError):
            await route(["a"], 0)
