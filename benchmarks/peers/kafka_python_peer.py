"""kafka-python, with its defaults (idempotent, acks=all)."""

import time
from functools import partial
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic, OffsetSpec
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor

from benchmarks.peers.admin_names import new_names, partition_keys
from benchmarks.peers.job import Job
from benchmarks.peers.membership import Membership

POLL_RECORDS = 500
SINGLES_NOT_COUNTED = 500

_ASSIGNORS = {
    "range": RangePartitionAssignor,
    "cooperative-sticky": CooperativeStickyAssignor,
}


def send(job: Job) -> None:
    """`send()` keyed, then flush."""
    _send(job, keep=False)


def send_acked(job: Job) -> None:
    """Do the same as `send`, and get every future's result."""
    _send(job, keep=True)


def paced(job: Job) -> None:
    """Send a fixed number of records a second to one partition, with a callback for each ack."""
    producer = _producer(job, linger_ms=0, request_timeout_ms=30_000, retry_backoff_ms=100)
    for _ in range(job.warm_up):
        producer.send(job.topic, job.stamped(), partition=0).get(60)
    job.begin_paced()
    for number in range(job.records):
        if (delay_s := job.due_in_s(number)) > 0:
            time.sleep(delay_s)
        sent_s = time.monotonic()
        future = producer.send(job.topic, job.stamped(), partition=0)
        future.add_callback(partial(_note_ack, job, sent_s))
        future.add_errback(partial(job.note_ack, sent_s))
    producer.flush()
    producer.close()


def hold_unsent(job: Job) -> None:
    """Send records that a broker never acknowledges; does not return."""
    pairs = job.pairs()
    handles = []
    producer = _producer(job)
    producer.partitions_for(job.topic)
    with job.memory():
        for number in range(job.records):
            key, value = pairs[number % len(pairs)]
            future = producer.send(job.topic, value, key)
            if job.keep_handles:
                handles.append(future)
    job.outcome.records = job.records
    job.report_and_end()


def getmany(job: Job) -> None:
    """`poll(max_records=500)`, value read."""
    _read(job, _consumer(job))


def group(job: Job) -> None:
    """Do the same as `getmany` in a group of one."""
    _read(job, _group_consumer(job))


def one_by_one(job: Job) -> None:
    """`for record in consumer`, value read."""
    consumer = _consumer(job)
    seen = total = 0
    for record in consumer:
        total += len(record.value)
        seen += 1
        if seen == SINGLES_NOT_COUNTED:
            job.start()
        elif seen == job.records:
            break
    job.stop()
    job.outcome.records = seen - SINGLES_NOT_COUNTED
    consumer.close()
    assert total


def paced_receive(job: Job) -> None:
    """`for record in consumer`, and each record's age."""
    consumer = _consumer(job)
    job.tell("ready")
    for record in consumer:
        job.note_received(record.value)
        if job.outcome.records == job.records:
            break
    consumer.close()


def hold_consumed(job: Job) -> None:
    """Read records and keep them."""
    kept: list[Any] = []
    consumer = _consumer(job)
    with job.memory():
        while len(kept) < job.records:
            for records in consumer.poll(timeout_ms=1000, max_records=POLL_RECORDS).values():
                kept += records
    job.outcome.records = len(kept)
    consumer.close()


def first_assigned(job: Job) -> None:
    """The first record of partitions assigned by hand."""
    with job.stopwatch():
        consumer = KafkaConsumer(
            bootstrap_servers=job.bootstrap_servers, auto_offset_reset="earliest"
        )
        consumer.assign([TopicPartition(job.topic, number) for number in range(job.partitions)])
        next(consumer)
    job.outcome.records = 1
    consumer.close()


def first_subscribed(job: Job) -> None:
    """The first record as the only member of a group."""
    with job.stopwatch():
        consumer = _group_consumer(job)
        next(consumer)
    job.outcome.records = 1
    consumer.close()


def member(job: Job) -> None:
    """Be a member of a group that is told when to join and when to end."""
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


# Admin calls…


def admin_create(job: Job) -> None:
    """Create topics in one call, after one of another topic."""
    warm, names = new_names(job)
    topics = [NewTopic(name, 1, 1) for name in names]
    admin = KafkaAdminClient(bootstrap_servers=job.bootstrap_servers)
    admin.create_topics([NewTopic(warm, 1, 1)])
    with job.stopwatch():
        admin.create_topics(topics)
    job.outcome.records = len(topics)
    admin.close()


def admin_describe(job: Job) -> None:
    """Describe topics in one call, after one of another topic."""
    warm, names = new_names(job)
    admin = KafkaAdminClient(bootstrap_servers=job.bootstrap_servers)
    admin.describe_topics([warm])
    with job.stopwatch():
        found = admin.describe_topics(names)
    job.outcome.records = sum(not each["error_code"] for each in found)
    admin.close()


def admin_delete(job: Job) -> None:
    """Delete topics in one call, after one of another topic."""
    warm, names = new_names(job)
    admin = KafkaAdminClient(bootstrap_servers=job.bootstrap_servers)
    admin.delete_topics([warm])
    with job.stopwatch():
        admin.delete_topics(names)
    job.outcome.records = len(names)
    admin.close()


def admin_offsets(job: Job) -> None:
    """List the end offsets of partitions in one call, after one of one partition."""
    keys = [TopicPartition(*key) for key in partition_keys(job)]
    admin = KafkaAdminClient(bootstrap_servers=job.bootstrap_servers)
    admin.list_partition_offsets({keys[0]: OffsetSpec.LATEST})
    with job.stopwatch():
        found = admin.list_partition_offsets(dict.fromkeys(keys, OffsetSpec.LATEST))
    job.outcome.records = len(found)
    admin.close()


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
    producer = _producer(job)
    producer.partitions_for(job.topic)
    for number in range(job.warm_up):
        key, value = pairs[number % len(pairs)]
        producer.send(job.topic, value, key)
    producer.flush()
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
    job.outcome.records = job.records


def _producer(job: Job, **options: Any) -> KafkaProducer:
    if job.equal:
        options.update(batch_size=131_072, linger_ms=5)
    return KafkaProducer(
        bootstrap_servers=job.bootstrap_servers, compression_type=job.compression, **options
    )


def _note_ack(job: Job, sent_s: float, _metadata: Any) -> None:
    job.note_ack(sent_s)


def _read(job: Job, consumer: KafkaConsumer) -> None:
    total = skipped = 0
    while not skipped:
        polled = consumer.poll(timeout_ms=1000, max_records=POLL_RECORDS)
        skipped = sum(map(len, polled.values()))
    seen = skipped
    with job.stopwatch():
        while seen < job.records:
            for records in consumer.poll(timeout_ms=1000, max_records=POLL_RECORDS).values():
                for record in records:
                    total += len(record.value)
                seen += len(records)
    job.outcome.records = seen - skipped
    consumer.close()
    assert total


def _consumer(job: Job) -> KafkaConsumer:
    consumer = KafkaConsumer(bootstrap_servers=job.bootstrap_servers, auto_offset_reset="earliest")
    partitions = consumer.partitions_for_topic(job.topic) or set()
    consumer.assign([TopicPartition(job.topic, number) for number in sorted(partitions)])
    consumer.seek_to_beginning()
    return consumer
