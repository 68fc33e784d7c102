"""A question to every broker is answered by all of them, or fails."""

import pytest

from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.every_broker import ask_every_broker
from aiokafka_lite.errors import KafkaTimeoutError, NotControllerError
from tests.admin.support.admin_scene import admin_scene


async def test_each_broker_answers_once() -> None:
    async with admin_scene(3) as scene:

        async def ask(node: AskedNode) -> str:
            return f"from {node.node_id}"

        answers = await ask_every_broker(scene.requests, "ask()", ask, timeout_s=5)
        assert answers == {number: f"from {number}" for number in (1, 2, 3)}


async def test_all_are_asked_again_when_one_leaves() -> None:
    asked = []
    async with admin_scene(3) as scene:

        async def ask(node: AskedNode) -> int:
            asked.append(node.node_id)
            if node.node_id == 2:
                scene.broker.stop_node(2)
                raise NotControllerError
            return len(asked)

        answers = await ask_every_broker(scene.requests, "ask()", ask, timeout_s=60)
        assert set(answers) == {1, 3}
        assert asked.count(1) == asked.count(3) == 2


async def test_a_part_of_the_answers_is_an_error() -> None:
    async with admin_scene(2) as scene:

        async def ask(node: AskedNode) -> None:
            if node.node_id == 2:
                raise NotControllerError

        with pytest.raises(KafkaTimeoutError, match=r"ask\(\): no result within"):
            await ask_every_broker(scene.requests, "ask()", ask, timeout_s=5)
