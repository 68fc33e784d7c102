"""A client reports each event to its observer, with what the event is about."""

import asyncio
import inspect
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.admin import AIOKafkaAdminClient
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.errors import (
    CoordinatorLoadInProgressError,
    IllegalStateError,
    KafkaConnectionError,
    MessageSizeTooLargeError,
    NotLeaderForPartitionError,
    ProducerFenced,
)
from aiokafka_lite.metrics.observed_client import ObservedClient
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.metrics.statistics import ConsumerStatistics
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_cluster import DescribeClusterRequest
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill

(P0,) = tps(0)


class Notebook(Observer):
    """Writes down what it is told of the network."""

    def __init__(self) -> None:
        self.connections: list[tuple[int, float]] = []
        self.responses: list[tuple[int, int, float, int]] = []

    def connected(self, node_id: int, took_s: float) -> None:
        self.connections.append((node_id, took_s))

    def request_answered(self, node_id: int, api_key: int, took_s: float, size: int) -> None:
        self.responses.append((node_id, api_key, took_s, size))


async def test_connections_and_responses_are_reported_with_their_node() -> None:
    async with embedded(nodes=2) as broker:
        notebook = Notebook()
        config = ClientConfig(bootstrap_servers=broker.bootstrap_servers)
        client = KafkaClient(config, observer=notebook)
        await client.start()
        assert {node_id for node_id, _ in notebook.connections} <= {-1, -2}
        # The connection to a seed is kept for the node, but not for each kind of request.
        await client.network.request(2, DescribeClusterRequest(), lane=Lane.FETCH)
        await client.close()
    node_id, took_s = notebook.connections[-1]
    assert node_id == 2
    assert took_s > 0
    node_id, api_key, took_s, size = notebook.responses[-1]
    assert (node_id, api_key) == (2, DescribeClusterRequest.api_key)
    assert took_s > 0
    assert size > 20  # the name of the cluster alone has more


def test_an_observer_overrides_the_events_it_needs() -> None:
    notebook = Notebook()
    notebook.batch_acknowledged(TopicPartition("t", 0), 1, 100, 100, 0.5)
    notebook.records_fetched(1, 100)
    notebook.rebalanced(1, 1, 0.5)
    notebook.committed(1, 0.5)
    assert (notebook.connections, notebook.responses) == ([], [])


class Diary(Observer):
    """Writes down the events of all its clients, with what they are about."""

    def __init__(self) -> None:
        self.clients: list[ObservedClient] = []
        self.heard: list[tuple[str, tuple[Any, ...]]] = []

    def of_client(self, client: ObservedClient) -> Observer:
        self.clients.append(client)
        return self

    def of(self, name: str) -> list[tuple[Any, ...]]:
        return [about for heard, about in self.heard if heard == name]


def _noting(name: str) -> Any:
    return lambda diary, *about: diary.heard.append((name, about))


for _name, _method in list(vars(Observer).items()):
    if inspect.isfunction(_method) and _name != "of_client":
        setattr(Diary, _name, _noting(_name))


async def test_a_producer_reports_its_batches_and_its_end() -> None:
    async with embedded({"t": 1}) as broker:
        diary = Diary()
        producer: AIOKafkaProducer[Any, Any] = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            compression_type="gzip",
            observer=diary,
            client_id="me",
        )
        async with producer:
            broker.faults.fail(ProduceRequest, NotLeaderForPartitionError)
            await producer.send_and_wait("t", b"v" * 1000)
        (client,) = diary.clients
        assert (client.kind, client.client_id, client.group_id) == ("producer", "me", None)
        assert [(tp, records) for tp, records, _ in diary.of("batch_sent")] == [(P0, 1)] * 2
        ((retried, records, error),) = diary.of("batch_retried")
        assert (retried, records, type(error)) == (P0, 1, NotLeaderForPartitionError)
        ((written, records, size, uncompressed, took_s),) = diary.of("batch_acknowledged")
        assert (written, records) == (P0, 1)
        assert size == broker.log(P0).size_in_bytes < 200
        assert uncompressed > 1000
        assert took_s > diary.of("batch_sent")[0][2] >= 0
        assert len(diary.of("closed")) == 1


async def test_a_batch_that_was_given_up_is_reported() -> None:
    async with embedded({"t": 1}) as broker:
        diary = Diary()
        broker.delete_topic("t")
        broker.create_topic("t", 1, configs={"max.message.bytes": "100"})
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, observer=diary
        ) as producer:
            with pytest.raises(MessageSizeTooLargeError):
                await producer.send_and_wait("t", b"v" * 1000)
        ((failed, records, error),) = diary.of("batch_failed")
        assert (failed, records, type(error)) == (P0, 1, MessageSizeTooLargeError)


def test_an_outage_of_all_brokers_is_told_once_and_ends_the_health() -> None:
    async def main(kafka: VirtualKafka) -> None:
        diary, options = Diary(), kafka.client_options
        producer: AIOKafkaProducer[Any, Any] = AIOKafkaProducer(observer=diary, **options)
        consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer(**options)
        admin = AIOKafkaAdminClient(**options)

        async def health() -> set[bool]:
            clients = (producer.is_healthy, consumer.is_healthy, admin.is_healthy)
            for is_healthy in clients:
                is_healthy()  # an idle client looks for a broker
            await asyncio.sleep(20)
            return {is_healthy() for is_healthy in clients}

        assert await health() == {False}, "not started"
        async with producer, consumer, admin:
            assert await health() == {True}
            kafka.broker.stop_node(1)
            assert await health() == {True}, "the other node is there"
            assert diary.of("all_brokers_down") == []
            for outage in (1, 2):
                kafka.broker.stop_node(2)
                assert await health() == {False}
                assert len(diary.of("all_brokers_down")) == outage
                (error,) = diary.of("all_brokers_down")[-1]
                assert isinstance(error, KafkaConnectionError)
                kafka.broker.start_node(2)
                assert await health() == {True}
        assert await health() == {False}, "stopped"

    run_virtual_kafka(main, nodes=2)


async def test_the_health_is_for_the_loop_of_the_client() -> None:
    async with (
        embedded({}) as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        with pytest.raises(IllegalStateError, match="run_coroutine_threadsafe"):
            await asyncio.to_thread(producer.is_healthy)


async def test_a_producer_that_was_fenced_is_not_healthy() -> None:
    async with embedded({"t": 1}) as broker:
        options: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        first: AIOKafkaProducer[Any, Any]
        first = AIOKafkaProducer(transactional_id="x", **options)
        async with first, AIOKafkaProducer(transactional_id="x", **options) as second:
            with pytest.raises(ProducerFenced):
                async with first.transaction():
                    await first.send_and_wait("t", b"v")
            assert not first.is_healthy()
            assert second.is_healthy()


@pytest.mark.parametrize("way", ["getmany", "getone", "iteration", "columns"])
async def test_every_way_of_polling_reports_what_it_returned(way: str) -> None:
    async with embedded({"t": 1}) as broker:
        diary = Diary()
        fill(broker, P0, 20)
        async with consumer_of(broker, "t", observer=diary) as consumer:
            if way == "getmany":
                await consumer.getmany(timeout_ms=1000)
            elif way == "columns":
                await consumer.getmany_columns(timeout_ms=1000)
            elif way == "getone":
                for _ in range(20):
                    await consumer.getone()
            else:
                async for record in consumer:
                    if record.offset == 19:
                        break
            await consumer.getmany(timeout_ms=0)
        returned = diary.of("records_returned")
        assert {tp for tp, _ in returned} == {P0}
        assert sum(records for _, records in returned) == 20
        assert len(returned) <= 3  # never one for each record


async def test_a_member_reports_rebalances_commits_and_refusals() -> None:
    async with embedded({"t": 2}) as broker:
        diary = Diary()
        fill(broker, P0, 2)
        async with consumer_of(
            broker, "t", group_id="g", enable_auto_commit=False, observer=diary
        ) as consumer:
            ((generation, partitions, took_s),) = diary.of("rebalanced")
            assert (generation, partitions) == (1, 2)
            assert took_s > 0
            await consumer.getone()
            await consumer.commit()
            ((partitions, took_s),) = diary.of("committed")
            assert partitions >= 1
            assert took_s > 0
            broker.faults.fail(OffsetCommitRequest, CoordinatorLoadInProgressError)
            await consumer.commit()
        refused = [type(error) for activity, error in diary.of("failed") if activity == "commit"]
        assert refused == [CoordinatorLoadInProgressError]
        assert diary.clients[0].group_id == "g"


async def test_failures_of_connections_and_fetches_and_throttles_are_reported() -> None:
    async with embedded({"t": 1}) as broker:
        diary = Diary()
        fill(broker, P0, 2)
        broker.faults.throttle(FetchRequest, 1)
        broker.faults.fail(FetchRequest, NotLeaderForPartitionError)
        async with consumer_of(broker, "t", observer=diary) as consumer:
            await consumer.getone()
            assert ("fetch", NotLeaderForPartitionError) in [
                (activity, type(error)) for activity, error in diary.of("failed")
            ]
            assert diary.of("throttled") == [(1, 0.001)]
            statistics = diary.clients[0].statistics()
            assert isinstance(statistics, ConsumerStatistics)
            assert statistics.network.open_connections >= 1
        assert len(diary.of("closed")) == 1


async def test_a_start_that_fails_ends_the_observation() -> None:
    diary = Diary()
    async with embedded() as broker:
        address = broker.bootstrap_servers
    consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer(
        "t", bootstrap_servers=address, observer=diary, default_api_timeout_ms=300
    )
    for attempt in (1, 2):
        with pytest.raises(KafkaConnectionError):
            await consumer.start()
        assert len(diary.clients) == attempt
        assert len(diary.of("closed")) == attempt
    assert {activity for activity, _ in diary.of("failed")} == {"connect"}
    await consumer.stop()


async def test_an_admin_client_has_an_observer_too() -> None:
    async with embedded() as broker:
        diary = Diary()
        async with AIOKafkaAdminClient(
            bootstrap_servers=broker.bootstrap_servers, observer=diary
        ) as admin:
            await admin.describe_cluster()
        assert diary.clients[0].kind == "admin"
        assert diary.of("request_answered")
        assert len(diary.of("closed")) == 1
