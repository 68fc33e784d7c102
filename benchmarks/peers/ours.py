"""aiokafka_lite, with its defaults."""

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    CooperativeStickyAssignor,
    RangePartitionAssignor,
    TopicPartition,
)
from aiokafka_lite.admin import AIOKafkaAdminClient, NewTopic, OffsetSpec
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.protocol.api_key import api_name
from benchmarks.peers import group_paths
from benchmarks.peers.admin_names import new_names, partition_keys
from benchmarks.peers.asyncio_paths import (
    ALL_BYTES,
    BULK_BATCH_BYTES,
    POLL_RECORDS,
    AsyncioPaths,
    reading_options,
)
from benchmarks.peers.job import Job
from benchmarks.peers.share_start import begin_at_the_start

ARROW_RECORDS = 10_000


class _RequestCounts(Observer):
    """Counts the requests of one client."""

    __slots__ = ("by_kind",)

    def __init__(self) -> None:
        self.by_kind: dict[str, int] = {}

    def request_answered(self, node_id: int, api_key: int, took_s: float, size: int) -> None:  # noqa: ARG002
        """Count a request."""
        kind = api_name(api_key)
        self.by_kind[kind] = self.by_kind.get(kind, 0) + 1


class _Ours(AsyncioPaths):
    __slots__ = ()

    async def bulk(self, job: Job) -> None:
        """`send_many()` of values without keys, 10,000 a call, batches of 128 KB."""
        values = [value for _, value in job.pairs()] * 10
        sizes = {"max_batch_size": BULK_BATCH_BYTES, **self.equal_options}
        async with self._producer(job, **sizes) as producer:
            await self._warm_up(job, producer)
            with job.stopwatch():
                for _ in range(0, job.records, len(values)):
                    await producer.send_many(job.topic, values)
                await producer.flush()
        job.outcome.records = -(-job.records // len(values)) * len(values)

    async def arrow(self, job: Job) -> None:
        """`getmany_arrow()` of up to 10,000 a call."""
        async with self.consumer(job.topic, **reading_options(job)) as consumer:
            skipped = 0
            while not skipped:
                skipped = await _arrow_rows(consumer, POLL_RECORDS)
            seen = skipped
            with job.stopwatch():
                while seen < job.records:
                    seen += await _arrow_rows(consumer, ARROW_RECORDS)
        job.outcome.records = seen - skipped

    async def share_group(self, job: Job) -> None:
        """`getmany()` of 500 a call in a share group of one, value read, all accepted."""
        await begin_at_the_start(job.bootstrap_servers, job.group_id)
        seen = skipped = total = 0
        async with AIOKafkaShareConsumer(
            job.topic, bootstrap_servers=job.bootstrap_servers, group_id=job.group_id
        ) as consumer:
            while seen < job.records:
                for records in (await consumer.getmany(1000)).values():
                    for record in records:
                        total += len(record.value or b"")
                    seen += len(records)
                if seen and not skipped:
                    skipped = seen
                    job.start()
            await consumer.commit()
            job.stop()
        job.outcome.records = seen - skipped
        assert total

    async def balance(self, job: Job) -> None:
        """Members of one group in one process, until they are balanced."""
        await group_paths.balance([self._member(job) for _ in range(job.clients)], job)

    async def idle_member(self, job: Job) -> None:
        """The requests of a member while no record comes."""
        counts = _RequestCounts()
        await group_paths.idle(self._member(job, observer=counts), counts.by_kind, job)

    async def admin_create(self, job: Job) -> None:
        """Create topics in one call, after one of another topic."""
        warm, names = new_names(job)
        topics = [NewTopic(name, 1, 1) for name in names]
        async with AIOKafkaAdminClient(bootstrap_servers=job.bootstrap_servers) as admin:
            await admin.create_topics([NewTopic(warm, 1, 1)])
            with job.stopwatch():
                answer = await admin.create_topics(topics)
                answer.topics.raise_first()
        job.outcome.records = len(answer.topics)

    async def admin_describe(self, job: Job) -> None:
        """Describe topics in one call, after one of another topic."""
        warm, names = new_names(job)
        async with AIOKafkaAdminClient(bootstrap_servers=job.bootstrap_servers) as admin:
            await admin.describe_topics([warm])
            with job.stopwatch():
                found = await admin.describe_topics(names)
        job.outcome.records = sum(not each["error_code"] for each in found)

    async def admin_delete(self, job: Job) -> None:
        """Delete topics in one call, after one of another topic."""
        warm, names = new_names(job)
        async with AIOKafkaAdminClient(bootstrap_servers=job.bootstrap_servers) as admin:
            await admin.delete_topics([warm])
            with job.stopwatch():
                answer = await admin.delete_topics(names)
                answer.topics.raise_first()
        job.outcome.records = len(answer.topics)

    async def admin_offsets(self, job: Job) -> None:
        """List the end offsets of partitions in one call, after one of one partition."""
        keys = [TopicPartition(*key) for key in partition_keys(job)]
        async with AIOKafkaAdminClient(bootstrap_servers=job.bootstrap_servers) as admin:
            await admin.list_offsets({keys[0]: OffsetSpec.LATEST})
            with job.stopwatch():
                found = await admin.list_offsets(dict.fromkeys(keys, OffsetSpec.LATEST))
                found.raise_first()
        job.outcome.records = len(found)


async def _arrow_rows(consumer: AIOKafkaConsumer, max_records: int) -> int:
    batch = await consumer.getmany_arrow(timeout_ms=1000, max_records=max_records)
    return int(batch.num_rows)


PATHS = _Ours(
    producer=AIOKafkaProducer,
    consumer=AIOKafkaConsumer,
    topic_partition=TopicPartition,
    assignors={"range": RangePartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor},
    holding_options={"buffer_memory": ALL_BYTES},
    equal_options={"max_backlog_batch_size": BULK_BATCH_BYTES},
)
