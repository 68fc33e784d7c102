"""Writes to every partition of a topic in turn, at a fixed rate, until its input ends.

It is a process of its own:

python -m benchmarks.processes.steady_producer BOOTSTRAP_SERVERS TOPIC PARTITIONS RECORDS_PER_SECOND
"""

import asyncio
import sys
import threading
import time

from aiokafka_lite import AIOKafkaProducer

TICK_S = 0.01
VALUE = bytes(100)


def main() -> None:
    """Write until the input ends; print `writing` once the first records are acknowledged."""
    bootstrap_servers, topic, partitions, per_second = sys.argv[1:]
    is_over = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.read()
        is_over.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    asyncio.run(_write(bootstrap_servers, topic, int(partitions), int(per_second), is_over))


async def _write(
    bootstrap_servers: str, topic: str, partitions: int, per_second: int, is_over: threading.Event
) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers, linger_ms=0) as producer:
        for partition in range(partitions):
            await producer.send_and_wait(topic, VALUE, partition=partition)
        print("writing", flush=True)
        began = time.monotonic()
        sent = 0
        while not is_over.is_set():
            due = int((time.monotonic() - began) * per_second)
            for number in range(sent, due):
                await producer.send(topic, VALUE, partition=number % partitions)
            sent = due
            await asyncio.sleep(TICK_S)


if __name__ == "__main__":
    main()
