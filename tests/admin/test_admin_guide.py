"""Each example of docs/admin.md runs on an embedded broker, and the calls that it names exist."""

import ast
import re
from inspect import isawaitable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import FeatureUpdate
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.admin.support.lenient_kafka import LenientKafka, leave_hanging
from tests.support.documents import ADMIN, python_blocks

ADDRESS = "localhost:9092"
UNSECURED: dict[str, Any] = {"transaction_partition_verification_enable": False}
SECURED: dict[str, Any] = {
    "security": "SASL_PLAINTEXT",
    "users": {"admin": "secret"},
    "acls": [],
    "super_users": ["admin"],
}


@pytest.mark.asyncio(loop_factories=["asyncio"])  # the examples have nothing to do with the loop
@pytest.mark.parametrize("block", python_blocks(ADMIN), ids=lambda block: block.count("\n"))
async def test_each_example_runs(
    block: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ADDRESS in block
    monkeypatch.setenv("KAFKA_PASSWORD", "secret")
    options = SECURED if "SASL_PLAINTEXT" in block else UNSECURED
    async with EmbeddedBroker(nodes=4 if "raft_voter" in block else 3, **options) as broker:
        if options is UNSECURED:
            await furnish(broker)
        source = block.replace(ADDRESS, broker.bootstrap_servers)
        code = compile(source, ADMIN.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        ended = eval(code, {"__name__": "__main__"})
        if isawaitable(ended):
            await ended
    assert capsys.readouterr().out, "the example shows nothing"


async def furnish(broker: EmbeddedBroker) -> None:
    """Make what the examples name."""
    orders = TopicPartition("orders", 0)
    broker.create_topic("orders", 3)
    address = f"127.0.0.1:{broker.cluster.node(broker.leader(orders)).port}"
    await leave_hanging(LenientKafka(address, "embedded"), orders, 7)
    if 4 in broker.cluster.nodes:  # the new controller, which observes
        async with AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            (await admin.update_features({"kraft.version": FeatureUpdate(1)})).raise_first()
            voters = (await admin.describe_metadata_quorum()).voters
            (new,) = (each.directory_id for each in voters if each.replica_id == 4)
            await admin.remove_raft_voter(4, new)


def test_each_call_that_the_page_names_is_there() -> None:
    called = set(re.findall(r"admin\.(\w+)\(", ADMIN.read_text()))
    assert {name for name in called if not hasattr(AIOKafkaAdminClient, name)} == set()
