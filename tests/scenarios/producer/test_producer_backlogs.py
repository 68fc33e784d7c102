"""What grows behind a backlog obeys age, link, topic, memory and a mode without answers, too."""

import asyncio
import os
import random
import subprocess
import sys
import textwrap
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import DeliveryTimeoutError
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.producer.world import jumping_clock, kafka, producing, producing_on, written
from tests.support.patience import eventually

RECORD_BYTES = 1000
ON_THE_WIRE = 1080
"""A record of RECORD_BYTES with its share of batch and request."""


def count(broker: EmbeddedBroker, topic: str = "orders", partitions: int = 1) -> int:
    return sum(len(written(broker, topic, number)) for number in range(partitions))


def batch_counts(broker: EmbeddedBroker, partition: int = 0) -> list[int]:
    """How many records each batch of a log has."""
    batches = broker.log(("orders", partition)).batches()
    return [batch.last_offset + 1 - batch.base_offset for batch in batches]


# The mode without answers…


@pytest.mark.parametrize("options", [{}, {"compression_type": "gzip"}, {"linger_ms": 100}], ids=str)
async def test_without_answers_no_batch_is_larger_than_max_batch_size(
    options: dict[str, Any],
) -> None:
    """A broker that refuses a batch of acks=0 tells nobody, so batches do not grow (2d-23)."""
    async with kafka() as broker:
        broker.create_topic("orders", configs={"max.message.bytes": "60000"})
        async with producing(broker, acks=0, **options) as producer:
            for _ in range(5000):  # shrink, so that a compressed batch may take more
                await producer.send("orders", b"v" * 1000)
            await producer.flush()
            value = random.Random(1).randbytes(1000)
            for _ in range(500):
                await producer.send("orders", value)
            for _ in range(200):
                await producer.send("orders", os.urandom(1000))
            await producer.flush()
            await eventually(lambda: count(broker) == 5700)


async def test_without_answers_a_larger_size_for_backlogs_has_no_effect() -> None:
    """A broker that finds a batch too large tells nobody."""
    for backlog in (0, 65_536):
        producer = AIOKafkaProducer(bootstrap_servers="x:1", acks=0, max_backlog_batch_size=backlog)
        assert producer._config.batch_sizes == (16_384,)


# The topic…


@pytest.mark.parametrize("most", [3_000, 10_000, 100_000])
@pytest.mark.parametrize("codec", [None, "gzip"])
async def test_a_topic_refuses_a_few_batches_and_no_more(most: int, codec: Any) -> None:
    """Each refusal halves the topic's batches, also usual and compressed ones (2d-14)."""
    async with kafka() as broker:
        broker.create_topic("orders", configs={"max.message.bytes": str(most)})
        async with producing(broker, compression_type=codec) as producer:
            await producer.send_and_wait("orders", b"v" * 1000)
            rng = random.Random(2)
            early = in_vain = 0
            for turn in range(20):
                for number in range(100):
                    value = rng.randbytes(1000) if number % 10 else b"v" * 1000
                    await producer.send("orders", value, partition=0)
                await producer.flush()
                in_vain = len(broker.requests_of(ProduceRequest)) - len(batch_counts(broker))
                if turn == 3:
                    early = in_vain
            assert early < 40
            assert in_vain <= early, "once the topic's limit is known, no batch is refused"
        assert count(broker) == 2001


# The age…


@pytest.mark.parametrize("codec", [None, "gzip"])
@pytest.mark.parametrize("size", [10, 200, 1000])
@pytest.mark.parametrize("acks", ["all", 1])
def test_no_record_expires_much_earlier_than_its_own_time(codec: Any, size: int, acks: Any) -> None:
    """A batch takes no records once it is older than a twentieth of its time (2d-13)."""

    async def main(kafka: VirtualKafka) -> None:
        options: dict[str, Any] = {"delivery_timeout_ms": 3000, "request_timeout_ms": 1000}
        failed_after: list[float] = []
        async with AIOKafkaProducer(
            **kafka.client_options, compression_type=codec, acks=acks, **options
        ) as producer:
            await producer.send_and_wait("orders", b"first")
            kafka.broker.stop_node(1)
            for number in range(160):
                sent_s = kafka.clock.monotonic()

                def told(ack: Any, sent_s: float = sent_s) -> None:
                    if ack.exception() is not None:
                        failed_after.append(kafka.clock.monotonic() - sent_s)

                ack = await producer.send("orders", b"v" * size, partition=0)
                ack.add_done_callback(told)
                if number == 140:
                    kafka.broker.start_node(1)
                await asyncio.sleep(0.03)
            await producer.flush()
        assert min(failed_after) > 0.94 * 3
        assert len(failed_after) < 160 - (3 - 0.2) / 0.03
        assert count(kafka.broker) == 1 + 160 - len(failed_after)

    run_virtual_kafka(main)


def test_batches_that_are_closed_for_their_age_hold_no_more_memory_than_they_need() -> None:
    """Two minutes without a leader, and a record now and then in each of many partitions (C6)."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("orders", 100)
        async with AIOKafkaProducer(**kafka.client_options, buffer_memory=3_000_000) as producer:
            await producer.send_and_wait("orders", b"first", partition=0)
            kafka.broker.stop_node(1)
            for _ in range(100):
                for partition in range(100):
                    await producer.send("orders", b"v" * 20, partition=partition)
                await asyncio.sleep(1)
            # Of 18 batches of each partition, one is open.
            assert producer.statistics().used_buffer_bytes < 100 * 16_384 + 18 * 100 * 350
            kafka.broker.start_node(1)
            await producer.flush()
        assert count(kafka.broker, partitions=100) == 10_001

    run_virtual_kafka(main)


# The link…


@pytest.mark.parametrize(
    ("partitions", "nodes", "options"),
    [
        (1, 1, {}),
        (1, 1, {"acks": 1}),
        (1, 1, {"linger_ms": 50}),
        (8, 1, {}),
        (64, 1, {}),
        (64, 1, {"acks": 1, "max_in_flight_requests_per_connection": 1}),
        (8, 1, {"compression_type": "gzip"}),
        (6, 3, {}),
    ],
    ids=str,
)
@pytest.mark.parametrize("is_first", [True, False], ids=["unknown", "known"])
def test_a_backlog_drains_at_the_speed_of_the_link(
    partitions: int,
    nodes: int,
    options: dict[str, Any],
    is_first: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """60 KB/s are enough for any number of partitions, with a request_timeout_ms of 3 s (2d-23)."""
    speed = 60_000

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("orders", partitions)
        async with AIOKafkaProducer(
            **kafka.client_options, request_timeout_ms=3000, stop_timeout_ms=0, **options
        ) as producer:
            await producer.partitions_for("orders")
            kafka.network.bytes_per_s = speed
            if not is_first:
                await producer.send_and_wait("orders", b"first", partition=0)
            rng = random.Random(3)
            acks = [
                await producer.send("orders", rng.randbytes(RECORD_BYTES), partition=n % partitions)
                for n in range(3000)
            ]
            await asyncio.sleep(20)
            arrived = count(kafka.broker, partitions=partitions)
            most = min(nodes * speed * 20 / ON_THE_WIRE, len(acks))
            assert arrived > 0.85 * most
            assert "RequestTimedOutError" not in caplog.text
            for ack in acks:
                ack.cancel()

    run_virtual_kafka(main, nodes=nodes)


@pytest.mark.parametrize("speed", [60_000, 10_000])
@pytest.mark.parametrize("partitions", [1, 4])
@pytest.mark.parametrize("acks", ["all", 1])
def test_a_backlog_drains_when_the_link_becomes_slow(
    speed: int, partitions: int, acks: Any
) -> None:
    """What has grown on a fast link gets the time that it needs on a slow one (2d-16)."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("orders", partitions)
        async with AIOKafkaProducer(
            **kafka.client_options, acks=acks, request_timeout_ms=3000, stop_timeout_ms=0
        ) as producer:
            sent = []
            for number in range(2000):
                partition = number % partitions
                sent.append(await producer.send("orders", b"v" * 1000, partition=partition))
            await producer.flush()
            kafka.network.bytes_per_s = speed
            for number in range(2000):
                partition = number % partitions
                sent.append(await producer.send("orders", b"v" * 1000, partition=partition))
            grown = max(batch.reserved_bytes for batch in producer._engine.accumulator.incomplete)
            assert grown >= 262_144 / partitions
            arrived = []
            for _ in range(4):
                await asyncio.sleep(25)
                arrived.append(sum(ack.done() for ack in sent) - 2000)
            in_25_s = speed * 25 / ON_THE_WIRE
            assert arrived[-1] - arrived[0] > 0.6 * min(3 * in_25_s, 2000 - arrived[0])
            for ack in sent:
                ack.cancel()
        await asyncio.sleep(200)  # until the network has delivered what it took

    run_virtual_kafka(main)


@pytest.mark.parametrize("first", [0, 10, 60_000])
async def test_batches_grow_once_a_node_has_answered_fast(first: int) -> None:
    """Growth begins with the first answer: a fast node costs nothing for being new (2d-23)."""
    async with kafka() as broker, producing(broker) as producer:
        if first:
            await producer.send_and_wait("orders", b"v" * first, partition=0)
        else:
            await producer.partitions_for("orders")
            broker.faults.stall(ProduceRequest, times=1)
            sent = [await producer.send("orders", b"v" * 1000, partition=0) for _ in range(1000)]
            assert {batch.reserved_bytes for batch in producer._engine.accumulator.incomplete} == {
                16_384
            }, "it has not answered yet"
            broker.faults.release()
            await asyncio.gather(*sent)
        for _ in range(5000):
            await producer.send("orders", b"v" * 1000, partition=0)
        await producer.flush()
        assert max(batch_counts(broker)) > 200
        assert len(batch_counts(broker)) < (60 if first else 120)


# The memory…

_RESIDENT = """
    import asyncio, sys
    from aiokafka_lite import AIOKafkaProducer
    from aiokafka_lite.testing.broker import EmbeddedBroker

    MEMORY = 16 << 20

    def resident():
        with open("/proc/self/statm") as numbers:
            return int(numbers.read().split()[1]) * 4096

    async def fill(producer, size):
        try:
            while True:
                producer.send_nowait("orders", bytes(size), partition=0)
                await asyncio.sleep(0)
        except Exception as error:
            assert type(error).__name__ == "BufferExhaustedError", repr(error)

    async def main(sizes):
        async with EmbeddedBroker() as broker:
            async with AIOKafkaProducer(
                bootstrap_servers=broker.bootstrap_servers, buffer_memory=MEMORY, stop_timeout_ms=0
            ) as producer:
                await producer.send_and_wait("orders", bytes(60_000), partition=0)
                base = None
                for size in sizes:
                    broker.faults.stall("Produce", times=None)
                    await fill(producer, size)
                    full = resident()
                    if base is not None:
                        print((full - base) / MEMORY)
                        return
                    broker.faults.release()
                    await producer.flush()
                    base = resident()  # with all that is kept, and the broker's log

    asyncio.run(main([int(size) for size in sys.argv[1:]]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for its memory")
@pytest.mark.parametrize("then", [500, 20_000])
def test_buffer_memory_bounds_kept_buffers_and_values_together(then: int) -> None:
    """What a batch refers to does not come on top of the buffers that are kept (C6)."""
    program = [sys.executable, "-c", textwrap.dedent(_RESIDENT), "100", str(then)]
    run = subprocess.run(program, capture_output=True, text=True, check=True)
    assert float(run.stdout) < 0.2


_FILLED = """
    import asyncio, os, random, sys
    from aiokafka_lite import AIOKafkaProducer
    from aiokafka_lite.errors import BufferExhaustedError

    servers, codec = sys.argv[1], sys.argv[2]
    partitions, size, memory = map(int, sys.argv[3:])
    numbers = random.Random(1)

    def resident():
        with open("/proc/self/statm") as numbers:
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def value():
        if codec == "none":
            return bytes([numbers.randrange(1, 256)]) * size
        return numbers.randbytes(size // 2) + bytes(size - size // 2)

    async def main():
        async with AIOKafkaProducer(
            bootstrap_servers=servers, buffer_memory=memory, stop_timeout_ms=0,
            request_timeout_ms=600_000, delivery_timeout_ms=1_200_000,
            compression_type=None if codec == "none" else codec,
        ) as producer:
            await producer.partitions_for("orders")
            await producer.send_and_wait("orders", value(), partition=0)
            print("ready", flush=True)
            sys.stdin.readline()
            base = most = resident()
            sent = in_vain = 0
            while in_vain < 100 and sent * size < 8 * memory:
                try:
                    producer.send_nowait("orders", value(), partition=sent % partitions)
                except BufferExhaustedError:
                    in_vain += 1
                    await asyncio.sleep(0.02)
                sent += 1
                if not sent % 20:
                    await asyncio.sleep(0)
                if not sent % 50 or in_vain:
                    most = max(most, resident())
            print((most - base) / memory, flush=True)
            os._exit(0)

    asyncio.run(main())
"""


def filled(codec: str, partitions: int, size: int, memory: int, fault: str) -> float:
    """Fill the memory of a producer in a process of its own. Return how many times its memory was
    resident at most, besides what was before."""
    with EmbeddedBroker.threaded(max_logged_requests=0) as broker:
        broker.create_topic("orders", partitions)
        given = map(str, (broker.bootstrap_servers, codec, partitions, size, memory))
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(_FILLED), *given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            if fault == "stalled":
                broker.faults.stall(ProduceRequest, times=None)
            else:
                broker.faults.delay(ProduceRequest, 3.0, times=None)
            process.stdin.write("\n")
            process.stdin.flush()
            return float(process.stdout.readline())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for its memory")
@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_buffer_memory_bounds_what_many_partitions_hold(codec: str) -> None:
    """Batches that are not full, values and buffers together (C6)."""
    assert 0.5 < filled(codec, 20, 1000, 32 << 20, "stalled") < 1.2


@pytest.mark.soak
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for its memory")
@pytest.mark.parametrize("fault", ["stalled", "slow"])
@pytest.mark.parametrize("size", [100, 401, 1000, 100_000])
@pytest.mark.parametrize("codec", ["none", "lz4", "gzip"])
@pytest.mark.parametrize("partitions", [1, 20, 200])
def test_buffer_memory_bounds_any_backlog(
    partitions: int, codec: str, size: int, fault: str
) -> None:
    """With the default of 32 MB; what the allocator cannot reuse is a larger part of less (C6)."""
    assert 0.5 < filled(codec, partitions, size, 32 << 20, fault) < 1.2


# What is told…


async def test_a_record_that_expired_in_a_blocked_loop_is_told_so() -> None:
    """Nothing was on its way, so no node is to blame (2d-13)."""
    clock = jumping_clock()
    async with producing_on(
        clock, delivery_timeout_ms=9000, request_timeout_ms=4000, linger_ms=100
    ) as (_, producer):
        ack = producer.send_nowait("orders", b"v")
        clock._now += 10  # while a call of the program runs
        with pytest.raises(
            DeliveryTimeoutError, match=r"never sent; nothing is on its way to .*loop was blocked"
        ):
            await ack
