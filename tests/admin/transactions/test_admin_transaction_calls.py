"""Transactions are listed, described, found hanging and aborted, on the embedded broker and on real
Kafka, with Java's kafka-transactions.sh as the witness.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.admin import (
    AbortTransactionSpec,
    NewTopic,
    TransactionListing,
)
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    CoordinatorLoadInProgressError,
    IllegalArgumentError,
    InvalidProducerEpoch,
    InvalidRegularExpressionError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NotLeaderForPartitionError,
    TransactionalIdAuthorizationFailed,
    TransactionalIdNotFoundError,
    TransactionCoordinatorFenced,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.messages.list_transactions import ListTransactionsRequest
from aiokafka_lite.protocol.messages.write_txn_markers import WriteTxnMarkersRequest
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.admin.support.lenient_kafka import HOUR_MS, LenientKafka, leave_hanging, lenient_kafka
from tests.conftest import NEWEST_FIRST
from tests.support.leftovers import nothing_left_behind


@pytest.fixture(scope="module", params=["embedded", *NEWEST_FIRST])
def kafka(request: pytest.FixtureRequest) -> Iterator[LenientKafka]:
    with lenient_kafka(request.param) as kafka:
        yield kafka


@pytest.fixture
async def admin(kafka: LenientKafka) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=kafka.bootstrap_servers) as admin:
        yield admin


@pytest.fixture
async def ongoing(
    kafka: LenientKafka, admin: AIOKafkaAdminClient, topic_name: str
) -> AsyncIterator[AIOKafkaProducer]:
    """A producer with an open transaction in partition 0 of a new topic; its id is the topic."""
    await admin.create_topics([NewTopic(topic_name, 2, 1)])
    async with AIOKafkaProducer(
        bootstrap_servers=kafka.bootstrap_servers,
        transactional_id=topic_name,
        transaction_timeout_ms=50_000,
    ) as producer:
        await producer.begin_transaction()
        await producer.send_and_wait(topic_name, b"v", partition=0)
        yield producer
        await producer.abort_transaction()


@pytest.mark.usefixtures("ongoing")
async def test_a_transaction_is_listed_and_described_as_java_does(
    kafka: LenientKafka, admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    listed = [each for each in await admin.list_transactions() if each[0] == topic_name]
    (mine,) = listed
    assert mine.state == "Ongoing"
    found = (await admin.describe_transactions([topic_name])).succeeded[topic_name]
    assert (found.state, found.producer_id) == ("Ongoing", mine.producer_id)
    assert found.transaction_timeout_ms == 50_000
    assert found.topic_partitions == {TopicPartition(topic_name, 0)}
    rows = await asyncio.to_thread(kafka.transactions, "list")
    assert [topic_name, str(found.coordinator_id), str(mine.producer_id), "Ongoing"] in rows
    name = ("--transactional-id", topic_name)
    (row,) = await asyncio.to_thread(kafka.transactions, "describe", *name)
    epoch = str(found.producer_epoch)
    assert row[:5] == [str(found.coordinator_id), topic_name, row[2], epoch, "Ongoing"]
    assert row[2] == str(found.producer_id)
    assert str(found.transaction_start_time_ms) in row
    where = TopicPartition(topic_name, 0)
    (state,) = (await admin.describe_producers([where])).succeeded[where]
    asked = ("--topic", topic_name, "--partition", "0")
    (row,) = await asyncio.to_thread(kafka.transactions, "describe-producers", *asked)
    started = state.current_transaction_start_offset
    told = (state.producer_id, state.producer_epoch, -1, 0, state.last_timestamp, started)
    assert row == [str(each) for each in told]
    assert (started, state.last_sequence, state.coordinator_epoch) == (0, 0, None)


@pytest.mark.usefixtures("ongoing")
async def test_filters(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    (mine,) = [each for each in await admin.list_transactions() if each[0] == topic_name]

    async def passes(**filters: Any) -> bool:
        return mine in await admin.list_transactions(**filters)

    assert await passes(states=["Ongoing", "Empty"])
    assert not await passes(states=["Empty"])
    assert await passes(producer_ids=[mine.producer_id])
    assert not await passes(producer_ids=[mine.producer_id + 100_000])
    assert await passes(duration_ms=0)
    assert not await passes(duration_ms=HOUR_MS)
    with pytest.raises(IllegalArgumentError, match=r"states 'Over', 'ongoing': .* 'Ongoing'"):
        await admin.list_transactions(states=["Over", "Ongoing", "ongoing"])
    with pytest.raises(IllegalArgumentError, match="states: 'Ongoing' is no list"):
        await admin.list_transactions(states="Ongoing")


@pytest.mark.usefixtures("ongoing")
async def test_an_expression_filters_where_brokers_know_it(
    kafka: LenientKafka, admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    if kafka.version == "3.9.2":
        with pytest.raises(UnsupportedVersionError, match="transactional_id_pattern"):
            await admin.list_transactions(transactional_id_pattern="a")
        return
    fits = f"{topic_name[:5]}.*{topic_name[-5:]}"
    listed = await admin.list_transactions(transactional_id_pattern=fits)
    assert [each.transactional_id for each in listed] == [topic_name]
    assert await admin.list_transactions(transactional_id_pattern=topic_name[:5]) == []
    with pytest.raises(InvalidRegularExpressionError, match=r"expression '\('"):
        await admin.list_transactions(transactional_id_pattern="(")


@pytest.mark.usefixtures("ongoing")
async def test_an_id_that_is_not_known_among_others(
    admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    unknown = f"{topic_name}-2"
    found = await admin.describe_transactions([unknown, topic_name])
    assert list(found) == [unknown, topic_name]
    assert list(found.succeeded) == [topic_name]
    with pytest.raises(TransactionalIdNotFoundError, match=unknown):
        found.raise_first()


# Hanging transactions…


@pytest.mark.needs_kafka("3.0", "list of transactions")
async def test_a_hanging_transaction_is_found_and_aborted(
    kafka: LenientKafka, admin: AIOKafkaAdminClient, ongoing: AIOKafkaProducer, topic_name: str
) -> None:
    where = TopicPartition(topic_name, 1)
    producer_id = 1_000_000 + secrets.randbelow(1_000_000)
    await leave_hanging(kafka, where, producer_id)
    (found,) = await admin.find_hanging_transactions(topic=topic_name)
    assert found[0] == where
    assert found.transactional_id is None
    assert found.producer[:3] == (producer_id, 3, 0)
    assert found.producer.current_transaction_start_offset == 0
    (row,) = await asyncio.to_thread(kafka.transactions, "find-hanging", "--topic", topic_name)
    assert row[:4] == [topic_name, "1", str(producer_id), "3"]
    (broker_id,) = admin.client.metadata.snapshot.nodes
    everywhere: list[Any] = [found]
    assert await admin.find_hanging_transactions(broker_id) == everywhere
    assert await admin.find_hanging_transactions(topic=topic_name, partition=0) == []
    assert await admin.find_hanging_transactions(topic=topic_name, partition=1) == everywhere
    longer = 2 * HOUR_MS
    assert (
        await admin.find_hanging_transactions(topic=topic_name, max_transaction_timeout_ms=longer)
        == []
    )
    await admin.abort_transaction(found.to_abort)
    assert await admin.find_hanging_transactions(topic=topic_name) == []
    assert await asyncio.to_thread(kafka.transactions, "find-hanging", "--topic", topic_name) == []
    await ongoing.commit_transaction()
    assert await read_committed(kafka, topic_name) == [b"v"]
    await ongoing.begin_transaction()


async def read_committed(kafka: LenientKafka, topic: str) -> list[bytes | None]:
    async with AIOKafkaConsumer(
        topic,
        bootstrap_servers=kafka.bootstrap_servers,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        group_id=None,
    ) as consumer:
        record = await consumer.getone()
        return [record.value]


@pytest.mark.usefixtures("ongoing")
async def test_an_open_transaction_of_a_living_producer_does_not_hang(
    admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    found = await admin.find_hanging_transactions(
        topic=topic_name, max_transaction_timeout_ms=-1000
    )
    assert found == []


@pytest.mark.needs_kafka("2.8", "markers of administrators")
async def test_markers_with_epochs_that_are_over_are_refused(
    kafka: LenientKafka, admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    await admin.create_topics([NewTopic(topic_name, 1, 1)])
    where = TopicPartition(topic_name, 0)
    await leave_hanging(kafka, where, 7)
    with pytest.raises(InvalidProducerEpoch, match=f"{topic_name}-0"):
        await admin.abort_transaction(AbortTransactionSpec(where, 7, 2, 0))
    await admin.abort_transaction(AbortTransactionSpec(where, 7, 3, 5))
    with pytest.raises(TransactionCoordinatorFenced):
        await admin.abort_transaction(AbortTransactionSpec(where, 7, 3, 4))
    with pytest.raises(UnknownTopicOrPartitionError, match=f"{topic_name}-9"):
        await admin.abort_transaction(AbortTransactionSpec(TopicPartition(topic_name, 9), 7, 3, 0))


async def test_where_to_look_for_hanging_transactions(
    admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    await admin.create_topics([NewTopic(topic_name, 1, 1)])
    nowhere: list[dict[str, Any]] = [{}, {"partition": 0}, {"broker_id": 1, "partition": 0}]
    for places in nowhere:
        with pytest.raises(IllegalArgumentError, match="name a broker or a topic"):
            await admin.find_hanging_transactions(**places)
    with pytest.raises(UnknownTopicOrPartitionError, match="has no partition 5"):
        await admin.find_hanging_transactions(topic=topic_name, partition=5)
    with pytest.raises(UnknownTopicOrPartitionError, match=f"{topic_name}-2"):
        await admin.find_hanging_transactions(topic=f"{topic_name}-2")


# Clusters that change, and rights…


async def test_transactions_of_all_brokers_are_listed_once_in_order() -> None:
    async with (
        EmbeddedBroker(nodes=3) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        names = [f"tx-{number}" for number in range(9)]
        for number, name in enumerate(names):
            broker.move_transaction_coordinator(name, number % 3 + 1)
        await admin.fence_producers(names)
        listed = await admin.list_transactions()
        assert [each.transactional_id for each in listed] == names
        described = (await admin.describe_transactions(names)).succeeded
        assert {each.coordinator_id for each in described.values()} == {1, 2, 3}
        broker.faults.fail(ListTransactionsRequest, CoordinatorLoadInProgressError, node_id=2)
        assert await admin.list_transactions() == listed
        broker.stop_node(2)
        assert await admin.list_transactions() == listed


async def test_a_coordinator_that_moves_is_followed() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        await admin.fence_producers(["tx"])
        for node in (1, 2):
            broker.move_transaction_coordinator("tx", node)
            found = (await admin.describe_transactions(["tx"])).succeeded["tx"]
            assert (found.coordinator_id, found.transaction_start_time_ms) == (node, None)
        broker.stop_node(2)
        assert (await admin.describe_transactions(["tx"])).succeeded["tx"].coordinator_id == 1
        broker.move_transaction_coordinator("tx", None)
        with pytest.raises(KafkaTimeoutError, match=r"describe_transactions\(\).* 0.3 s"):
            (await admin.describe_transactions(["tx"], timeout_ms=300)).raise_first()


async def test_a_lost_response_to_an_abort_is_an_error() -> None:
    """A second marker could end the next transaction of a producer that lives."""
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", 1)
        spec = AbortTransactionSpec(TopicPartition("t", 0), 7, 3, 0)
        broker.faults.fail(WriteTxnMarkersRequest, NotLeaderForPartitionError)
        await admin.abort_transaction(spec)
        broker.faults.cut(WriteTxnMarkersRequest)
        with pytest.raises(KafkaConnectionError):
            await admin.abort_transaction(spec)
        assert broker.log(("t", 0)).log_end_offset == 2
        broker.stop_node(broker.leader(("t", 0)))
        await admin.abort_transaction(spec)
        assert broker.log(("t", 0)).log_end_offset == 3


async def test_without_the_rights() -> None:
    options: dict[str, Any] = {"security": "SASL_PLAINTEXT", "users": {"alice": "x", "root": "x"}}
    acls = [
        Acl.allow("alice", "DESCRIBE", transactional_id="mine"),
        Acl.allow("alice", "DESCRIBE", topic="t"),
    ]
    async with (
        nothing_left_behind(),
        EmbeddedBroker(acls=acls, super_users=["root"], **options) as broker,
    ):
        broker.create_topic("t", 1)
        servers = broker.bootstrap_servers
        root = broker.client_options("root")
        async with AIOKafkaAdminClient(bootstrap_servers=servers, **root) as admin:
            await admin.fence_producers(["mine", "other"])
        alice = broker.client_options("alice")
        async with AIOKafkaAdminClient(bootstrap_servers=servers, **alice) as admin:
            assert await admin.list_transactions() == [TransactionListing("mine", 0, "Empty")]
            found = await admin.describe_transactions(["mine", "other"])
            assert list(found.succeeded) == ["mine"]
            assert isinstance(found["other"], TransactionalIdAuthorizationFailed)
            with pytest.raises(ClusterAuthorizationFailedError):
                await admin.abort_transaction(AbortTransactionSpec(TopicPartition("t", 0), 7, 3, 0))


async def test_each_step_of_the_search_has_what_is_left_of_the_time() -> None:
    async with (
        EmbeddedBroker(transaction_partition_verification_enable=False) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", 1)
        kafka = LenientKafka(broker.bootstrap_servers, "embedded")
        await leave_hanging(kafka, TopicPartition("t", 0), 7)
        broker.faults.fail(ListTransactionsRequest, CoordinatorLoadInProgressError, times=1000)
        told = r"find_hanging_transactions\(\): no result within 0\."
        with pytest.raises(KafkaTimeoutError, match=told):
            await admin.find_hanging_transactions(topic="t", timeout_ms=500)
