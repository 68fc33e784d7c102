"""The paths of `benchmarks.clients.growth` for confluent-kafka: as `growth_paths`, with threads.

Each consumer is polled by a thread of its own, because a poll blocks. It polls one record at a
time: `consume(500)` would wait for 500 records, or its timeout.
"""

import threading
import time
from collections.abc import Callable, Sequence

from confluent_kafka import Consumer, Producer

from benchmarks.peers.growth_paths import LOOK_EVERY_S, POLL_MS, SETTLE_S
from benchmarks.peers.job import Job

POLL_S = POLL_MS / 1000


def consume(make: Sequence[Callable[[], Consumer]], job: Job) -> None:
    """Let every consumer be polled by a thread of its own. `make` starts them."""
    readers = []
    with job.memory():
        job.begin_first()
        for make_one in make:
            reader = _Reader(make_one(), job)
            reader.start()
            readers.append(reader)
        for reader in readers[: job.active]:
            reader.first.wait()
        job.note_first()
    time.sleep(SETTLE_S)
    with job.idle():
        time.sleep(job.idle_s)
    while job.outcome.records < job.records:
        time.sleep(LOOK_EVERY_S)
    for reader in readers:
        reader.is_over = True
    for reader in readers:
        reader.join()
        reader.consumer.close()


class _Reader(threading.Thread):
    _counting = threading.Lock()

    def __init__(self, consumer: Consumer, job: Job) -> None:
        super().__init__(daemon=True)
        self.consumer = consumer
        self.first = threading.Event()
        self.is_over = False
        self._job = job

    def run(self) -> None:
        while not self.is_over:
            message = self.consumer.poll(POLL_S)
            if message is not None and message.error() is None:
                self.first.set()
                with self._counting:
                    self._job.note_round()


def produce(make: Callable[[], Producer], job: Job) -> None:
    """Send to every partition once, then to the active ones only."""
    value = bytes(job.value_bytes)
    with job.memory():
        job.begin_first()
        producer = make()
        producer.produce(job.topic, value, partition=0)
        producer.flush()
        job.note_first()
        for partition in range(job.partitions):
            producer.produce(job.topic, value, partition=partition)
            producer.poll(0)
        producer.flush()
    time.sleep(SETTLE_S)
    with job.idle():
        time.sleep(job.idle_s)
    for number in range(job.warm_up + job.records):
        producer.produce(job.topic, value, partition=number % job.active)
        producer.flush()
        job.note_round()
        time.sleep(1 / job.per_second)
