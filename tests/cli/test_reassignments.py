"""`aiokafka-lite reassignments`: what is moving is listed, and followed to its end."""

import asyncio
import json
from collections.abc import Iterator, Sequence

import pytest

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke, invoke_on

MOVED = TopicPartition("t", 0)


@pytest.fixture
def three() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker.threaded(nodes=3) as broker:
        broker.create_topic("t", replication_factor=1)
        yield broker


@pytest.fixture
def invoke_three(three: EmbeddedBroker) -> Invoke:
    return invoke_on(three)


def move(broker: EmbeddedBroker, replicas: Sequence[int]) -> None:
    async def run() -> None:
        async with AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            (await admin.alter_partition_reassignments({MOVED: replicas})).raise_first()

    asyncio.run(run())


def test_what_is_moving_is_listed(three: EmbeddedBroker, invoke_three: Invoke) -> None:
    three.hold_replica_moves()
    move(three, [2, 3])
    (row,) = json.loads(invoke_three("reassignments", "list", "--output", "json").stdout)
    assert row == {
        "topic": "t",
        "partition": 0,
        "replicas": [2, 3, 1],
        "adding": [2, 3],
        "removing": [1],
    }
    watch = ("reassignments", "watch", "--interval-ms", "10", "--timeout-ms", "60")
    late = invoke_three(*watch)
    assert late.exit_code == 1
    assert late.stdout.startswith("t-0: 0 of 0 bytes\n")
    assert "t-0 did not end within 60 ms" in late.stderr
    three.release_replica_moves()
    ended = invoke_three(*watch)
    assert ended.exit_code == 0
    assert ended.stdout == "0 reassignments have ended, none is ongoing\n"
