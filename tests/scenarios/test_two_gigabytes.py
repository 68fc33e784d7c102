"""Values at the limit of what a field of a record can hold, and beyond it."""

import asyncio
import mmap
import resource
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaError, MessageSizeTooLargeError
from aiokafka_lite.producer.producer import AIOKafkaProducer
from tests.scenarios.consuming import embedded

Way = Callable[[AIOKafkaProducer[Any, Any], memoryview], Any]
WAYS: dict[str, Way] = {
    "send": lambda producer, data: producer.send("t", data),
    "send_and_wait": lambda producer, data: producer.send_and_wait("t", data),
    "send_nowait": lambda producer, data: producer.send_nowait("t", data),
    "send_many": lambda producer, data: producer.send_many("t", [b"first", data]),
    "key": lambda producer, data: producer.send("t", None, key=data),
    "header": lambda producer, data: producer.send("t", b"v", headers=[("h", data)]),  # type: ignore[list-item]
}
LARGEST = 2**31 - 1
"""The largest max_request_size and buffer_memory, and the largest field that a length can tell."""


def holes(size: int) -> memoryview:
    """That many zeros, in a file of holes: they take no memory until somebody copies them."""
    with tempfile.TemporaryFile() as file:
        file.truncate(size)
        return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))


def most_resident_kb() -> int:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform != "darwin" else most // 1024


@pytest.mark.parametrize("serializer", [None, lambda data: data])
@pytest.mark.parametrize("size", [2**31, LARGEST])
@pytest.mark.parametrize("way", WAYS)
async def test_two_gigabytes_are_refused_before_they_are_copied(
    way: str, size: int, serializer: Callable[[Any], Any] | None
) -> None:
    """The error names the size, the limit and the remedy; the producer goes on (C4)."""
    async with (
        embedded({"t": 1}) as broker,
        AIOKafkaProducer[Any, Any](
            bootstrap_servers=broker.bootstrap_servers,
            value_serializer=serializer,
            key_serializer=serializer,
        ) as producer,
    ):
        await producer.partitions_for("t")
        data, before_kb = holes(size), most_resident_kb()
        with pytest.raises(MessageSizeTooLargeError, match=f"{size:,}.*max_request_size.*raise"):
            await WAYS[way](producer, data)
        assert most_resident_kb() - before_kb < 100_000
        assert (await producer.send_and_wait("t", b"v")).offset >= 0


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    ("size", "said"),
    [
        (2**31, "exceeds max_request_size"),
        (LARGEST, "exceeds max_request_size"),
        (LARGEST - 99, "longer than its length field can tell"),  # with what is around it
        (LARGEST - 199, "the connection to node 1 .* has ended"),  # socket.request.max.bytes
    ],
)
async def test_two_gigabytes_that_the_options_allow_end_with_an_error(size: int, said: str) -> None:
    """No broker takes them. The error tells which limit that is, and the producer goes on (C4)."""
    async with (
        embedded({"t": 1}) as broker,
        AIOKafkaProducer[Any, Any](
            bootstrap_servers=broker.bootstrap_servers,
            max_request_size=LARGEST,
            buffer_memory=LARGEST,
            request_timeout_ms=5000,
            delivery_timeout_ms=10_000,
        ) as producer,
    ):
        await producer.partitions_for("t")
        async with asyncio.timeout(300):
            with pytest.raises(KafkaError, match=said):
                await producer.send_and_wait("t", bytes(size))
            assert (await producer.send_and_wait("t", b"v")).offset >= 0
