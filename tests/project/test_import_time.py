"""What an import costs: in the CPU time `import asyncio` takes in the same process."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

PROGRAM = """
import sys, time
spent = {}
def clock(name, action):
    before = time.process_time()
    action()
    spent[name] = time.process_time() - before
clock("asyncio", lambda: __import__("asyncio"))
clock("package", lambda: __import__("aiokafka_lite"))
package = sys.modules["aiokafka_lite"]
clock("clients", lambda: (package.AIOKafkaConsumer, package.AIOKafkaProducer))
ours = {name: module for name, module in sys.modules.items() if name.startswith("aiokafka_lite.")}
classes = {value for module in ours.values() for value in vars(module).values()
           if isinstance(value, type) and value.__module__ in ours}
dear = {each.__name__ for each in classes
        if ("__dataclass_fields__" in vars(each) and "__light_fields__" not in vars(each))
        or ("_field_defaults" in vars(each) and "__signature__" not in vars(each))}
found = [spent, sorted(sys.modules), sorted(dear)]
import json
print(json.dumps(found))
"""

PEER = """
import time, asyncio
before = time.process_time()
import aiokafka
print(time.process_time() - before)
"""


class Run(NamedTuple):
    """What an interpreter tells of its imports."""

    spent: dict[str, float]
    modules: list[str]
    dear: list[str]
    """Standard dataclasses and named tuples."""


# What is loaded when it is used for the first time, or never.
HEAVY = {"numpy", "pyarrow", "pytest", "rich", "typer", "uvloop", "unittest"}
SLOW = {"anyio._backends._asyncio", "decimal", "email", "http", "importlib.metadata", "json"}
SLOW |= {"logging.config", "tempfile", "typing_extensions"}
CODECS = {"cramjam", "lz4", "backports.zstd", "isal"}
OURS = {
    "aiokafka_lite.arrow.record_columns",
    "aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_membership",
    "aiokafka_lite.protocol.api_key",
    "aiokafka_lite.protocol.api_registry",
    "aiokafka_lite.protocol.messages.create_topics",
    "aiokafka_lite.producer.transaction.transaction_manager",
    "aiokafka_lite.producer.transaction.transaction_scope",
    "aiokafka_lite.rare_broker_errors",
}
"""Of ours: the newer group protocol, transactions, columns, errors of rare codes, and the messages
that only brokers read.
"""

NOT_OF_A_FIRST_MEMBER = {
    "aiokafka_lite.consumer.assignors.general_assignment",
    "aiokafka_lite.consumer.assignors.rack_info",
    "aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_membership",
}
"""What the other group protocol needs, and what "cooperative-sticky" needs to assign."""

DEAR = {"ConsumerRecord"}
"""What users get. Each costs half a million instructions."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Five fresh interpreters, after one that wrote the byte code."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    found = []
    for _ in range(6):
        run = Run(*json.loads(printed_by(PROGRAM, environment)))
        run.spent["aiokafka"] = float(printed_by(PEER, environment))
        found.append(run)
    return found[1:]


def printed_by(program: str, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("what", "beside", "most"),
    [
        ("package", "asyncio", 0.5),
        ("clients", "asyncio", 2.6),
        ("clients", "aiokafka", 1.9),
    ],
)
def test_import_is_a_small_part_of_a_programs_start(
    runs: list[Run], what: str, beside: str, most: float
) -> None:
    """In instructions, both clients cost 1.4 times what aiokafka's cost beyond asyncio."""
    ratio = min(run.spent[what] / run.spent[beside] for run in runs)
    assert ratio < most


def test_what_a_client_may_never_need_is_not_loaded(runs: list[Run]) -> None:
    modules = set(runs[0].modules)
    assert "aiokafka_lite.consumer.consumer" in modules
    assert not (HEAVY | SLOW | CODECS | OURS) & modules


def test_classes_of_the_clients_are_light(runs: list[Run]) -> None:
    """See `light_dataclass` and `light_named_tuple`."""
    assert set(runs[0].dear) <= DEAR


WHOLE_LIFE = """
import asyncio, linecache, re, sys
late = set()
from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.testing.virtual_kafka import run_virtual_kafka
async def main(kafka):
    kafka.broker.create_topic("words", 2)
    async with AIOKafkaProducer(**kafka.client_options) as producer:
        await producer.send_and_wait("words", b"word")
    imported = set(sys.modules)
    options = {"group_id": "readers", "auto_offset_reset": "earliest"}
    async with AIOKafkaConsumer("words", **options, **kafka.client_options) as consumer:
        print((await consumer.getone()).value)
        late.update(sys.modules.keys() - imported)
run_virtual_kafka(main)
print("anyio" in sys.modules)
compiled = [name for name in linecache.cache if name[0] == "<"]
print(*(name for name in compiled if re.search("Request .* encode|Response .* decode", name)))
print("<FetchRequest v18 decode>" in compiled)
print(*sorted(late))
print(*sorted(sys.modules))
"""


@pytest.fixture(scope="module")
def whole_life() -> list[str]:
    """A producer and a member of a group, with the embedded broker in their process."""
    return printed_by(WHOLE_LIFE, dict(os.environ)).splitlines()


def test_a_clients_life_imports_no_anyio(whole_life: list[str]) -> None:
    """Its backend would cost more CPU than all requests of a start."""
    assert whole_life[:2] == ["b'word'", "False"]


def test_a_clients_life_compiles_no_message(whole_life: list[str]) -> None:
    """`make messages` did. The broker, which reads requests and writes responses, does compile."""
    assert whole_life[2:4] == ["", "True"]


def test_a_member_of_a_group_loads_one_protocol_and_no_balancing(whole_life: list[str]) -> None:
    """Each module is a part of the time to the first record."""
    modules = set(whole_life[5].split())
    assert "aiokafka_lite.consumer.group.classic.membership" in modules
    assert not NOT_OF_A_FIRST_MEMBER & modules


def test_a_member_reaches_its_first_record_without_an_import(whole_life: list[str]) -> None:
    """Its modules come with the consumer's. In `start()` they would keep the event loop busy."""
    ours = re.compile("aiokafka_lite[.](cluster|concurrency|consumer|net|protocol[.].*compiled)")
    assert [name for name in whole_life[4].split() if ours.match(name)] == []


def test_a_reader_of_ranges_loads_no_group() -> None:
    """Each worker of Spark imports it."""
    program = "import sys, aiokafka_lite.spark.read.range_reader; print(*sys.modules)"
    modules = set(printed_by(program, dict(os.environ)).split())
    assert "aiokafka_lite.consumer.consumer_engine" in modules
    assert "aiokafka_lite.consumer.group.consumer_group" not in modules
