"""Each example of docs/observability.md runs on an embedded broker."""

import ast
from inspect import isawaitable
from typing import Any

import pytest
from prometheus_client.registry import REGISTRY

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.observe.prometheus import PrometheusMetrics
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.scenarios.consuming import fill
from tests.support.documents import OBSERVABILITY, python_blocks

ADDRESS = "localhost:9092"


@pytest.mark.asyncio(loop_factories=["asyncio"])  # the examples have nothing to do with the loop
@pytest.mark.parametrize("block", python_blocks(OBSERVABILITY), ids=lambda block: block.count("\n"))
async def test_each_example_runs(block: str) -> None:
    assert ADDRESS in block
    block = block.replace("start_http_server(9464)", "start_http_server(0)")
    async with EmbeddedBroker() as broker:
        broker.create_topic("orders", 1)
        fill(broker, TopicPartition("orders", 0), 1)
        source = block.replace(ADDRESS, broker.bootstrap_servers)
        code = compile(source, OBSERVABILITY.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        names: dict[str, Any] = {"__name__": "__main__"}
        try:
            ended = eval(code, names)
            if isawaitable(ended):
                await ended
        finally:
            if isinstance(metrics := names.get("metrics"), PrometheusMetrics):
                REGISTRY.unregister(metrics)
