"""What a user without all rights is told, by the embedded broker and by real ones alike."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.errors import (
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.conftest import KAFKA_VERSIONS
from tests.support.secured_kafka import PASSWORD, RESTRICTED, RULES, SecuredKafka
from tests.support.topics import create_topic

BROKERS = [
    "embedded",
    *(pytest.param(version, marks=pytest.mark.real_kafka) for version in KAFKA_VERSIONS),
]

# Rights have nothing to do with the event loop.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])


class Broker:
    """One broker with `RULES`, and how the user with few rights comes in."""

    def __init__(self, servers: str, create: Callable[[str], Any]) -> None:
        self.create = create
        self.options: dict[str, Any] = {
            "bootstrap_servers": servers,
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": RESTRICTED,
            "sasl_plain_password": PASSWORD,
        }


@pytest.fixture(params=BROKERS)
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """The embedded broker and real ones."""
    if request.param != "embedded":
        lab: SecuredKafka = request.getfixturevalue("start_lab")(request.param)
        plain = lab.kafka.servers("PLAINTEXT")
        yield Broker(
            lab.kafka.servers("SASL_PLAINTEXT"),
            lambda name: create_topic(plain, name, partitions=1),
        )
        return
    with EmbeddedBroker.threaded(
        security="SASL_PLAINTEXT",
        users={RESTRICTED: PASSWORD, "root": PASSWORD},
        acls=RULES,
        super_users=["root"],
    ) as embedded:

        async def create(name: str) -> None:
            embedded.create_topic(name, 1)

        yield Broker(embedded.bootstrap_servers, create)


async def test_who_may_write_writes_and_no_more(broker: Broker, topic_name: str) -> None:
    writable, visible, hidden = f"bob-writes-{topic_name}", f"bob-sees-{topic_name}", topic_name
    for name in (writable, visible, hidden):
        await broker.create(name)
    async with AIOKafkaProducer(**broker.options) as producer:
        assert (await producer.send_and_wait(writable, b"x")).offset == 0
        for name in (visible, hidden):
            with pytest.raises(TopicAuthorizationFailedError, match=name):
                await producer.send_and_wait(name, b"x")
        assert (await producer.send_and_wait(writable, b"y")).offset == 1


async def test_who_may_create_creates_by_writing(broker: Broker, topic_name: str) -> None:
    async with AIOKafkaProducer(**broker.options) as producer:
        await producer.send_and_wait(f"bob-creates-{topic_name}", b"x")
        with pytest.raises(TopicAuthorizationFailedError, match=f"bob-writes-{topic_name}"):
            await producer.send_and_wait(f"bob-writes-{topic_name}", b"x")


async def test_who_may_read_reads_and_commits(broker: Broker, topic_name: str) -> None:
    readable, visible = f"bob-reads-{topic_name}", f"bob-sees-{topic_name}"
    for name in (readable, visible):
        await broker.create(name)
    group = f"bob-reads-{topic_name}"
    async with AIOKafkaConsumer(
        readable, group_id=group, auto_offset_reset="earliest", **broker.options
    ) as consumer:
        assert await consumer.getmany(timeout_ms=500) == {}
        await consumer.commit({TopicPartition(readable, 0): 0})
        assert await consumer.committed(TopicPartition(readable, 0)) == 0
    async with AIOKafkaConsumer(auto_offset_reset="earliest", **broker.options) as consumer:
        consumer.assign([TopicPartition(visible, 0)])
        with pytest.raises(TopicAuthorizationFailedError, match=visible):
            await consumer.getmany(timeout_ms=5000)


async def test_a_foreign_group_is_named(broker: Broker, topic_name: str) -> None:
    readable = f"bob-reads-{topic_name}"
    await broker.create(readable)
    consumer = AIOKafkaConsumer(readable, group_id=topic_name, **broker.options)
    with pytest.raises(GroupAuthorizationFailedError, match=topic_name):
        async with consumer:
            await consumer.getmany(timeout_ms=5000)


async def test_a_foreign_transactional_id_is_named(broker: Broker, topic_name: str) -> None:
    producer = AIOKafkaProducer(transactional_id=topic_name, **broker.options)
    with pytest.raises(TransactionalIdAuthorizationFailed, match=topic_name):
        await producer.start()
    await producer.stop()


async def test_a_forbidden_topic_can_be_aborted(broker: Broker, topic_name: str) -> None:
    writable = f"bob-writes-{topic_name}"
    for name in (writable, topic_name):
        await broker.create(name)
    async with AIOKafkaProducer(transactional_id=writable, **broker.options) as producer:
        await producer.begin_transaction()
        with pytest.raises(TopicAuthorizationFailedError, match=topic_name):
            await producer.send_and_wait(topic_name, b"x")
        await producer.abort_transaction()
        async with producer.transaction():
            await producer.send_and_wait(writable, b"y")
