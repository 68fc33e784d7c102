"""kafka-python, with its defaults (idempotent, acks=all)."""

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from benchmarks.peers.job import Job


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
