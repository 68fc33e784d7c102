"""What a share group gives up is written into its topic for dead letters (KIP-1191)."""

import pytest

from aiokafka_lite import AcknowledgeType, AIOKafkaAdminClient, AIOKafkaShareConsumer
from aiokafka_lite.admin import ConfigResource, ConfigResourceType
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

ALL_BROKERS = ConfigResource(
    ConfigResourceType.BROKER,
    "",
    {
        "errors.deadletterqueue.auto.create.topics.enable": " True ",
        "errors.deadletterqueue.topic.name.prefix": " dead. ",
    },
)


@pytest.mark.parametrize("copies", [" TRUE ", "true", "False", None])
def test_a_rejected_record_is_written_by_the_settings_as_kafka_reads_them(
    copies: str | None,
) -> None:
    """Spaces at their ends are none of theirs, and a truth may have any letters."""
    settings = {
        "share.auto.offset.reset": "earliest",
        "errors.deadletterqueue.topic.name": " dead.t ",
    }
    if copies is not None:
        settings["errors.deadletterqueue.copy.record.enable"] = copies

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        kafka.broker.produce("t", b"v", key=b"k")
        async with AIOKafkaAdminClient(**kafka.client_options) as admin:
            group = ConfigResource(ConfigResourceType.GROUP, "g", settings)
            (await admin.incremental_alter_configs([ALL_BROKERS, group])).raise_first()
        consumer = AIOKafkaShareConsumer(
            "t", group_id="g", share_acknowledgement_mode="explicit", **kafka.client_options
        )
        async with consumer:
            consumer.acknowledge(await consumer.getone(), AcknowledgeType.REJECT)
            await consumer.commit()
        (letter,) = kafka.broker.records("dead.t")
        is_copied = copies is not None and "true" in copies.lower()
        assert (letter.key, letter.value) == ((b"k", b"v") if is_copied else (None, None))
        assert dict(letter.headers)["__dlq.errors.group"] == b"g"

    run_virtual_kafka(main)
