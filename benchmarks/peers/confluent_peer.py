"""confluent-kafka, with idempotence (acks=all) like ours.

Otherwise it has its defaults (batches up to 1 MB, no CRC check).
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    Message,
    Producer,
    ShareConsumer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]  # it has it
from confluent_kafka.admin._listoffsets import OffsetSpec

from benchmarks.peers import growth_threads
from benchmarks.peers.admin_names import new_names, partition_keys
from benchmarks.peers.group_paths import LOOK_EVERY_S, SETTLE_S, is_balanced, note_requests
from benchmarks.peers.job import Job
from benchmarks.peers.membership import Membership
from benchmarks.peers.share_start import begin_at_the_start

POLL_RECORDS = 500
SINGLES_NOT_COUNTED = 500
BULK_RECORDS = 10_000
PACED_OPTIONS = {"linger.ms": 0, "request.timeout.ms": 30_000, "retry.backoff.ms": 100}
EQUAL_OPTIONS = {"batch.size": 131_072, "linger.ms": 5}
HOLDING_OPTIONS = {
    "queue.buffering.max.messages": 0,  # no limit
    "queue.buffering.max.kbytes": 2_000_000,
}


# Producing…


def send(job: Job) -> None:
    """`produce()` keyed, then flush; polls now and then, as its queue requires."""
    _send(job, on_delivery=None)


def send_acked(job: Job) -> None:
    """Do the same as `send`, with a callback for every delivery."""
    delivered: list[int] = []
    _send(job, on_delivery=lambda _error, message: delivered.append(message.offset()))
    assert len(delivered) == job.records


def bulk(job: Job) -> None:
    """`produce_batch()` of values without keys, 10,000 a call."""
    messages = [{"value": value} for _, value in job.pairs()] * (BULK_RECORDS // 1000)
    producer = _producer(job)
    _warm_up(job, producer)
    with job.stopwatch():
        for _ in range(0, job.records, BULK_RECORDS):
            left = len(messages)
            while left:
                left -= producer.produce_batch(job.topic, messages[-left:])
                producer.poll(0.01 if left else 0)
        producer.flush()
    job.outcome.records = -(-job.records // BULK_RECORDS) * BULK_RECORDS


def paced(job: Job) -> None:
    """Send a fixed number of records a second to one partition, with a callback for each
    delivery.
    """
    producer = _producer(job, PACED_OPTIONS)
    for _ in range(job.warm_up):
        producer.produce(job.topic, job.stamped(), partition=0)
        producer.flush()
    job.begin_paced()
    for number in range(job.records):
        while (delay_s := job.due_in_s(number)) > 0:
            producer.poll(delay_s)
        note = partial(_note_ack, job, time.monotonic())
        producer.produce(job.topic, job.stamped(), partition=0, on_delivery=note)
        producer.poll(0)
    producer.flush()


def hold_unsent(job: Job) -> None:
    """Send records that a broker never acknowledges; does not return."""
    pairs = job.pairs()
    reported: list[Any] = []

    def report(error: Any, message: Message) -> None:
        reported.append((error, message))

    on_delivery = report if job.keep_handles else None
    producer = _producer(job, HOLDING_OPTIONS)
    producer.list_topics(job.topic, 10)
    with job.memory():
        for number in range(job.records):
            key, value = pairs[number % len(pairs)]
            producer.produce(job.topic, value, key, on_delivery=on_delivery)
    job.outcome.records = job.records
    job.report_and_end()


# Consuming…


def getmany(job: Job) -> None:
    """`consume(500)`, value read."""
    _read(job, _consumer(job))


def group(job: Job) -> None:
    """Do the same as `getmany` in a group of one."""
    _read(job, _group_consumer(job))


def share_group(job: Job) -> None:
    """`ShareConsumer.poll()` in a share group of one, value read, all accepted."""
    asyncio.run(begin_at_the_start(job.bootstrap_servers, job.group_id))
    consumer = ShareConsumer({"bootstrap.servers": job.bootstrap_servers, "group.id": job.group_id})
    consumer.subscribe([job.topic])
    seen = skipped = total = 0
    while seen < job.records:
        messages = consumer.poll(1.0)
        for message in messages:
            total += len(message.value() or b"")
        seen += len(messages)
        if seen and not skipped:
            skipped = seen
            job.start()
    consumer.commit_sync(30)
    job.stop()
    job.outcome.records = seen - skipped
    consumer.close()
    assert total


def one_by_one(job: Job) -> None:
    """`poll()`, value read."""
    consumer = _consumer(job)
    seen = total = 0
    while seen < job.records:
        message = consumer.poll(1.0)
        if message is not None:
            total += len(message.value() or b"")
            seen += 1
            if seen == SINGLES_NOT_COUNTED:
                job.start()
    job.stop()
    job.outcome.records = seen - SINGLES_NOT_COUNTED
    consumer.close()
    assert total


def arrow(job: Job) -> None:
    """`consume(500)`, made into Arrow record batches."""
    consumer = _consumer(job)
    skipped = 0
    while not skipped:
        skipped = _arrow_rows(consumer.consume(POLL_RECORDS, 1.0))
    seen = skipped
    with job.stopwatch():
        while seen < job.records:
            seen += _arrow_rows(consumer.consume(POLL_RECORDS, 1.0))
    job.outcome.records = seen - skipped
    consumer.close()


def paced_receive(job: Job) -> None:
    """`poll()`, and each record's age."""
    consumer = _consumer(job)
    job.tell("ready")
    while job.outcome.records < job.records:
        message = consumer.poll(1.0)
        if message is not None and message.error() is None:
            job.note_received(message.value() or b"")
    consumer.close()


def hold_consumed(job: Job) -> None:
    """Read records and keep them."""
    kept: list[Message] = []
    consumer = _consumer(job)
    with job.memory():
        while len(kept) < job.records:
            kept += consumer.consume(POLL_RECORDS, 1.0)
    job.outcome.records = len(kept)
    consumer.close()


# Groups…


def first_assigned(job: Job) -> None:
    """The first record of partitions assigned by hand."""
    numbers = range(job.partitions)
    with job.stopwatch():
        consumer = Consumer({**connecting_options(job), "group.id": "benchmark"})
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
    """Be a member of a group that is told when to join and when to end.

    It polls one by one: `consume(500)` would wait for 500 records, or its timeout.
    """
    membership = Membership(job)
    consumer = _group_consumer(job, _member_options(job))
    while not membership.is_over:
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            partition, offset = message.partition(), message.offset()
            assert partition is not None
            assert offset is not None
            membership.note(partition, offset, offset)
    consumer.close()


# Growth…


def growing_group(job: Job) -> None:
    """A group of one that has every partition of many topics."""
    growth_threads.consume([partial(_group_consumer, job, topics=job.topic_names())], job)


def growing_consumers(job: Job) -> None:
    """Start many consumers, each with an assigned partition; most have the last one."""

    def assigned(number: int) -> Consumer:
        consumer = Consumer(consumer_options(job))
        consumer.assign([TopicPartition(job.topic, number, OFFSET_BEGINNING)])
        return consumer

    numbers = (min(number, job.partitions - 1) for number in range(job.clients))
    growth_threads.consume([partial(assigned, number) for number in numbers], job)


def growing_producer(job: Job) -> None:
    """A producer that knows many partitions."""
    growth_threads.produce(partial(_producer, job, {"linger.ms": 0}), job)


def balance(job: Job) -> None:
    """Members of one group in one process, polled in turn, until they are balanced."""
    with job.stopwatch():
        consumers = [_group_consumer(job, _member_options(job)) for _ in range(job.clients)]
        owned: list[list[int]] = [[]]
        while not is_balanced(owned, job):
            for consumer in consumers:
                consumer.poll(0)
            time.sleep(LOOK_EVERY_S)
            owned = [[tp.partition for tp in consumer.assignment()] for consumer in consumers]
    for consumer in consumers:
        consumer.close()
    job.outcome.records = len(consumers)


def idle_member(job: Job) -> None:
    """The requests of a member while no record comes, by the statistics of librdkafka."""
    counts: Counter[str] = Counter()

    def take(statistics: str) -> None:
        counts.clear()
        for broker in json.loads(statistics)["brokers"].values():
            counts.update(broker["req"])

    options: dict[str, Any] = {"statistics.interval.ms": 500, "stats_cb": take}
    consumer = _group_consumer(job, _member_options(job) | options)
    while not is_balanced([[tp.partition for tp in consumer.assignment()]], job):
        consumer.poll(0.1)
    _poll_for(consumer, SETTLE_S)
    before = dict(counts)
    _poll_for(consumer, job.idle_s)
    note_requests(before, dict(counts), job)
    consumer.close()


def _poll_for(consumer: Consumer, seconds: float) -> None:
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        consumer.poll(0.1)


def _member_options(job: Job) -> dict[str, Any]:
    if job.group_protocol == "consumer":
        return {"group.protocol": "consumer"}
    return {
        "heartbeat.interval.ms": job.heartbeat_ms,
        "partition.assignment.strategy": job.assignor,
    }


# Admin calls…


def admin_create(job: Job) -> None:
    """Create topics in one call, after one of another topic."""
    warm, names = new_names(job)
    topics = [NewTopic(name, 1, 1) for name in names]
    _one_call(job, lambda admin, these: admin.create_topics(these), [NewTopic(warm, 1, 1)], topics)


def admin_describe(job: Job) -> None:
    """Describe topics in one call, after one of another topic."""
    warm, names = new_names(job)
    _one_call(job, lambda a, these: a.describe_topics(TopicCollection(these)), [warm], names)


def admin_delete(job: Job) -> None:
    """Delete topics in one call, after one of another topic."""
    warm, names = new_names(job)
    _one_call(job, lambda admin, these: admin.delete_topics(these), [warm], names)


def admin_offsets(job: Job) -> None:
    """List the end offsets of partitions in one call, after one of one partition."""
    keys = [TopicPartition(*key) for key in partition_keys(job)]
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]
    specs = dict.fromkeys(keys, latest)
    _one_call(job, lambda admin, these: admin.list_offsets(these), {keys[0]: latest}, specs)


def _one_call(job: Job, call: Callable[[AdminClient, Any], Any], warm: Any, counted: Any) -> None:
    """Await each future of a call, and then of the call that counts."""
    admin = AdminClient({"bootstrap.servers": job.bootstrap_servers})
    for future in call(admin, warm).values():
        future.result()
    with job.stopwatch():
        results = [future.result() for future in call(admin, counted).values()]
    job.outcome.records = len(results)


# Options…


def connecting_options(job: Job) -> dict[str, Any]:
    """Return the options of every client."""
    tls = {"security.protocol": "ssl", "ssl.ca.pem": job.ca_pem} if job.ca_pem else {}
    return {"bootstrap.servers": job.bootstrap_servers, **tls}


def producer_options(job: Job) -> dict[str, Any]:
    """Options of a producer as safe as the others."""
    return {
        **connecting_options(job),
        "enable.idempotence": True,
        "compression.type": job.compression or "none",
        **(EQUAL_OPTIONS if job.equal else {}),
    }


def consumer_options(job: Job) -> dict[str, Any]:
    """Return options of a consumer without a group that commits."""
    return {
        **connecting_options(job),
        "group.id": "benchmark",
        "enable.auto.commit": False,
        "check.crcs": job.equal,
    }


def _producer(job: Job, options: dict[str, Any] | None = None) -> Producer:
    return Producer({**producer_options(job), **(options or {})})


def _send(job: Job, on_delivery: Callable[..., Any] | None) -> None:
    pairs = job.pairs()
    producer = _producer(job)
    _warm_up(job, producer)
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
    job.outcome.records = job.records


def _warm_up(job: Job, producer: Producer) -> None:
    producer.list_topics(job.topic, 10)
    pairs = job.pairs()
    for number in range(job.warm_up):
        key, value = pairs[number % len(pairs)]
        producer.produce(job.topic, value, key)
    producer.flush()


def _note_ack(job: Job, sent_s: float, error: Any, _message: Message) -> None:
    job.note_ack(sent_s, None if error is None else RuntimeError(str(error)))


def _read(job: Job, consumer: Consumer) -> None:
    total = skipped = 0
    while not skipped:
        skipped = len(consumer.consume(POLL_RECORDS, 1.0))
    seen = skipped
    with job.stopwatch():
        while seen < job.records:
            messages = consumer.consume(POLL_RECORDS, 1.0)
            for message in messages:
                total += len(message.value() or b"")
            seen += len(messages)
    job.outcome.records = seen - skipped
    consumer.close()
    assert total


def _arrow_rows(messages: list[Message]) -> int:
    # imported here, so that only this path includes pyarrow
    from benchmarks.peers.arrow_rows import arrow_batch

    stamps = [message.timestamp() for message in messages]
    batch = arrow_batch(
        [message.topic() for message in messages],
        [message.partition() for message in messages],
        [message.offset() for message in messages],
        [moment for _, moment in stamps],
        [kind for kind, _ in stamps],
        [message.key() for message in messages],
        [message.value() for message in messages],
    )
    return int(batch.num_rows)


def _first(consumer: Consumer, job: Job) -> None:
    while not job.outcome.records:
        message = consumer.poll(1.0)
        job.outcome.records += message is not None and message.error() is None


def _group_consumer(
    job: Job, options: dict[str, str | int] | None = None, topics: list[str] | None = None
) -> Consumer:
    consumer = Consumer(
        {
            **connecting_options(job),
            "group.id": job.group_id,
            "auto.offset.reset": "earliest",
            **(options or {}),
        }
    )
    consumer.subscribe(topics or [job.topic])
    return consumer


def _consumer(job: Job) -> Consumer:
    consumer = Consumer(consumer_options(job))
    partitions = consumer.list_topics(job.topic, 10).topics[job.topic].partitions
    consumer.assign([TopicPartition(job.topic, number, OFFSET_BEGINNING) for number in partitions])
    return consumer
