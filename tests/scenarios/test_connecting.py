"""Connections that the application makes by itself (`connect=`): proxies and Unix sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.admin import AIOKafkaAdminClient
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    KafkaConfigurationError,
    KafkaConnectionError,
)
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.scenarios.consuming import embedded
from tests.support.leftovers import nothing_left_behind

Connect = Callable[[str, int], Awaitable[socket.socket]]


async def connected(sock: socket.socket, address: Any) -> socket.socket:
    sock.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(sock, address)
    except BaseException:
        sock.close()
        raise
    return sock


class Forwarded:
    """Leads "kafka.internal:9092", and every other address that is asked for, to the broker."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        host, port = broker.bootstrap_servers.split(":")
        self._real = (host, int(port))
        self.asked: set[tuple[str, int]] = set()

    async def __call__(self, host: str, port: int) -> socket.socket:
        self.asked.add((host, port))
        return await connected(socket.socket(), self._real)


async def test_every_client_reaches_the_brokers_by_connect_alone() -> None:
    """Names are not resolved here: kafka.internal has no address on this machine."""
    async with embedded({"t": 1}) as broker:
        forwarded = Forwarded(broker)
        options: Any = {"bootstrap_servers": "kafka.internal:9092", "connect": forwarded}
        async with AIOKafkaProducer(**options) as producer:
            assert (await producer.send_and_wait("t", b"v")).offset == 0
        async with AIOKafkaConsumer("t", auto_offset_reset="earliest", **options) as consumer:
            assert (await asyncio.wait_for(consumer.getone(), 30)).value == b"v"
        async with AIOKafkaAdminClient(**options) as admin:
            assert "t" in await admin.list_topics()
        host, _, port = broker.bootstrap_servers.partition(":")
        assert forwarded.asked == {("kafka.internal", 9092), (host, int(port))}


@asynccontextmanager
async def unix_relay(broker: EmbeddedBroker, path: Path) -> AsyncIterator[Connect]:
    """A Unix socket that leads to the broker, as that of a sidecar."""
    host, port = broker.bootstrap_servers.split(":")
    relays: set[asyncio.Task[None]] = set()

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        relays.add(task)
        upstream = await asyncio.open_connection(host, int(port))
        await asyncio.gather(pump(reader, upstream[1]), pump(upstream[0], writer))

    async def connect(host: str, port: int) -> socket.socket:
        return await connected(socket.socket(socket.AF_UNIX), str(path))

    server = await asyncio.start_unix_server(relay, path)
    try:
        yield connect
    finally:
        server.close()
        if relays:
            await asyncio.wait(relays)
        await server.wait_closed()


@pytest.mark.parametrize("security", ["PLAINTEXT", "SSL"])
async def test_a_unix_socket_carries_records_of_any_size(tmp_path: Path, security: str) -> None:
    async with EmbeddedBroker(security=security) as broker:
        options: Any = broker.client_options()
        async with nothing_left_behind(), unix_relay(broker, tmp_path / "kafka") as connect:
            options |= {"connect": connect, "bootstrap_servers": broker.bootstrap_servers}
            async with AIOKafkaProducer(**options) as producer:
                for size in (10, 500_000):
                    await producer.send_and_wait("t", b"x" * size)
            async with AIOKafkaConsumer("t", auto_offset_reset="earliest", **options) as consumer:
                for size in (10, 500_000):
                    record = await asyncio.wait_for(consumer.getone(), 30)
                    assert record.value == b"x" * size


async def refusing(host: str, port: int) -> socket.socket:
    raise RuntimeError("the proxy wants a password")


async def test_a_connect_that_raises_is_told_with_the_address_it_was_for() -> None:
    async with nothing_left_behind():
        producer = AIOKafkaProducer(bootstrap_servers="kafka.internal:9092", connect=refusing)
        with pytest.raises(KafkaConnectionError) as caught:
            await producer.start()
        assert "kafka.internal:9092" in str(caught.value)
        assert "RuntimeError: the proxy wants a password" in str(caught.value)


async def test_a_connect_that_returns_something_else_is_told() -> None:
    async def confused(host: str, port: int) -> Any:
        return "kafka.internal"

    producer = AIOKafkaProducer(bootstrap_servers="kafka.internal:9092", connect=confused)
    with pytest.raises(KafkaConnectionError, match=r"of type str; return a connected socket"):
        await producer.start()


def test_a_plain_function_as_connect_is_refused_by_the_constructor() -> None:
    def plain(host: str, port: int) -> socket.socket:
        raise NotImplementedError

    connect: Any = plain
    with pytest.raises(KafkaConfigurationError, match=r"is a plain function, .* an `async def"):
        AIOKafkaProducer(bootstrap_servers="kafka.internal:9092", connect=connect)


async def test_a_connect_that_gives_no_awaitable_is_told_and_its_socket_closed() -> None:
    made: list[socket.socket] = []

    def plain(host: str, port: int) -> socket.socket:
        made.append(socket.socket())
        return made[-1]

    connect: Any = lambda *place: plain(*place)  # noqa: E731, PLW0108 - it might be awaitable
    producer = AIOKafkaProducer(bootstrap_servers="kafka.internal:9092", connect=connect)
    with pytest.raises(KafkaConnectionError, match="which cannot be awaited; make it an `async"):
        await producer.start()
    assert made
    assert all(each.fileno() == -1 for each in made)


async def test_a_connect_that_takes_too_long_is_cancelled() -> None:
    cancelled: list[str] = []

    async def slow(host: str, port: int) -> socket.socket:
        never: asyncio.Future[socket.socket] = asyncio.get_running_loop().create_future()
        try:
            return await never
        except asyncio.CancelledError:
            cancelled.append(host)
            raise

    producer = AIOKafkaProducer(
        bootstrap_servers="kafka.internal:9092",
        connect=slow,
        socket_connection_setup_timeout_ms=20,
        request_timeout_ms=10_000,
    )
    with pytest.raises(KafkaConnectionError, match=r"kafka.internal:9092 did not answer within"):
        await producer.start()
    assert cancelled == ["kafka.internal"]


def test_connect_has_to_be_a_function() -> None:
    with pytest.raises(KafkaConfigurationError, match=r"connect='proxy:3128' is of type str"):
        AIOKafkaProducer(connect="proxy:3128")  # type: ignore[arg-type]


def test_a_loop_without_sockets_refuses_connect() -> None:
    async def main(kafka: VirtualKafka) -> None:
        producer = AIOKafkaProducer(connect=refusing, **kafka.client_options)
        with pytest.raises(KafkaConnectionError, match="leave out `connect`"):
            await producer.start()

    run_virtual_kafka(main)


def test_each_client_has_the_connections_that_the_guide_names() -> None:
    async def main(kafka: VirtualKafka) -> list[int]:
        options = kafka.client_options
        kafka.broker.create_topic("t")
        found = []
        async with AIOKafkaProducer(**options) as plain:
            await plain.send_and_wait("t", b"v")
            found.append(plain.statistics().network.open_connections)
        async with AIOKafkaProducer(transactional_id="x", **options) as transactional:
            async with transactional.transaction():
                await transactional.send_and_wait("t", b"v")
            found.append(transactional.statistics().network.open_connections)
        for group_id in (None, "g"):
            async with AIOKafkaConsumer(
                "t", group_id=group_id, auto_offset_reset="earliest", **options
            ) as consumer:
                await consumer.getone()
                found.append(consumer.statistics().network.open_connections)
        async with AIOKafkaAdminClient(**options) as admin:
            await admin.describe_topics(["t"])
            found.append(admin.client.network.usage()[0])
        return found

    assert run_virtual_kafka(main) == [1, 2, 2, 3, 1]
