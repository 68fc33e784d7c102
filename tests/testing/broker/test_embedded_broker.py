"""The embedded broker as its users see it."""

import asyncio
import random
import socket
import sys
import time

import pytest

from aiokafka_lite.errors import (
    ConcurrentTransactions,
    GroupIdNotFound,
    IllegalStateError,
    InvalidConfigurationError,
    TopicAlreadyExistsError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnState
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.support.leftovers import nothing_left_behind
from tests.testing.broker.apache.group_peers import peers_of
from tests.testing.broker.apache.share_peers import ACCEPT, RELEASE, share_peers_of
from tests.testing.broker.apache.txn_peers import TransactionalKafka, TxnPeer
from tests.testing.broker.bench import WireClient, batch

TP = TopicPartition("t", 0)
UNDISTURBED_ATTEMPTS = 200
"""On a machine busy with other things, one of so many goes through without being interrupted."""


# Starting and stopping…


async def test_it_starts_in_under_10_ms() -> None:
    """The embedded broker starts in less than 10 ms."""
    for _ in range(UNDISTURBED_ATTEMPTS):
        broker = EmbeddedBroker(3)
        began = time.perf_counter()
        await broker.start()
        cost_s = time.perf_counter() - began
        await broker.stop()
        if cost_s < 0.010:
            return
    pytest.fail("never in under 10 ms")


def test_it_starts_in_a_thread_in_under_10_ms() -> None:
    for _ in range(UNDISTURBED_ATTEMPTS):
        began = time.perf_counter()
        with EmbeddedBroker.threaded():
            cost_s = time.perf_counter() - began
        if cost_s < 0.010:
            return
    pytest.fail("never in under 10 ms")


async def test_nothing_is_left_when_it_ends() -> None:
    """Clean stop: a ResourceWarning would be an error here."""
    async with nothing_left_behind():
        async with EmbeddedBroker(2) as broker:
            clients = [await WireClient.connect(address) for address in addresses(broker) * 3]
            for client in clients:
                await client.ask(ApiVersionsRequest())
        for client in clients:
            assert await client.is_closed_by_peer()
            client.writer.close()


def addresses(broker: EmbeddedBroker) -> list[str]:
    return broker.bootstrap_servers.split(",")


async def test_stop_may_be_called_twice_and_start_only_once() -> None:
    broker = EmbeddedBroker()
    await broker.stop()
    await broker.start()
    with pytest.raises(IllegalStateError, match="starts once; make a new one"):
        await broker.start()
    await broker.stop()
    await broker.stop()


async def test_stop_lets_go_of_stalled_requests() -> None:
    async with EmbeddedBroker() as broker:
        broker.faults.stall(ApiVersionsRequest)
        async with await WireClient.connect(broker.bootstrap_servers) as client:
            client.send(ApiVersionsRequest(), 0)
            await broker.wait_until(lambda: len(broker.requests) == 1)
            async with asyncio.timeout(30):
                await broker.stop()


async def test_every_node_answers_on_a_port_of_its_own() -> None:
    async with EmbeddedBroker(3) as broker:
        assert len(set(addresses(broker))) == 3
        for address in addresses(broker):
            async with await WireClient.connect(address) as client:
                await client.ask(ApiVersionsRequest())
        assert [received.node_id for received in broker.requests] == [1, 2, 3]


async def test_ports_count_up_from_the_first() -> None:
    assert EmbeddedBroker(2, port=9092).bootstrap_servers == "127.0.0.1:9092,127.0.0.1:9093"


async def test_all_interfaces_are_advertised_as_this_machine() -> None:
    async with EmbeddedBroker(host="0.0.0.0") as broker:
        assert broker.bootstrap_servers.startswith("127.0.0.1:")
        async with await WireClient.connect(broker.bootstrap_servers) as client:
            await client.ask(ApiVersionsRequest())


def test_all_faults_of_the_options_are_in_one_error() -> None:
    with pytest.raises(ValueError, match="nodes must be 1 to 100, got 0") as info:
        EmbeddedBroker(0, port=70000, num_partitions=0, racks=["a"], log_retention_bytes=0)
    message = str(info.value)
    assert "port must be 0 to 65536, got 70000" in message
    assert "num_partitions must be 1 or more, got 0" in message
    assert "log_retention_bytes must be 1 or more, got 0" in message
    assert "racks" in message


async def test_older_brokers_are_played_by_max_versions() -> None:
    async with (
        EmbeddedBroker(max_versions={ApiKey.FETCH: 11, ApiKey.DESCRIBE_CLUSTER: None}) as broker,
        await WireClient.connect(broker.bootstrap_servers) as client,
    ):
        told = {
            k.api_key: k.max_version for k in (await client.ask(ApiVersionsRequest(), 2)).api_keys
        }
    assert told[ApiKey.FETCH] == 11
    assert ApiKey.DESCRIBE_CLUSTER not in told


async def test_a_seed_makes_ids_repeatable() -> None:
    ids = []
    for _ in range(2):
        broker = EmbeddedBroker(rng=random.Random(5))
        broker.create_topic("t")
        ids.append((broker.cluster.cluster_id, broker.cluster.topics["t"].topic_id))
    assert ids[0] == ids[1]
    assert len(ids[0][0]) == 22


# Topics and data…


async def test_topics_are_created_with_settings_deleted_and_created_again(
    broker: EmbeddedBroker,
) -> None:
    broker.create_topic("t", partitions=2, configs={"max.message.bytes": 100})
    first = broker.cluster.topics["t"]
    assert (len(first.partitions), first.config.max_message_bytes) == (2, 100)
    with pytest.raises(TopicAlreadyExistsError):
        broker.create_topic("t")
    with pytest.raises(InvalidConfigurationError):
        broker.create_topic("u", configs={"message.timestamp.type": "x"})
    broker.delete_topic("t")
    broker.create_topic("t")
    assert broker.cluster.topics["t"].topic_id != first.topic_id
    with pytest.raises(UnknownTopicOrPartitionError):
        broker.log(("t", 1))


async def test_raw_batches_are_appended_and_read_back(broker: EmbeddedBroker) -> None:
    broker.create_topic("t")
    assert broker.append(TP, batch(b"a", b"b")) == 0
    assert broker.append(("t", 0), batch(b"c")) == 2
    log = broker.log(TP)
    assert [(record.offset, record.value) for record in log.records()] == [
        (0, b"a"),
        (1, b"b"),
        (2, b"c"),
    ]
    broker.delete_records(TP, 1)
    assert (log.log_start_offset, log.high_watermark) == (1, 3)


async def test_the_log_is_bounded() -> None:
    size = len(batch(b"x"))
    async with EmbeddedBroker(log_retention_bytes=10 * size) as broker:
        broker.create_topic("t")
        broker.create_topic("small", configs={"retention.bytes": 3 * size})
        for _ in range(100):
            broker.append(TP, batch(b"x"))
            broker.append(("small", 0), batch(b"x"))
        assert broker.log(TP).size_in_bytes == 10 * size
        assert broker.log(("small", 0)).size_in_bytes == 3 * size


async def test_leaders_move_and_follow_nodes() -> None:
    async with EmbeddedBroker(3) as broker:
        broker.create_topic("t", partitions=3)
        assert [broker.leader(("t", p)) for p in range(3)] == [1, 2, 3]
        broker.move_leader(TP, 3)
        assert broker.leader(TP) == 3
        broker.stop_node(3)
        assert [broker.leader(("t", p)) for p in range(3)] == [1, 2, 1]
        broker.start_node(3)


def test_a_node_cannot_be_stopped_before_the_broker_runs() -> None:
    with pytest.raises(IllegalStateError, match="not running"):
        EmbeddedBroker().stop_node(1)


# Requests…


async def test_requests_are_remembered_decoded(broker: EmbeddedBroker, client: WireClient) -> None:
    await client.ask(MetadataRequest(topics=[]), 9)
    (received,) = broker.requests
    assert (received.node_id, received.api_key, received.api_version) == (1, ApiKey.METADATA, 9)
    assert (received.client_id, received.request) == ("wire", MetadataRequest(topics=[]))
    assert broker.requests_of(MetadataRequest) == [MetadataRequest(topics=[])]
    assert broker.requests_of(ApiVersionsRequest) == []
    broker.forget_requests()
    assert broker.requests == []


async def test_wait_until_waits_for_requests_answers_and_data(
    broker: EmbeddedBroker, client: WireClient
) -> None:
    broker.create_topic("t")
    await broker.wait_until(lambda: True)
    async with asyncio.TaskGroup() as group:
        group.create_task(broker.wait_until(lambda: len(broker.requests) == 1))
        group.create_task(broker.wait_until(lambda: broker.log(TP).high_watermark == 1))
        await client.ask(ApiVersionsRequest())
        broker.append(TP, batch(b"a"))
    assert broker._waiters == []


async def test_wait_until_gives_up_with_what_was_asked(
    broker: EmbeddedBroker, client: WireClient
) -> None:
    await client.ask(ApiVersionsRequest())
    with pytest.raises(TimeoutError, match=r"0.01 s in vain; .*ApiVersionsRequest"):
        await broker.wait_until(lambda: False, timeout_s=0.01)


async def test_the_brokers_clock_gives_log_append_time() -> None:
    clock = FakeClock()
    async with EmbeddedBroker(clock=clock) as broker:
        broker.create_topic("t")
        assert broker.log(TP).log_end_offset == 0


# Groups…


async def test_a_group_can_be_looked_at(broker: EmbeddedBroker) -> None:
    assert broker.group("g").state == "Dead"
    async with peers_of(broker.bootstrap_servers, "g") as peers:
        peer = await peers.peer("one")
        await peer.join_alone()
        broker.create_topic("t")
        assert await peer.commit("t", {0: 5}, epoch=0, metadata="note") == [0]
        view = broker.group("g")
        assert (view.state, view.generation_id, view.protocol) == ("Stable", 1, "range")
        assert (view.leader, view.coordinator) == (peer.member_id, 1)
        member = view.members[peer.member_id]
        assert (member.group_instance_id, member.client_id) == ("one", "wire")
        assert member.assignment == b"mine"
        kept = view.offsets[TP]
        assert (kept.offset, kept.leader_epoch, kept.metadata) == (5, 0, "note")
        broker.delete_topic("t")
        assert broker.group("g").offsets == {}


async def test_a_share_group_can_be_looked_at(broker: EmbeddedBroker) -> None:
    broker.create_topic("t")
    broker.append(TP, batch(b"0", b"1", b"2"))
    async with share_peers_of(broker.bootstrap_servers, "g", "t") as peers:
        reader = await peers.reader()
        await reader.fetch()
        await reader.acknowledge({0: [(0, 0, [ACCEPT]), (2, 2, [RELEASE])]})
        view = broker.group("g")
        assert (view.state, view.generation_id, view.protocol) == ("Stable", 3, "simple")
        assert (view.protocol_type, view.coordinator, view.offsets) == ("share", 1, {})
        assert view.members[reader.member_id].partitions() == [TP]
        share = view.shares[TP]
        assert (share.start_offset, share.end_offset) == (1, 2)
        assert (share.in_state("acquired"), share.in_state("available")) == ([1], [2])
        assert share.records[1].member_id == reader.member_id
        assert (share.records[2].member_id, share.records[2].delivery_count) == (None, 1)


async def test_locks_sessions_and_members_of_a_share_group_end_at_a_word(
    broker: EmbeddedBroker,
) -> None:
    with pytest.raises(GroupIdNotFound, match="not found"):
        broker.expire_share_locks("g")
    broker.create_topic("t")
    broker.append(TP, batch(b"0", b"1"))
    async with share_peers_of(broker.bootstrap_servers, "g", "t") as peers:
        reader = await peers.reader()
        await reader.fetch()
        broker.expire_share_locks("g")
        late = await reader.acknowledge({0: [(0, 0, [ACCEPT])]})
        assert late.errors == {0: 121}
        assert (await reader.fetch(())).acquired == {0: [(0, 1, 2)]}
        broker.end_share_sessions("g")
        assert broker.group("g").shares[TP].in_state("available") == [0, 1]
        assert (await reader.fetch(())).error == 122
        broker.expel_share_member("g", reader.member_id)
        assert (await reader.beat()).error == 25
        with pytest.raises(UnknownMemberIdError):
            broker.expel_share_member("g", reader.member_id)


async def test_a_connection_that_ends_releases_what_was_acquired(broker: EmbeddedBroker) -> None:
    broker.create_topic("t")
    broker.append(TP, batch(b"0"))
    async with share_peers_of(broker.bootstrap_servers, "g", "t") as peers:
        reader = await peers.reader()
        await reader.fetch()
        reader.peer.writer.close()
        await broker.wait_until(lambda: broker.group("g").shares[TP].in_state("available") == [0])


async def test_a_moved_coordinator_is_found_again_with_its_group() -> None:
    async with EmbeddedBroker(2) as broker:
        broker.move_coordinator("g", 1)
        async with peers_of(addresses(broker)[0], "g") as peers:
            first, second = await peers.pair()
            first.send_join()
            assert await peers.is_rebalancing(second)
            broker.move_coordinator("g", 2)
            assert (await first.joined()).error_code == 16
            assert await second.heartbeat() == 16
            found = await second.ask(FindCoordinatorRequest(coordinator_keys=["g"]), 4)
            assert found.coordinators[0].node_id == 2
        async with peers_of(addresses(broker)[1], "g") as peers:
            again = await peers.peer()
            again.member_id, again.generation_id = second.member_id, 2
            assert await again.heartbeat() == 0
            assert await again.sync() == (0, b"second")
        broker.move_coordinator("g", None)
        assert broker.group("g").coordinator is None


async def test_a_stopped_node_hands_its_groups_on() -> None:
    async with nothing_left_behind(), EmbeddedBroker(2) as broker:
        broker.move_coordinator("g", 1)
        async with peers_of(addresses(broker)[0], "g") as peers:
            first, second = await peers.pair()
            first.send_join()
            assert await peers.is_rebalancing(second)
            broker.stop_node(1)
            assert await first.is_closed_by_peer()
        view = broker.group("g")
        assert (view.coordinator, view.state, view.generation_id) == (2, "Stable", 2)
        broker.start_node(1)
        assert broker.group("g").coordinator == 2


async def test_sessions_follow_the_brokers_clock_and_wait_until_sees_them_end() -> None:
    clock = FakeClock()
    async with EmbeddedBroker(clock=clock) as broker:
        async with peers_of(broker.bootstrap_servers, "g") as peers:
            await (await peers.peer()).join_alone(session_timeout_ms=6000)
        expired = asyncio.ensure_future(broker.wait_until(lambda: not broker.group("g").members))
        await clock.advance(5.9)
        assert not expired.done()
        await clock.advance(0.1)
        await expired


async def test_the_first_rebalance_waits_by_the_brokers_clock() -> None:
    clock = FakeClock()
    async with (
        EmbeddedBroker(clock=clock, group_initial_rebalance_delay_ms=3000) as broker,
        peers_of(broker.bootstrap_servers, "g") as peers,
    ):
        first, second = [await peers.peer(name) for name in ("one", "two")]
        first.send_join()
        second.send_join()
        await broker.wait_until(lambda: len(broker.group("g").members) == 2)
        await clock.advance(6)
        assert len((await first.joined()).members) + len((await second.joined()).members) == 2


async def test_nothing_of_a_group_is_left_when_the_broker_stops() -> None:
    """Answers that wait are dropped with their connections, and timers with the broker."""
    clock = FakeClock()
    async with (
        nothing_left_behind(),
        EmbeddedBroker(clock=clock) as broker,
        peers_of(broker.bootstrap_servers, "g") as peers,
    ):
        first, second = await peers.pair()
        first.send_join()
        assert await peers.is_rebalancing(second)
        first.writer.transport.abort()
        assert await second.heartbeat() == 27
        assert len(broker.group("g").members) == 2
        second.send_join()
        assert (await second.joined()).generation_id == 3
        second.send_sync()
    assert clock.pending_timers == 0


async def test_a_group_has_the_limits_it_was_given() -> None:
    async with (
        EmbeddedBroker(
            group_max_size=1, group_min_session_timeout_ms=10, group_max_session_timeout_ms=20_000
        ) as broker,
        peers_of(broker.bootstrap_servers, "g") as peers,
    ):
        first, second = await peers.peer(), await peers.peer()
        assert (await first.join()).error_code == 26
        await first.join_alone(session_timeout_ms=20_000)
        assert (await second.join(session_timeout_ms=10)).error_code == 81


def test_repr_names_the_addresses() -> None:
    assert repr(EmbeddedBroker(port=9092)) == "<EmbeddedBroker 127.0.0.1:9092>"


# In a thread…


# Transactions…


async def test_a_transaction_is_seen_as_it_stands() -> None:
    async with EmbeddedBroker(num_partitions=2) as broker:
        assert broker.transaction("nobody's").state is TxnState.DEAD
        broker.create_topic("t", 2)
        kafka = TransactionalKafka(broker.bootstrap_servers, 2)
        async with await TxnPeer.on(kafka, "t") as peer:
            name = peer.transactional_id
            assert broker.transaction(name).coordinator == 1
            await peer.init(timeout_ms=1234)
            await peer.produce((0, 0), 0, version=12)
            await peer.commit_offset((0, 0), 5, version=5)
            view = broker.transaction(name)
            assert (view.state, view.timeout_ms) == (TxnState.ONGOING, 1234)
            assert (view.partitions, view.groups) == (frozenset({TP}), frozenset({peer.group}))
            assert broker.group(peer.group).pending_offsets[TP].offset == 5
            broker.hold_transaction_markers()
            await peer.end((0, 0), version=5)
            assert broker.transaction(name).state is TxnState.PREPARE_COMMIT
            assert broker.log(TP).last_stable_offset == 0
            assert await peer.init() == (ConcurrentTransactions.errno, (-1, -1))
            broker.release_transaction_markers()
            view = broker.transaction(name)
            assert (view.state, view.producer_epoch) == (TxnState.COMPLETE_COMMIT, 1)
            assert view.partitions == frozenset()
            assert broker.log(TP).last_stable_offset == 2


async def test_a_transaction_ends_by_the_brokers_clock() -> None:
    clock = FakeClock()
    async with EmbeddedBroker(clock=clock) as broker:
        broker.create_topic("t", 2)
        kafka = TransactionalKafka(broker.bootstrap_servers, 2)
        async with await TxnPeer.on(kafka, "t") as peer:
            await peer.init(timeout_ms=60_000)
            await peer.produce((0, 0), 0, version=12)

            def is_aborted() -> bool:
                state = broker.transaction(peer.transactional_id).state
                return state is TxnState.COMPLETE_ABORT

            waiting = asyncio.ensure_future(broker.wait_until(is_aborted))
            await clock.advance(59.9)
            assert not is_aborted()
            await clock.advance(0.2)
            await waiting
            assert broker.log(TP).transactions.aborted_between(0, 9)
            assert await peer.produce((0, 0), 1, version=12) == (47, -1)
            await peer.init()
            await peer.produce((0, 2), 0, version=12)
    assert clock.pending_timers == 0


async def test_the_coordinator_of_a_transaction_moves() -> None:
    async with EmbeddedBroker(2) as broker:
        broker.create_topic("t", 2)
        kafka = TransactionalKafka(broker.bootstrap_servers, 2)
        for name in ("a", "b"):
            broker.move_transaction_coordinator(name, 1)
            async with await WireClient.connect(kafka.bootstrap_servers) as client:
                request = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=1000)
                assert (await client.ask(request)).error_code == 0
                broker.move_transaction_coordinator(name, 2)
                assert (await client.ask(request)).error_code == 16
                broker.move_transaction_coordinator(name, None)
                assert (await client.ask(request)).error_code == 15
                broker.move_transaction_coordinator(name, 1)
                assert (await client.ask(request)).producer_epoch == 1
            broker.stop_node(1)
            assert broker.transaction(name).coordinator == 2
            broker.start_node(1)
            assert broker.transaction(name).coordinator == 2


def test_options_of_transactions() -> None:
    with pytest.raises(ValueError, match="transaction_version must be 0 to 2, got 3") as info:
        EmbeddedBroker(transaction_version=3, transaction_max_timeout_ms=0)
    assert "transaction_max_timeout_ms must be 1 or more, got 0" in str(info.value)


def test_everything_works_from_another_thread() -> None:
    with EmbeddedBroker.threaded(nodes=2) as broker:
        broker.create_topic("t")
        broker.append(TP, batch(b"a"))
        assert [record.value for record in broker.log(TP).records()] == [b"a"]
        broker.move_leader(TP, 2)
        broker.stop_node(2)
        broker.start_node(2)
        assert broker.leader(TP) == 1
        broker.delete_records(TP, 1)
        broker.faults.stall(ApiVersionsRequest)
        broker.faults.clear()
        broker.drop_connections()
        broker.delete_topic("t")
        assert broker.requests == []


async def test_async_clients_use_a_threaded_broker_as_well() -> None:
    with EmbeddedBroker.threaded() as broker:
        broker.faults.stall(ApiVersionsRequest)
        async with await WireClient.connect(broker.bootstrap_servers) as client:
            client.send(ApiVersionsRequest(), 0)
            await broker.wait_until(lambda: len(broker.requests_of(ApiVersionsRequest)) == 1)
            broker.faults.release()
            await client.receive_frame()
            with pytest.raises(TimeoutError, match="in vain"):
                await broker.wait_until(lambda: False, timeout_s=0.01)


def test_an_error_at_start_is_raised_by_the_with_statement() -> None:
    with (
        EmbeddedBroker.threaded() as first,
        pytest.raises(OSError, match="cannot listen"),
        EmbeddedBroker.threaded(port=int(first.bootstrap_servers.rpartition(":")[2])),
    ):
        pass


def test_a_fault_of_the_broker_is_raised_by_the_with_statement() -> None:
    def use() -> None:
        with EmbeddedBroker.threaded() as broker:
            broker._remember_crash(ZeroDivisionError("a fault of the broker"))

    with pytest.raises(ZeroDivisionError):
        use()


def test_a_wrong_option_is_refused_in_a_thread_as_well() -> None:
    with pytest.raises(ValueError, match="nodes must be"), EmbeddedBroker.threaded(nodes=0):
        pass


def test_logs_and_requests_can_be_looked_at_after_the_with_block() -> None:
    with EmbeddedBroker.threaded() as broker:
        broker.create_topic("t")
        broker.append(TP, batch(b"a"))
    assert broker.log(TP).high_watermark == 1
    assert broker.requests == []


@pytest.mark.skipif(
    sys.platform != "linux", reason="two sockets may share an address on Linux only"
)
async def test_the_port_of_a_stopped_node_is_kept_for_it_until_the_broker_ends() -> None:
    async with EmbeddedBroker() as broker:
        address = ("127.0.0.1", int(broker.bootstrap_servers.rpartition(":")[2]))
        broker.stop_node(1)
        with socket.socket() as other, pytest.raises(ConnectionRefusedError):
            other.connect(address)
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(address)
        broker.start_node(1)
        async with asyncio.timeout(30):
            _, writer = await asyncio.open_connection(*address)
            writer.close()
            await writer.wait_closed()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(address)
        other.listen()
