"""Runs a member of a group with any Python client of Kafka, so that tests can mix clients.

Each client has one blocking function with the same parameter. It consumes with the range assignor,
or with the assignors that its client has by default, and commits after each poll, until the test
tells it to leave.
"""

import asyncio
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import aiokafka
import confluent_kafka
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AiokafkaRange

from aiokafka_lite import AIOKafkaConsumer, RangePartitionAssignor

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    import kafka  # reads its schemas by a way that Python 3.11 deprecates
    from kafka.coordinator.assignors.range import RangePartitionAssignor as KafkaPythonRange

HEARTBEAT_MS = 100
SESSION_MS = 6000
POLL_MS = 50
KAFKA_PYTHON_POLL_MS = 1000
"""Longer than any rebalance in these tests. If a poll of kafka-python 3.0 ends during a rebalance,
the member may stay without assignment and without heartbeats.
"""
PATIENCE_S = 60


def share_evenly(first: "Life", second: "Life") -> bool:
    """Say whether two members have a half of the four partitions each, by any assignor."""
    return (
        len(first.partitions) == len(second.partitions) == 2
        and not first.partitions & second.partitions
    )


class Life:
    """What a member's thread and its test share: the polled records, and the order to leave."""

    def __init__(self, bootstrap: str, topic: str, group_id: str, *, by_default: bool) -> None:
        self.by_default = by_default
        """Whether the member has the assignors that its client has if nobody chooses."""
        self.bootstrap = bootstrap
        self.topic = topic
        self.group_id = group_id
        self.partitions: set[int] = set()
        self.values: Counter[bytes] = Counter()
        self.is_over = False
        self.error: BaseException | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def polled(self, partitions: set[int], values: list[bytes]) -> None:
        """Note the result of one poll."""
        with self._changed:
            self.partitions = partitions
            self.values.update(values)
            self._changed.notify_all()

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition()` is true. It is called after each poll of this member."""
        with self._changed:
            is_met = self._changed.wait_for(lambda: self.error or condition(), PATIENCE_S)
        if self.error is not None:
            raise self.error
        assert is_met, f"waited {PATIENCE_S} s in vain; {self.partitions=} {self.values=}"

    def start(self, live: "Live") -> None:
        """Run the member in a thread of its own."""

        def run() -> None:
            try:
                live(self)
            except BaseException as error:  # noqa: BLE001 - `wait_until` raises it in the test
                self.error = error
                self.polled(set(), [])

        self._thread = threading.Thread(target=run, name="group member")
        self._thread.start()

    def leave(self) -> None:
        """Tell the member to leave its group, and wait until it has left."""
        self.is_over = True
        if self._thread is not None:
            self._thread.join(PATIENCE_S)
            assert not self._thread.is_alive()
        if self.error is not None:
            raise self.error


Live = Callable[[Life], None]


@contextmanager
def member(
    client: str, bootstrap: str, topic: str, group_id: str, *, by_default: bool = False
) -> Iterator[Life]:
    """Run a member of the named client. It leaves at the end of the block, or earlier."""
    life = Life(bootstrap, topic, group_id, by_default=by_default)
    life.start(MEMBERS[client])
    try:
        yield life
    finally:
        life.leave()


def aiokafka_member(life: Life) -> None:
    _asyncio_member(life, aiokafka.AIOKafkaConsumer, AiokafkaRange)


def our_member(life: Life) -> None:
    _asyncio_member(life, AIOKafkaConsumer, RangePartitionAssignor)


def _asyncio_member(life: Life, consumer_class: Any, assignor: type) -> None:
    """Live as a member of aiokafka or of ours, which have the same classes and methods."""
    chosen = {} if life.by_default else {"partition_assignment_strategy": [assignor]}

    async def live() -> None:
        consumer = consumer_class(
            life.topic,
            bootstrap_servers=life.bootstrap,
            group_id=life.group_id,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=HEARTBEAT_MS,
            session_timeout_ms=SESSION_MS,
            **chosen,
        )
        async with consumer:
            while not life.is_over:
                found = await consumer.getmany(timeout_ms=POLL_MS)
                values = [record.value for records in found.values() for record in records]
                if values:
                    await consumer.commit()
                life.polled({tp.partition for tp in consumer.assignment()}, values)

    asyncio.run(live())


def confluent_member(life: Life) -> None:
    chosen = {} if life.by_default else {"partition.assignment.strategy": "range"}
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": life.bootstrap,
            "group.id": life.group_id,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "heartbeat.interval.ms": HEARTBEAT_MS,
            "session.timeout.ms": SESSION_MS,
            "log_level": 0,
            **chosen,
        }
    )
    consumer.subscribe([life.topic])
    try:
        while not life.is_over:
            message = consumer.poll(POLL_MS / 1000)
            values = []
            if message is not None:
                assert message.error() is None, message.error()
                values = [message.value() or b""]
                consumer.commit(message=message, asynchronous=False)
            life.polled({tp.partition for tp in consumer.assignment()}, values)
    finally:
        consumer.close()


def kafka_python_member(life: Life) -> None:
    chosen = {} if life.by_default else {"partition_assignment_strategy": [KafkaPythonRange]}
    consumer = kafka.KafkaConsumer(
        life.topic,
        bootstrap_servers=life.bootstrap,
        group_id=life.group_id,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        heartbeat_interval_ms=HEARTBEAT_MS,
        session_timeout_ms=SESSION_MS,
        **chosen,
    )
    try:
        while not life.is_over:
            found = consumer.poll(timeout_ms=KAFKA_PYTHON_POLL_MS)
            values = [record.value for records in found.values() for record in records]
            if values:
                consumer.commit()
            life.polled({tp.partition for tp in consumer.assignment()}, values)
    finally:
        consumer.close()


OURS = "aiokafka-lite"
MEMBERS: dict[str, Live] = {
    OURS: our_member,
    "aiokafka": aiokafka_member,
    "confluent-kafka": confluent_member,
    "kafka-python": kafka_python_member,
}
