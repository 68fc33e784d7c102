"""hexkit: a publisher and a subscriber with retries and a topic of dead letters."""

import asyncio
import sys
from typing import Any

from aiokafka import AIOKafkaConsumer
from hexkit.protocols.eventsub import EventSubscriberProtocol
from hexkit.providers.akafka import KafkaConfig, KafkaEventPublisher, KafkaEventSubscriber

BOOTSTRAP, MARK = sys.argv[1:]
config = KafkaConfig(
    service_name=f"hx-{MARK}",
    service_instance_id="1",
    kafka_servers=[BOOTSTRAP],
    kafka_max_retries=2,
    kafka_enable_dlq=True,
    kafka_dlq_topic=f"hx-{MARK}-dlq",
    kafka_retry_backoff=0,
)


class Translator(EventSubscriberProtocol):
    def __init__(self) -> None:
        self.topics_of_interest = [f"hx-{MARK}-events"]
        self.types_of_interest = ["created"]
        self.seen: list[str] = []

    async def _consume_validated(
        self, *, payload: Any, type_: str, topic: str, key: str, event_id: Any
    ) -> None:
        self.seen.append(f"{payload['number']} {key}")
        if payload["number"] == 3:
            raise ValueError("three")


async def main() -> None:
    translator = Translator()
    topic = f"hx-{MARK}-events"
    async with KafkaEventPublisher.construct(config=config) as publisher:
        for number in range(6):
            await publisher.publish(
                payload={"number": number}, type_="created", key=f"k{number}", topic=topic
            )
        await publisher.publish(payload={"number": 9}, type_="ignored", key="k", topic=topic)
        async with KafkaEventSubscriber.construct(
            config=config, translator=translator, dlq_publisher=publisher
        ) as subscriber:
            for _ in range(7):
                await asyncio.wait_for(subscriber.run(forever=False), 20)
    print(sorted(translator.seen))
    reader = AIOKafkaConsumer(
        config.kafka_dlq_topic, bootstrap_servers=BOOTSTRAP, auto_offset_reset="earliest"
    )
    async with reader:
        print((await asyncio.wait_for(reader.getone(), 20)).value.decode())
        try:
            await asyncio.wait_for(reader.getone(), 1)
        except TimeoutError:
            print("one dead letter")


asyncio.run(main())
