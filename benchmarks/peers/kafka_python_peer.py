"""kafka-python, with its defaults (idempotent, acks=all)."""

from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor

from benchmarks.peers.job import Job
from benchmarks.peers.membership import Membership

_ASSIGNORS = {
    "range": RangePartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


def send(job: Job) -> None:
    """`send()` keyed, then flush."""
    _send(job, keep=False)


def send_acked(job: Job) -> None:
    """The same, and every future asked for its result."""
    _send(job, keep=True)


def getmany(job: Job) -> None:
    """`poll(max_records=500)`, value read."""
    consumer = _consumer(job)
    total = 0
    with job.stopwatch():
        while job.done < job.records:
            for records in consumer.poll(timeout_ms=1000, max_records=500).values():
                for record in records:
                    total += len(record.value)
                job.done += len(records)
    consumer.close()
    assert total


def one_by_one(job: Job) -> None:
    """`for record in consumer`, value read."""
    consumer = _consumer(job)
    total = 0
    with job.stopwatch():
        for record in consumer:
            total += len(record.value)
            job.done += 1
            if job.done == job.records:
                break
    consumer.close()
    assert total


def group(job: Job) -> None:
    """`poll(max_records=500)` in a group of one, from the constructor to the last record."""
    total = 0
    with job.stopwatch():
        consumer = _group_consumer(job)
        while job.done < job.records:
            for records in consumer.poll(timeout_ms=1000, max_records=500).values():
                for record in records:
                    total += len(record.value)
                job.done += len(records)
    consumer.close()
    assert total


def first_assigned(job: Job) -> None:
    """The first record of partitions assigned by hand."""
    with job.stopwatch():
        consumer = KafkaConsumer(
            bootstrap_servers=job.bootstrap_servers, auto_offset_reset="earliest"
        )
        consumer.assign([TopicPartition(job.topic, number) for number in range(job.partitions)])
        next(consumer)
    job.done = 1
    consumer.close()


def first_subscribed(job: Job) -> None:
    """The first record as the only member of a group."""
    with job.stopwatch():
        consumer = _group_consumer(job)
        next(consumer)
    job.done = 1
    consumer.close()


def member(job: Job) -> None:
    """A member of a group that is told when to join and when to end."""
    membership = Membership(job)
    consumer = _group_consumer(
        job,
        heartbeat_interval_ms=job.heartbeat_ms,
        partition_assignment_strategy=[_ASSIGNORS[job.assignor]],
    )
    while not membership.is_over:
        for tp, records in consumer.poll(timeout_ms=100).items():
            membership.note(tp.partition, records[0].offset, records[-1].offset)
    consumer.close()


def _group_consumer(job: Job, **options: Any) -> KafkaConsumer:
    return KafkaConsumer(
        job.topic,
        bootstrap_servers=job.bootstrap_servers,
        group_id=job.group_id,
        auto_offset_reset="earliest",
        **options,
    )


def _send(job: Job, *, keep: bool) -> None:
    pairs = job.pairs()
    producer = KafkaProducer(
        bootstrap_servers=job.bootstrap_servers, compression_type=job.compression
    )
    producer.partitions_for(job.topic)
    futures = []
    with job.stopwatch():
        for number in range(job.records):
            key, value = pairs[number % len(pairs)]
            future = producer.send(job.topic, value, key)
            if keep:
                futures.append(future)
        producer.flush()
        for future in futures:
            future.get(60)
    producer.close()
    job.done = job.records


def _consumer(job: Job) -> KafkaConsumer:
    consumer = KafkaConsumer(bootstrap_servers=job.bootstrap_servers, auto_offset_reset="earliest")
    partitions = consumer.partitions_for_topic(job.topic) or set()
    consumer.assign([TopicPartition(job.topic, number) for number in sorted(partitions)])
    consumer.seek_to_beginning()
    return consumer
