"""Brokers that let a producer leave a transaction hanging, and how one does that."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.java_runtime import tools_version
from aiokafka_lite.testing.kafka_node import run_java
from tests.conftest import require_jars, require_kafka
from tests.testing.broker.bench import WireClient, batch

TRANSACTIONS_COMMAND = "org.apache.kafka.tools.TransactionsCommand"
HOUR_MS = 3_600_000
NOT_THERE_YET = (3, 5, 6)
"""Errors of a leader that has not heard of a new topic yet."""


@dataclass(frozen=True)
class LenientKafka:
    """A broker without transaction.partition.verification.enable."""

    bootstrap_servers: str
    version: str

    def transactions(self, *arguments: str) -> list[list[str]]:
        """What Java's kafka-transactions.sh prints: the rows below the names of the columns."""
        require_jars(self.version)
        server = ("--bootstrap-server", self.bootstrap_servers)
        printed = run_java(tools_version(self.version), TRANSACTIONS_COMMAND, *server, *arguments)
        return [line.split() for line in printed.splitlines() if line.strip()][1:]


@contextmanager
def lenient_kafka(version: str) -> Iterator[LenientKafka]:
    """Yield a broker of a release of Apache Kafka, or "embedded"."""
    if version == "embedded":
        with EmbeddedBroker.threaded(transaction_partition_verification_enable=False) as broker:
            yield LenientKafka(broker.bootstrap_servers, DEFAULT_VERSION)
        return
    require_kafka(version)
    properties = {"transaction.partition.verification.enable": "false"}
    with ApacheKafka(version, properties=properties) as kafka:
        yield LenientKafka(kafka.bootstrap_servers, version)


async def leave_hanging(
    kafka: LenientKafka, where: TopicPartition, producer_id: int, age_ms: int = HOUR_MS
) -> None:
    """Write a transactional record of a producer that no coordinator knows."""
    then = int(SYSTEM_CLOCK.time() * 1000) - age_ms
    data = batch(b"v", timestamps=[then], producer=(producer_id, 3, 0), is_transactional=True)
    partition = PartitionProduceData(index=where.partition, records=data)
    request = ProduceRequest(
        transactional_id=f"lost-{producer_id}",
        acks=-1,
        timeout_ms=5000,
        topic_data=[TopicProduceData(name=where.topic, partition_data=[partition])],
    )
    async with await WireClient.connect(kafka.bootstrap_servers) as client:
        while (code := await _produced(client, request)) in NOT_THERE_YET:
            await asyncio.sleep(0.05)
    assert code == 0


async def _produced(client: WireClient, request: ProduceRequest) -> int:
    (topic,) = (await client.ask(request, 9)).responses
    return topic.partition_responses[0].error_code


__all__ = ["HOUR_MS", "LenientKafka", "leave_hanging", "lenient_kafka"]
