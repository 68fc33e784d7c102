"""confluent-kafka, with idempotence (acks=all) as ours has it, else its defaults (batches up to 1
MB).
"""

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from benchmarks.peers.job import Job
from benchmarks.peers.membership import Membership


def send(job: Job) -> None:
    """`produce()` keyed, then flush; polled now and then, as its queue needs."""
    _send(job, on_delivery=None)


def send_acked(job: Job) -> None:
    """The same, and every delivery reported to a callback."""
    delivered: list[int] = []
    _send(job, on_delivery=lambda _error, message: delivered.append(message.offset()))
    assert len(delivered) == job.records


def getmany(job: Job) -> None:
    """`consume(500)`, value read."""
    consumer = _consumer(job)
    total = 0
    with job.stopwatch():
        while job.done < job.records:
            messages = consumer.consume(500, 1.0)
            for message in messages:
                total += len(message.value() or b"")
            job.done += len(messages)
    consumer.close()
    assert total


def one_by_one(job: Job) -> None:
    """`poll()`, value read."""
    consumer = _consumer(job)
    total = 0
    with job.stopwatch():
        while job.done < job.records:
            message = consumer.poll(1.0)
            if message is not None:
                total += len(message.value() or b"")
                job.done += 1
    consumer.close()
    assert total


def group(job: Job) -> None:
    """`consume(500)` in a group of one, from the constructor to the last record."""
    total = 0
    with job.stopwatch():
        consumer = _group_consumer(job)
        while job.done < job.records:
            messages = consumer.consume(500, 1.0)
            for message in messages:
                total += len(message.value() or b"")
            job.done += len(messages)
    consumer.close()
    assert total


def first_assigned(job: Job) -> None:
    """The first record of partitions assigned by hand."""
    numbers = range(job.partitions)
    with job.stopwatch():
        consumer = Consumer({"bootstrap.servers": job.bootstrap_servers, "group.id": "benchmark"})
        consumer.assign([TopicPartition(job.topic, number, OFFSET_BEGINNING) for number in numbers])
        _first(consumer, job)
    consumer.close()


def first_subscribed(job: Job) -> None:
    """The first record as the only member of a group."""
    with job.stopwatch():
        consumer = _group_consumer(job)
        _first(consumer, job)
    consumer.close()


def member(job: Job) -> None:
    """A member of a group that is told when to join and when to end.

    It polls one by one: `consume(500)` would wait for 500 records, or its timeout.
    """
    membership = Membership(job)
    options: dict[str, str | int] = {
        "heartbeat.interval.ms": job.heartbeat_ms,
        "partition.assignment.strategy": job.assignor,
    }
    consumer = _group_consumer(job, options)
    while not membership.is_over:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            partition, offset = message.partition(), message.offset()
            assert partition is not None
            assert offset is not None
            membership.note(partition, offset, offset)
    consumer.close()


def _first(consumer: Consumer, job: Job) -> None:
    while not job.done:
        message = consumer.poll(1.0)
        job.done += message is not None and message.error() is None


def _group_consumer(job: Job, options: dict[str, str | int] | None = None) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "group.id": job.group_id,
            "auto.offset.reset": "earliest",
            **(options or {}),
        }
    )
    consumer.subscribe([job.topic])
    return consumer


def _send(job: Job, on_delivery) -> None:  # type: ignore[no-untyped-def]  # its callbacks are untyped
    pairs = job.pairs()
    producer = Producer(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "enable.idempotence": True,
            "compression.type": job.compression or "none",
        }
    )
    producer.list_topics(job.topic, 10)
    with job.stopwatch():
        for number in range(job.records):
            key, value = pairs[number % len(pairs)]
            while True:
                try:
                    producer.produce(job.topic, value, key, on_delivery=on_delivery)
                    break
                except BufferError:
                    producer.poll(0.01)
            if number % 1000 == 0:
                producer.poll(0)
        producer.flush()
    job.done = job.records


def _consumer(job: Job) -> Consumer:
    consumer = Consumer(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "group.id": "benchmark",
            "enable.auto.commit": False,
        }
    )
    partitions = consumer.list_topics(job.topic, 10).topics[job.topic].partitions
    consumer.assign([TopicPartition(job.topic, number, OFFSET_BEGINNING) for number in partitions])
    return consumer
