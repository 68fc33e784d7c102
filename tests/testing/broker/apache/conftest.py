"""The embedded broker and real Apache Kafkas with transactions V1 and V2, for bare producers."""

from collections.abc import AsyncIterator, Callable, Iterator

import pytest
import pytest_asyncio

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.conftest import require_kafka
from tests.support.topics import create_topic
from tests.testing.broker.apache.txn_peers import TransactionalKafka, TxnPeer

V1_LEVEL = {DEFAULT_VERSION: 1, "3.9.2": 0}
EXPIRES_OFTEN = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "100"}
NEWEST = DEFAULT_VERSION
KAFKAS = ["embedded V2", f"{NEWEST} V2", "embedded V1", f"{NEWEST} V1", "3.9.2 V1"]


@pytest.fixture(scope="package")
def transactional_nodes() -> Iterator[Callable[[str], ApacheKafka]]:
    """Real nodes that look for transactions that took too long ten times a second."""
    nodes: dict[str, ApacheKafka] = {}

    def start(name: str) -> ApacheKafka:
        version, _, generation = name.partition(" ")
        require_kafka(version)
        if name not in nodes:
            node = nodes[name] = ApacheKafka(version, properties=EXPIRES_OFTEN).start()
            if generation == "V1" and version == DEFAULT_VERSION:
                feature = ("--feature", "transaction.version=1")
                node.run_tool("org.apache.kafka.tools.FeatureCommand", "downgrade", *feature)
        return nodes[name]

    yield start
    for node in nodes.values():
        node.stop()


@pytest.fixture(params=KAFKAS)
def kafka(
    request: pytest.FixtureRequest, transactional_nodes: Callable[[str], ApacheKafka]
) -> Iterator[TransactionalKafka]:
    version, _, generation = request.param.partition(" ")
    level = 2 if generation == "V2" else V1_LEVEL.get(version, 1)
    if version == "embedded":
        with EmbeddedBroker.threaded(transaction_version=level) as broker:
            yield TransactionalKafka(broker.bootstrap_servers, level)
    else:
        yield TransactionalKafka(transactional_nodes(request.param).bootstrap_servers, level)


@pytest_asyncio.fixture
async def topic(kafka: TransactionalKafka, topic_name: str) -> str:
    await create_topic(kafka.bootstrap_servers, topic_name, partitions=2)
    return topic_name


@pytest_asyncio.fixture
async def peer(kafka: TransactionalKafka, topic: str) -> AsyncIterator[TxnPeer]:
    async with await TxnPeer.on(kafka, topic) as peer:
        yield peer
