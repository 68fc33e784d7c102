"""A node over TCP: order, waiting, closing, restarting, broken clients."""

import asyncio
import errno
import gc
import logging
import socket
from contextlib import suppress

import pytest

from aiokafka_lite.errors import BrokerNotAvailableError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from aiokafka_lite.protocol.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from aiokafka_lite.protocol.request_frame import encode_request
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.server import MAX_QUEUED_FRAMES
from tests.testing.broker.bench import WireClient, batch

TP = TopicPartition("t", 0)


def fetch_waiting(max_wait_ms: int = 60_000) -> FetchRequest:
    """A fetch that waits for data in partition 0 of topic t."""
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    topic = FetchTopic(topic="t", partitions=[partition])
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, topics=[topic])


async def test_answers_come_in_the_order_of_the_requests(client: WireClient) -> None:
    """Answers come in the order of the requests (2f-1)."""
    sent = [client.send(MetadataRequest(topics=[]), version) for version in range(1, 14)]
    received = [(await client.receive(MetadataResponse, version))[0] for version in range(1, 14)]
    assert received == sent


async def test_a_waiting_fetch_holds_up_its_own_connection_only(
    broker: EmbeddedBroker, client: WireClient
) -> None:
    """B 15 (lanes): requests behind a long poll wait; other connections do not."""
    broker.create_topic("t")
    waiting = client.send(fetch_waiting(), 12)
    behind = client.send(MetadataRequest(topics=[]), 12)
    async with await WireClient.connect(broker.bootstrap_servers) as other:
        await other.ask(ApiVersionsRequest())
        assert [type(r.request) for r in broker.requests] == [FetchRequest, ApiVersionsRequest]
    broker.append(TP, batch())
    assert (await client.receive(FetchResponse, 12))[0] == waiting
    assert (await client.receive(MetadataResponse, 12))[0] == behind


async def test_many_requests_behind_a_waiting_one_are_not_lost(
    broker: EmbeddedBroker, client: WireClient
) -> None:
    broker.create_topic("t")
    client.send(fetch_waiting(), 12)
    count = 3 * MAX_QUEUED_FRAMES
    for _ in range(count):
        client.send(MetadataRequest(topics=[]), 12)
        await client.writer.drain()
        await asyncio.sleep(0)
    await broker.wait_until(lambda: len(broker.requests_of(FetchRequest)) == 1)
    broker.append(TP, batch())
    await client.receive(FetchResponse, 12)
    for _ in range(count):
        await client.receive(MetadataResponse, 12)


async def test_requests_split_anywhere_are_understood(client: WireClient) -> None:
    frame = b"".join(
        encode_request(ApiVersionsRequest(), version=0, correlation_id=9, client_id="x")
    )
    for byte in frame:
        client.writer.write(bytes([byte]))
        await client.writer.drain()
        await asyncio.sleep(0)
    assert (await client.receive_frame())[:4] == b"\0\0\0\x09"


async def test_a_client_that_leaves_while_it_waits_leaves_nothing_behind(
    broker: EmbeddedBroker,
) -> None:
    broker.create_topic("t")
    async with await WireClient.connect(broker.bootstrap_servers) as client:
        client.send(fetch_waiting(), 12)
        await broker.wait_until(lambda: len(broker.requests) == 1)
    partition = broker.cluster.partition(TP)
    async with asyncio.timeout(30):
        while partition._watchers:
            await asyncio.sleep(0)


async def test_a_large_answer_waits_for_a_slow_reader(
    broker: EmbeddedBroker, client: WireClient
) -> None:
    """The connection stops serving while the client does not read, and goes on afterwards."""
    broker.create_topic("t")
    broker.append(TP, batch(b"x" * 1_000_000))
    for _ in range(30):
        client.send(fetch_waiting(), 12)
    await broker.wait_until(lambda: len(broker.requests) >= 1)
    for _ in range(30):
        _, answer = await client.receive(FetchResponse, 12)
        assert len(answer.responses[0].partitions[0].records or b"") > 1_000_000


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00", "TLS"),
        (b"GET / HTTP/1.1\r\n\r\n", "HTTP"),
        (b"\xff\xff\xff\xff", "negative"),
        (b"\x7f\xff\xff\xff", "above the limit"),
        (b"\0\0\0\x01x", ""),
        (b"\0\0\0\x0a\x03\xe7\0\0\0\0\0\1\xff\xff", "API 999"),
    ],
    ids=["tls", "http", "negative", "huge", "no header", "unknown api"],
)
async def test_a_broken_client_is_shut_out_and_the_log_says_why(
    broker: EmbeddedBroker,
    client: WireClient,
    caplog: pytest.LogCaptureFixture,
    data: bytes,
    says: str,
) -> None:
    with caplog.at_level(logging.WARNING):
        client.writer.write(data)
        assert await client.is_closed_by_peer()
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert record.getMessage().startswith("node 1 closes a connection: ")
    assert says in record.getMessage()
    async with await WireClient.connect(broker.bootstrap_servers) as other:
        assert (await other.ask(ApiVersionsRequest(), 2)).error_code == 0


async def test_a_handler_that_fails_closes_the_connection_and_is_raised_at_the_end(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No silent death: a fault of the broker itself ends the test that met it."""
    broker = EmbeddedBroker()
    await broker.start()

    def broken() -> int:
        raise ZeroDivisionError("a fault of the broker")

    monkeypatch.setattr(broker.cluster, "alive_nodes", broken)
    async with await WireClient.connect(broker.bootstrap_servers) as client:
        client.send(MetadataRequest(topics=[]), 12)
        assert await client.is_closed_by_peer()
    assert "node 1 failed to serve a request" in caplog.text
    with pytest.raises(ZeroDivisionError):
        await broker.stop()
    await broker.stop()


# Stopping and starting…


async def test_a_stopped_node_drops_its_connections_and_refuses_new_ones() -> None:
    async with EmbeddedBroker(2) as broker:
        first, _second = broker.bootstrap_servers.split(",")
        async with await WireClient.connect(first) as client:
            await client.ask(ApiVersionsRequest())
            broker.stop_node(1)
            assert await client.is_closed_by_peer()
        with pytest.raises(ConnectionRefusedError):
            await WireClient.connect(first)


async def test_a_node_starts_again_on_the_same_port_without_its_sessions() -> None:
    async with EmbeddedBroker() as broker:
        address = broker.bootstrap_servers
        for _ in range(3):
            broker.stop_node(1)
            broker.start_node(1)
            async with await WireClient.connect(address) as client:
                answer = await client.ask(FetchRequest(session_id=7, session_epoch=1))
                assert answer.error_code == 70
        broker.start_node(1)  # harmless
        assert broker.bootstrap_servers == address


async def test_a_node_stopped_before_it_accepts_refuses() -> None:
    async with EmbeddedBroker() as broker:
        broker.stop_node(1)
        broker.start_node(1)
        broker.stop_node(1)
        with pytest.raises(ConnectionRefusedError):
            await WireClient.connect(broker.bootstrap_servers)


@pytest.mark.parametrize("is_node_only", [True, False], ids=["node", "broker"])
@pytest.mark.parametrize("turns", range(5))
async def test_who_connects_in_the_moment_of_a_stop_is_shut_out(
    turns: int, is_node_only: bool
) -> None:
    """Nobody waits for it to leave, and its socket is not lost: that would be a warning here."""
    with socket.socket() as late:
        late.setblocking(False)
        async with asyncio.timeout(30), EmbeddedBroker() as broker:
            host, port = broker.bootstrap_servers.split(":")
            late.connect_ex((host, int(port)))
            for _ in range(turns):
                await asyncio.sleep(0)
            if is_node_only:
                broker.stop_node(1)
        late.settimeout(30)
        with suppress(ConnectionError):
            assert late.recv(1) == b""
    gc.collect()


async def test_a_port_in_use_is_named_with_the_remedy() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(
            OSError, match=f"node 1 cannot listen on 127.0.0.1:{port}.*port=0"
        ) as info:
            await EmbeddedBroker(port=port).start()
    assert info.value.errno == errno.EADDRINUSE


async def test_an_address_of_another_machine_is_named_with_the_remedy() -> None:
    with pytest.raises(OSError, match=r"cannot listen on 192.0.2.1:0.*127.0.0.1"):
        await EmbeddedBroker(host="192.0.2.1").start()


async def test_dropped_connections_may_come_back(
    broker: EmbeddedBroker, client: WireClient
) -> None:
    await client.ask(ApiVersionsRequest())
    broker.drop_connections(node_id=1)
    assert await client.is_closed_by_peer()
    async with await WireClient.connect(broker.bootstrap_servers) as again:
        await again.ask(ApiVersionsRequest())


async def test_a_node_that_does_not_exist_is_named(broker: EmbeddedBroker) -> None:
    with pytest.raises(BrokerNotAvailableError, match=r"node 9 does not exist; .* \[1\]"):
        broker.stop_node(9)


# Faults on the wire…


async def test_a_cut_answer_ends_after_so_many_bytes(
    broker: EmbeddedBroker, client: WireClient
) -> None:
    broker.faults.cut(MetadataRequest, after_bytes=7)
    client.send(MetadataRequest(topics=[MetadataRequestTopic(name="t")]), 12)
    async with asyncio.timeout(30):
        assert len(await client.reader.read()) == 7
    assert "t" in broker.cluster.topics


async def test_a_dropped_answer_silences_the_connection_and_the_work_is_done(
    broker: EmbeddedBroker, client: WireClient
) -> None:
    broker.faults.drop(MetadataRequest)
    client.send(MetadataRequest(topics=[MetadataRequestTopic(name="a")]), 12)
    client.send(MetadataRequest(topics=[MetadataRequestTopic(name="b")]), 12)
    await broker.wait_until(lambda: len(broker.requests) == 2)
    await broker.wait_until(lambda: "b" in broker.cluster.topics)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await client.reader.read(1)
