"""Minutes of load on three real nodes with sessions of three seconds, while the nodes restart.

Clients of each mechanism authenticate again and again. No record may be lost or doubled.
"""

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka, archive_classes
from tests.conftest import require_kafka
from tests.faults.group_faults import Cluster, eventually
from tests.support.secured_kafka import PASSWORD, USER, Way, sasl_options
from tests.support.token_issuer import unsecured_token
from tests.support.topics import create_topic

SESSION_MS = 3000
TOKEN_S = 20
PARTITIONS = 6
PAUSE_S = 0.002
BETWEEN_RESTARTS_S = 4.0
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")

pytestmark = [
    pytest.mark.soak,
    pytest.mark.real_kafka,
    pytest.mark.timeout(3600),
    pytest.mark.asyncio(loop_factories=["asyncio"]),
]


@pytest.fixture
def kafka() -> Iterator[ApacheKafka]:
    """Three nodes that end each session after `SESSION_MS`."""
    require_kafka(DEFAULT_VERSION)
    archive_classes(DEFAULT_VERSION)
    with ApacheKafka(
        DEFAULT_VERSION,
        nodes=3,
        security="SASL_SSL",
        users={USER: PASSWORD},
        connections_max_reauth_ms=SESSION_MS,
    ) as started:
        yield started


class Passage:
    """Numbered records of one mechanism: a producer, a reader of all partitions, and a member."""

    def __init__(self, kafka: ApacheKafka, topic: str, mechanism: str) -> None:
        way = Way("SASL_SSL", "SASL_SSL", mechanism)
        self.topic = topic
        self.acks: list[RecordAck] = []
        self.read: list[list[int]] = [[] for _ in range(PARTITIONS)]
        self.by_the_member: Counter[int] = Counter()
        self.connections = 0
        self._options: dict[str, Any] = {
            "bootstrap_servers": kafka.servers("SASL_SSL"),
            "security_protocol": "SASL_SSL",
            "ssl_cadata": kafka.ca_pem,
            **sasl_options(way, lambda: unsecured_token(USER, TOKEN_S)),
        }

    def __str__(self) -> str:
        return (
            f"{self.topic}: {len(self.acks)} records, {self.connections} connections of the "
            f"producer, {sum(self.by_the_member.values()) - len(self.by_the_member)} read again "
            "by the member"
        )

    async def write(self, stop: asyncio.Event) -> None:
        """Send until `stop`, and return when each record has its outcome."""
        async with AIOKafkaProducer(**self._options) as producer:
            for number in itertools.count():
                if stop.is_set():
                    break
                value = b"%d" % number
                ack = await producer.send(self.topic, value, partition=number % PARTITIONS)
                self.acks.append(ack)
                await asyncio.sleep(PAUSE_S)
            await producer.flush()
            self.connections = producer.statistics().network.connections

    async def read_all(self) -> None:
        """Read every partition, until cancelled."""
        async with AIOKafkaConsumer(auto_offset_reset="earliest", **self._options) as consumer:
            consumer.assign([TopicPartition(self.topic, number) for number in range(PARTITIONS)])
            async for record in consumer:
                self.read[record.partition].append(int(record.value or b""))

    async def be_a_member(self) -> None:
        """Read as the only member of a group, until cancelled."""
        async with AIOKafkaConsumer(
            self.topic, group_id=self.topic, auto_offset_reset="earliest", **self._options
        ) as consumer:
            async for record in consumer:
                self.by_the_member[int(record.value or b"")] += 1

    def is_read(self) -> bool:
        """Whether both readers have all records."""
        total = len(self.acks)
        return sum(map(len, self.read)) >= total and len(self.by_the_member) >= total

    def check(self) -> None:
        """Each record was acknowledged, and read once and in order."""
        failed = [ack.exception() for ack in self.acks if ack.exception() is not None]
        assert not failed, f"{self}: {len(failed)} failed, the first by {failed[0]}"
        expected = [list(range(n, len(self.acks), PARTITIONS)) for n in range(PARTITIONS)]
        assert self.read == expected, str(self)
        assert self.by_the_member.keys() == set(range(len(self.acks))), str(self)


async def restart_nodes(kafka: ApacheKafka, minutes: float) -> int:
    """Restart one node after the other until the time is over; return how many restarts it were."""
    cluster = Cluster(kafka)
    until = SYSTEM_CLOCK.monotonic() + minutes * 60
    restarts = 0
    for node in itertools.cycle(kafka.nodes):
        await asyncio.sleep(BETWEEN_RESTARTS_S)
        if restarts >= len(kafka.nodes) and SYSTEM_CLOCK.monotonic() >= until:
            break
        await asyncio.to_thread(node.stop)
        await cluster.heal()
        restarts += 1
    return restarts


async def test_nothing_is_lost_or_doubled_by_short_sessions(
    kafka: ApacheKafka, topic_name: str, pytestconfig: pytest.Config
) -> None:
    passages = []
    for mechanism in MECHANISMS:
        topic = f"{topic_name}-{mechanism}"
        await create_topic(kafka.servers("PLAINTEXT"), topic, partitions=PARTITIONS)
        passages.append(Passage(kafka, topic, mechanism))
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        readers = [
            tasks.create_task(reading)
            for passage in passages
            for reading in (passage.read_all(), passage.be_a_member())
        ]
        writers = [tasks.create_task(passage.write(stop)) for passage in passages]
        restarts = await restart_nodes(kafka, pytestconfig.getoption("--soak-minutes"))
        stop.set()
        await asyncio.wait(writers)
        await eventually("all is read", lambda: all(each.is_read() for each in passages))
        for reader in readers:
            reader.cancel()
    for passage in passages:
        print(passage, f"{restarts} restarts")
        passage.check()
