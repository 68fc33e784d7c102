"""A cluster in virtual time with a share group that reads a topic from its beginning."""

from collections.abc import Awaitable, Callable, Collection
from typing import Any

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaProducer, AIOKafkaShareConsumer
from aiokafka_lite.admin import ConfigResource, ConfigResourceType
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.share.held_records import Record
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

TOPIC, GROUP = "t", "g"
TP = TopicPartition(TOPIC, 0)


class ShareKafka:
    """What a test of share consumers works with."""

    def __init__(self, kafka: VirtualKafka) -> None:
        self.kafka = kafka
        self.broker = kafka.broker
        self.clock = kafka.clock

    def consumer(self, *topics: str, **options: Any) -> AIOKafkaShareConsumer[Any, Any]:
        options = {"group_id": GROUP, **self.kafka.client_options, **options}
        return AIOKafkaShareConsumer(*topics or (TOPIC,), **options)

    def explicit(self, **options: Any) -> AIOKafkaShareConsumer[Any, Any]:
        return self.consumer(share_acknowledgement_mode="explicit", **options)

    async def write(self, *values: str, together: bool = False) -> None:
        """Write values, each as a batch of its own, or `together` as one batch."""
        async with AIOKafkaProducer(
            **self.kafka.client_options, linger_ms=1000 if together else 0
        ) as producer:
            if together:
                for value in values:
                    await producer.send(TOPIC, value.encode(), partition=0)
                return
            for value in values:
                await producer.send_and_wait(TOPIC, value.encode(), partition=0)

    async def configure(self, **configs: str) -> None:
        settings = {f"share.{name.replace('_', '.')}": value for name, value in configs.items()}
        async with AIOKafkaAdminClient(**self.kafka.client_options) as admin:
            changed = await admin.incremental_alter_configs(
                [ConfigResource(ConfigResourceType.GROUP, GROUP, configs=settings)]
            )
            changed.raise_first()


def run_share(
    main: Callable[[ShareKafka], Awaitable[None]],
    *values: str,
    together: bool = False,
    configs: dict[str, str] | None = None,
    **options: Any,
) -> None:
    """Run `main` beside a cluster whose topic has `values`."""

    async def run(kafka: VirtualKafka) -> None:
        share = ShareKafka(kafka)
        await share.configure(auto_offset_reset="earliest", **(configs or {}))
        await share.write(*values, together=together)
        await main(share)

    run_virtual_kafka(run, **{"num_partitions": 1, **options})


async def read(
    consumer: AIOKafkaShareConsumer[Any, Any],
    wait_ms: float = 5_000,
    max_records: int | None = None,
) -> list[Record]:
    found = await consumer.getmany(wait_ms, max_records)
    return [record for records in found.values() for record in records]


def seen(records: Collection[Record]) -> list[tuple[str, int]]:
    """Values and delivery counts."""
    return [(text(record), record.delivery_count) for record in records]


def text(record: Record) -> str:
    assert record.value is not None
    value: str = record.value.decode()
    return value
