"""Transactional producers of other clients on the embedded broker, in transactions V1 and V2:
commit, abort, offsets of a group, fencing; and what consumers read with read_committed.
"""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnState
from aiokafka_lite.testing.java_runtime import find_java, tools_version
from aiokafka_lite.testing.kafka_node import run_java
from tests.conftest import KAFKA_VERSIONS, require_jars

TOPIC, GROUP = "t", "g"
PROGRAM = Path(__file__).parent / "JavaTransactions.java"
WAIT_S = 60


@pytest.fixture(params=[1, 2], ids=["V1", "V2"])
def broker(request: pytest.FixtureRequest) -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker.threaded(nodes=3, transaction_version=request.param) as broker:
        broker.create_topic(TOPIC, 2)
        yield broker


def values(*rounds: str) -> set[str]:
    """Partition and value of the ten records of each round."""
    return {f"{i % 2} {name} {i}" for name in rounds for i in range(10)}


def has_compiler() -> bool:
    """Java runs a source file only where it has its compiler."""
    listed = subprocess.run([find_java(), "--list-modules"], capture_output=True, check=True)
    return b"jdk.compiler" in listed.stdout


@pytest.mark.parametrize("version", KAFKA_VERSIONS)
def test_javas_transactions(broker: EmbeddedBroker, version: str) -> None:
    require_jars(version)
    if not has_compiler():
        pytest.skip("this Java has no compiler to run a source file with")
    output = run_java(version, str(PROGRAM), broker.bootstrap_servers, TOPIC, GROUP)
    fenced, *lines = output.splitlines()
    assert fenced == "ProducerFencedException"
    expected = values(*(f"committed {i}" for i in range(3)), "second")
    assert (set(lines), len(lines)) == (expected, len(expected))
    committed = broker.group(GROUP).offsets[TopicPartition(TOPIC, 0)]
    assert (committed.offset, committed.metadata) == (5, "five")
    assert broker.transaction("java").state is TxnState.COMPLETE_COMMIT
    is_v2 = bool(broker.transaction("java").producer_epoch > 2)
    assert is_v2 is not bool(broker.requests_of(AddPartitionsToTxnRequest))


@pytest.mark.parametrize("version", KAFKA_VERSIONS)
def test_javas_producer_performance(broker: EmbeddedBroker, version: str) -> None:
    """Many short transactions, one after the other."""
    require_jars(version)
    output = run_java(
        tools_version(version),
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", TOPIC, "--num-records", "2000", "--record-size", "10", "--throughput", "-1"),
        *("--transactional-id", "perf", "--transaction-duration-ms", "10"),
        *("--producer-props", f"bootstrap.servers={broker.bootstrap_servers}"),
    )
    assert "2000 records sent" in output
    logs = [broker.log((TOPIC, partition)) for partition in range(2)]
    assert sum(len(log.records()) for log in logs) == 2000
    assert all(log.last_stable_offset == log.high_watermark for log in logs)


def confluent_producer(broker: EmbeddedBroker) -> confluent_kafka.Producer:
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "tx", "log_level": 0}
    )
    producer.init_transactions(WAIT_S)
    return producer


def send(producer: confluent_kafka.Producer, name: str) -> None:
    for i in range(10):
        producer.produce(TOPIC, value=f"{name} {i}", partition=i % 2)


def confluent_consumer(broker: EmbeddedBroker) -> confluent_kafka.Consumer:
    return confluent_kafka.Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": GROUP,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )


def read(consumer: confluent_kafka.Consumer, count: int) -> set[str]:
    found = consumer.consume(count, timeout=WAIT_S)
    return {f"{message.partition()} {(message.value() or b'').decode()}" for message in found}


def test_confluents_transactions(broker: EmbeddedBroker) -> None:
    producer = confluent_producer(broker)
    for i in range(2):
        producer.begin_transaction()
        send(producer, f"committed {i}")
        producer.commit_transaction(WAIT_S)
        producer.begin_transaction()
        send(producer, f"aborted {i}")
        producer.flush(WAIT_S)
        producer.abort_transaction(WAIT_S)
    consumer = confluent_consumer(broker)
    consumer.subscribe([TOPIC])
    try:
        assert read(consumer, 20) == values("committed 0", "committed 1")
        for is_commit in (True, False):
            producer.begin_transaction()
            send(producer, "derived")
            producer.send_offsets_to_transaction(
                consumer.position(consumer.assignment()),
                consumer.consumer_group_metadata(),
                WAIT_S,
            )
            if is_commit:
                producer.commit_transaction(WAIT_S)
                assert read(consumer, 10) == values("derived")
            else:
                producer.abort_transaction(WAIT_S)
    finally:
        consumer.close()
    offsets = broker.group(GROUP).offsets
    # Behind the last record read, or behind the aborted ones that follow it.
    assert [kept.offset in (17, 24) for kept in offsets.values()] == [True, True]


def test_confluents_producer_is_fenced(broker: EmbeddedBroker) -> None:
    first = confluent_producer(broker)
    first.begin_transaction()
    send(first, "fenced")
    first.flush(WAIT_S)
    second = confluent_producer(broker)
    with pytest.raises(confluent_kafka.KafkaException) as raised:
        first.commit_transaction(WAIT_S)
    assert raised.value.args[0].fatal()
    second.begin_transaction()
    send(second, "second")
    second.commit_transaction(WAIT_S)
    consumer = confluent_consumer(broker)
    consumer.assign([confluent_kafka.TopicPartition(TOPIC, i, 0) for i in range(2)])
    try:
        assert read(consumer, 10) == values("second")
    finally:
        consumer.close()


def test_confluents_transaction_outlives_its_coordinator(broker: EmbeddedBroker) -> None:
    """The node stops that coordinates it and leads half of the records."""
    producer = confluent_producer(broker)
    producer.begin_transaction()
    send(producer, "first")
    producer.flush(WAIT_S)
    coordinator = broker.transaction("tx").coordinator
    assert coordinator is not None
    broker.move_leader((TOPIC, 0), coordinator)
    broker.stop_node(coordinator)
    assert broker.transaction("tx").state is TxnState.ONGOING
    send(producer, "second")
    producer.commit_transaction(WAIT_S)
    assert broker.transaction("tx").state is TxnState.COMPLETE_COMMIT
    broker.start_node(coordinator)
    consumer = confluent_consumer(broker)
    consumer.assign([confluent_kafka.TopicPartition(TOPIC, i, 0) for i in range(2)])
    try:
        assert read(consumer, 20) == values("first", "second")
    finally:
        consumer.close()


def test_confluents_transaction_that_takes_too_long(broker: EmbeddedBroker) -> None:
    """The broker aborts it, and the producer learns of that when it commits."""
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "transactional.id": "tx",
            "transaction.timeout.ms": 1000,
            "log_level": 0,
        }
    )
    producer.init_transactions(WAIT_S)
    producer.begin_transaction()
    send(producer, "late")
    producer.flush(WAIT_S)
    asyncio.run(
        broker.wait_until(lambda: broker.transaction("tx").state is TxnState.COMPLETE_ABORT)
    )
    with pytest.raises(confluent_kafka.KafkaException):
        producer.commit_transaction(WAIT_S)
    assert broker.log((TOPIC, 0)).last_stable_offset == 6
    assert broker.log((TOPIC, 0)).transactions.aborted_between(0, 6)
