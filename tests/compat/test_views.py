"""What programs read of the inside of a client is what aiokafka would say, and changes with it."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.client import ConnectionGroup
from aiokafka_lite.compat.installation import found
from aiokafka_lite.errors import ConsumerStoppedError, KafkaError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker

TP = TopicPartition("t", 0)


def inside(client: Any) -> Any:
    """The client, for reads that its type does not have."""
    return client


async def filled(broker: EmbeddedBroker, count: int = 5) -> dict[str, Any]:
    address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
    async with AIOKafkaProducer(**address) as producer:
        await producer.send_many("t", [b"%d" % number for number in range(count)], partition=0)
    return address


# A producer…


async def test_the_task_of_a_producer_is_done_when_nothing_is_sent_any_more() -> None:
    async with EmbeddedBroker() as broker:
        producer = inside(AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers))
        assert producer._sender.sender_task is None
        assert not producer._closed
        await producer.start()
        task = producer._sender.sender_task
        assert isinstance(task, asyncio.Task)
        assert not task.done()
        assert producer._sender._sender_task is task
        await producer.stop()
        assert task.done()
        assert producer._closed
    assert isinstance(producer._sender, found("producer.sender", "Sender"))
    assert producer._sender == producer._sender
    assert hash(producer._sender) == hash(producer._sender)
    with pytest.raises(NotImplementedError, match="use AIOKafkaProducer"):
        found("producer.sender", "Sender")(None)


async def test_the_task_of_a_producer_is_done_after_a_failure() -> None:
    async with EmbeddedBroker() as broker:
        producer = inside(AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers))
        await producer.start()
        task = producer._sender.sender_task
        producer.kafka_client.owner.fail("for a test")
        await asyncio.wait([task], timeout=5)
        assert task.done()
        await producer.stop()


async def test_a_producer_shows_its_transactions() -> None:
    async with EmbeddedBroker() as broker:
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with AIOKafkaProducer(**address, enable_idempotence=False, acks=1) as plain:
            assert inside(plain)._txn_manager is None
            assert inside(plain)._sender._txn_manager is None
            assert inside(plain)._sender._acks == 1
        async with AIOKafkaProducer(**address) as idempotent:
            await idempotent.send_and_wait("t", b"1")
            manager = inside(idempotent)._txn_manager
            assert manager.has_pid()
            assert manager.producer_id >= 0
            assert manager.transactional_id is None
            assert not manager.is_in_transaction()
            assert manager.is_empty_transaction()
        async with AIOKafkaProducer(**address, transactional_id="id") as producer:
            manager = inside(producer)._txn_manager
            states = found("producer.transaction_manager", "TransactionState")
            assert manager.state is states.READY
            assert manager.transactional_id == "id"
            assert manager.transaction_timeout_ms == 60_000
            assert isinstance(manager, found("producer.transaction_manager", "TransactionManager"))
            async with producer.transaction():
                assert manager.is_in_transaction()
                await producer.send("t", b"1", partition=0)
                assert manager.txn_partitions == {TP}
                assert not manager.is_empty_transaction()
            assert not manager.is_fatal_error()
            assert (manager.producer_id, manager.producer_epoch) == manager._pid_and_epoch
            with pytest.raises(NotImplementedError, match="begin_transaction"):
                manager.fatal_error(None)


async def test_a_producer_shows_what_it_holds() -> None:
    async with EmbeddedBroker() as broker:
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with AIOKafkaProducer(**address, linger_ms=60_000) as producer:
            accumulator = inside(producer)._message_accumulator
            assert not accumulator._batches
            ack = await producer.send("t", b"1", partition=0)
            assert [*accumulator._batches] == [TP]
            await accumulator.flush()
            assert ack.done()
            assert not accumulator._batches
            builder = accumulator.create_builder()
            builder.append(key=None, value=b"2", timestamp=None)
            sent = await accumulator.add_batch(builder, TP, 5)
            await producer.flush()
            assert (await sent).offset == 1
            assert inside(producer)._sender._message_accumulator == accumulator


async def test_a_partition_is_found_as_frameworks_find_it() -> None:
    async with EmbeddedBroker(num_partitions=4) as broker:
        async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            numbers = sorted(await producer.partitions_for("t"))
            assert inside(producer)._metadata.partitions_for_topic("t") == set(numbers)
            sent = await producer.send_and_wait("t", b"1", key=b"key")
            assert inside(producer)._partitioner(b"key", numbers, numbers) == sent.partition
        own = AIOKafkaProducer(partitioner=lambda *_: 2)
        assert inside(own)._partitioner(b"key", numbers, numbers) == 2


# A consumer…


async def test_before_its_start_a_consumer_has_no_inside() -> None:
    consumer = inside(AIOKafkaConsumer("t", group_id="g"))
    assert consumer._coordinator is None
    assert consumer._fetcher is None
    assert consumer._subscription.subscription.topics == {"t"}
    assert consumer._subscription.subscription.assignment is None
    assert inside(AIOKafkaConsumer())._subscription.subscription is None


async def test_a_member_shows_its_group() -> None:
    async with EmbeddedBroker() as broker:
        address = await filled(broker)
        async with AIOKafkaConsumer("t", group_id="g", **address) as consumer:
            coordinator = inside(consumer)._coordinator
            assert isinstance(coordinator, found("consumer.group_coordinator", "GroupCoordinator"))
            assert coordinator.group_id == "g"
            assert coordinator.generation == consumer.group_metadata().generation_id > 0
            assert coordinator.member_id == consumer.group_metadata().member_id
            assert coordinator.coordinator_id == 1
            assert await inside(consumer)._client.ready(coordinator.coordinator_id)
            assert coordinator._metadata_snapshot == {"t": 1}
            assert not coordinator._coordination_task.done()
            assert coordinator._session_timeout_ms == 45_000
            assert not hasattr(coordinator, "_no_such_option")
            assert not coordinator.need_rejoin(None)
            coordinator.check_errors()
            await coordinator.ensure_coordinator_known()
            await coordinator.commit_offsets(None, {TP: 3})
            assert await coordinator.fetch_committed_offsets([TP]) == {TP: OffsetAndMetadata(3, "")}
            assert await coordinator.fetch_committed_offsets([]) == {}
            with pytest.raises(NotImplementedError, match="commit"):
                coordinator.reset_generation()
            before = coordinator.generation
            coordinator.request_rejoin()
            async with asyncio.timeout(10):
                while coordinator.generation == before:
                    await consumer.getmany(timeout_ms=10)
            task = coordinator._heartbeat_task
            await coordinator.close()
            assert task.done()
            assert inside(consumer)._closed
        with pytest.raises(ConsumerStoppedError):
            await consumer.getone()


async def test_without_a_group_there_is_no_membership() -> None:
    async with EmbeddedBroker() as broker:
        address = await filled(broker)
        async with AIOKafkaConsumer("t", **address) as consumer:
            coordinator = inside(consumer)._coordinator
            kind = found("consumer.group_coordinator", "NoGroupCoordinator")
            assert isinstance(coordinator, kind)
            assert not hasattr(coordinator, "member_id")
            assert coordinator._metadata_snapshot == {"t": 1}
            assert coordinator._cluster.partitions_for_topic("t") == {0}


async def test_a_framework_polls_through_the_fetcher() -> None:
    async with EmbeddedBroker() as broker:
        address = await filled(broker)
        async with AIOKafkaConsumer("t", auto_offset_reset="earliest", **address) as consumer:
            fetcher = inside(consumer)._fetcher
            assert isinstance(fetcher, found("consumer.fetcher", "Fetcher"))
            assert not fetcher._closed
            with fetcher._subscriptions.fetch_context():
                record = await fetcher.next_record([])
            assert record.value == b"0"
            records = await fetcher.fetched_records({TP}, timeout=5, max_records=2)
            assert [each.value for each in records[TP]] == [b"1", b"2"]
            assert await fetcher.fetched_records([], timeout=None, max_records=1)
            assert await fetcher.beginning_offsets([TP], 5000) == {TP: 0}
            assert await fetcher.end_offsets([TP], 5000) == {TP: 5}
            assert (await fetcher.get_offsets_by_times({TP: 0}, 5000))[TP].offset == 0
            fetcher.seek_to(TP, 1)
            assert (await fetcher.next_record([])).offset == 1
            assert not fetcher._fetch_task.done()
            assert not fetcher._fetch_waiters
            assert fetcher._in_flight <= {1}
            assert {*fetcher._records} <= {TP}
            task = fetcher._fetch_task
            await fetcher.close()
            assert task.done()
            assert fetcher._closed


async def test_the_subscription_shows_positions() -> None:
    async with EmbeddedBroker() as broker:
        address = await filled(broker)
        async with AIOKafkaConsumer("t", auto_offset_reset="earliest", **address) as consumer:
            state = inside(consumer)._subscription
            assert isinstance(state, found("consumer.subscription_state", "SubscriptionState"))
            await consumer.getone()
            subscription = state.subscription
            assert subscription.active
            assert subscription.topics == {"t"}
            assert subscription.assignment.active
            assert subscription.assignment.tps == state.assigned_partitions() == {TP}
            assert state.is_assigned(TP)
            assert not state.reassignment_in_progress
            assert state.fetcher_idle_time == 0
            assert state.partitions_auto_assigned()
            assert state._subscription_type.name == "AUTO_TOPICS"
            of_tp = subscription.assignment.state_value(TP)
            assert of_tp == state._assigned_state(TP)
            assert (of_tp.position, of_tp.highwater, of_tp.lso) == (1, 5, 5)
            assert of_tp.has_valid_position
            assert of_tp.timestamp is not None
            assert not of_tp.awaiting_reset
            assert of_tp._status.name == "CONSUMING"
            assert subscription.assignment.all_consumed_offsets() == {TP: OffsetAndMetadata(1, "")}
            assert subscription.assignment.state_value(TopicPartition("u", 0)) is None
            consumer.pause(TP)
            assert of_tp.paused
            assert state.paused_partitions() == {TP}
            with pytest.raises(NotImplementedError, match="seek"):
                of_tp.reset_to(0)
            consumer.unsubscribe()
            assert state.subscription is None
            consumer.assign([TP])
            assert type(state.subscription).__name__ == "ManualSubscription"
            assert not state.partitions_auto_assigned()
            position = inside(state.subscription).assignment.state_value(TP)
            with pytest.raises(AssertionError, match="not known"):
                _ = position.position


async def test_the_next_assignment_is_waited_for() -> None:
    async with EmbeddedBroker(num_partitions=2) as broker:
        address: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        async with AIOKafkaConsumer(**address) as consumer:
            waiting = asyncio.ensure_future(inside(consumer)._subscription.wait_for_assignment())
            await asyncio.sleep(0)
            assert not waiting.done()
            consumer.assign([TP])
            await asyncio.wait_for(waiting, 10)


async def test_an_option_may_be_set_before_the_start() -> None:
    async with EmbeddedBroker() as broker:
        address = await filled(broker)
        consumer = inside(AIOKafkaConsumer("t", **address))
        consumer._group_id = "set-later"
        consumer._auto_offset_reset = "earliest"
        async with consumer:
            assert consumer.group_metadata().group_id == "set-later"
            assert consumer._group_id == "set-later"
            assert (await consumer.getone()).offset == 0


def test_a_class_that_makes_no_consumer_may_set_what_it_wants() -> None:
    """As the clients in the memory of test kits do."""

    class InMemory(AIOKafkaConsumer):
        def __init__(self, group_id: str) -> None:
            self._group_id = group_id
            self._closed = False

    consumer = InMemory("g")
    consumer._closed = True
    assert (inside(consumer)._group_id, consumer._closed) == ("g", True)
    assert not hasattr(consumer, "_max_poll_records")


# A client of a cluster…


async def test_connections_and_topics_are_shown() -> None:
    async with EmbeddedBroker(nodes=2, num_partitions=2) as broker:
        address = await filled(broker)
        async with AIOKafkaConsumer("t", group_id="g", **address) as consumer:
            client = inside(consumer)._client
            assert client._topics == {"t"}
            assert await client.ready(1)
            connection = client._conns[1, ConnectionGroup.DEFAULT]
            assert isinstance(connection, found("conn", "AIOKafkaConnection"))
            assert connection.connected()
            broker_1 = client.cluster.broker_metadata(1)
            assert (connection.host, connection.port) == (broker_1.host, broker_1.port)
            assert client.cluster._brokers[1] == broker_1
            assert {*client.cluster._partitions["t"]} == {0, 1}
            assert {*client.cluster._broker_partitions} == {1, 2}
            assert client.cluster.is_bootstrap("bootstrap-0")
            assert not client.cluster.is_bootstrap(1)
            with pytest.raises(NotImplementedError, match="force_metadata_update"):
                client.cluster.update_metadata(None)
            assert await client._get_conn(2) == client._conns[2, ConnectionGroup.DEFAULT]
            assert await client._get_conn(9) is None
            await client._maybe_wait_metadata()
            assert client._loop is asyncio.get_running_loop() is inside(consumer)._loop
            assert client._retry_backoff == 0.1


async def test_before_the_start_a_client_knows_nothing() -> None:
    client = inside(AIOKafkaConsumer())._client
    assert (client._topics, client._conns, client._loop) == (set(), {}, None)


async def test_an_admin_client_answers_as_aiokafkas_does() -> None:
    async with EmbeddedBroker(num_partitions=3) as broker:
        address = await filled(broker)
        admin = inside(AIOKafkaAdminClient(**address))
        assert not admin._started
        async with admin:
            assert admin._started
            cluster = await admin._client.fetch_all_metadata()
            assert cluster.topics() == {"t"}
            assert [each.nodeId for each in admin._client.cluster.brokers()] == [1]
            assert await admin._client.force_metadata_update()
            metadata = await admin._get_cluster_metadata(["t"])
            assert len(metadata.topics[0][3]) == 3
            request = found("protocol.admin", "CreateTopicsRequest")
            made = await admin._send_to_controller(request([("u", 1, 1, [], [])], 5000, False))
            assert made.topic_errors[0][:2] == ("u", 0)
            described = await admin._send_request(found("protocol.admin", "ListGroupsRequest")(), 1)
            assert described.groups == []
        assert admin._closed
        with pytest.raises(KafkaError):
            await admin._get_cluster_metadata()
