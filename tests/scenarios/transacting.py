"""What the scenarios of transactions share: producers with an id, and what readers see of them."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any
from unittest.mock import patch

from aiokafka_lite import AIOKafkaConsumer, TopicPartition
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.producer.transaction.transaction_state import TransactionState
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.producer.world import producing

ID = "t"
ORDERS = TopicPartition("orders", 0)


@asynccontextmanager
async def transacting(
    broker: EmbeddedBroker, transactional_id: str = ID, **options: Any
) -> AsyncIterator[AIOKafkaProducer]:
    """A started producer with a transactional id."""
    async with producing(broker, transactional_id=transactional_id, **options) as producer:
        yield producer


@contextmanager
def impatient(producer: AIOKafkaProducer) -> Iterator[None]:
    """Let calls that are made here time out soon, as a short max_block_ms does."""
    usual_s, producer._max_block_s = producer._max_block_s, 0.1
    yield
    producer._max_block_s = usual_s


@contextmanager
def ends_impatiently(producer: AIOKafkaProducer) -> Iterator[None]:
    """Let commits and aborts time out soon, and nothing else: what comes before takes its time."""
    manager = producer._in_transactions()
    with (
        patch.object(manager, "commit", lambda _, commit=manager.commit: commit(0.1)),
        patch.object(manager, "abort", lambda _, abort=manager.abort: abort(0.1)),
    ):
        yield


def state(producer: AIOKafkaProducer) -> TransactionState:
    """Where the producer stands."""
    assert producer._engine.transactions is not None
    return producer._engine.transactions.status.state


async def visible(
    broker: EmbeddedBroker, topic: str = "orders", partition: int = 0
) -> list[bytes | None]:
    """The values that read_committed has of a partition, up to its last stable offset."""
    tp = TopicPartition(topic, partition)
    end = broker.log(tp).last_stable_offset
    values: list[bytes | None] = []
    async with AIOKafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        fetch_max_wait_ms=20,
    ) as consumer:
        consumer.assign([tp])
        while await consumer.position(tp) < end:
            for records in (await consumer.getmany(timeout_ms=50)).values():
                values += [record.value for record in records]
    return values


async def commit_one(producer: AIOKafkaProducer, value: bytes, topic: str = "orders") -> None:
    """Write one record in a transaction of its own."""
    await producer.begin_transaction()
    await producer.send(topic, value)
    await producer.commit_transaction()


def ends(broker: EmbeddedBroker) -> list[bool]:
    """What was asked of the coordinator so far: True for a commit, False for an abort."""
    return [request.committed for request in broker.requests_of(EndTxnRequest)]
