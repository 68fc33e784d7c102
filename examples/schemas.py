"""Writes and reads Avro with a registry: `python examples/schemas.py [BOOTSTRAP [REGISTRY_URL]]`.

Without addresses it uses an embedded broker, and a registry of its own.
"""

import asyncio
import sys
from dataclasses import asdict, dataclass

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.schema_registry import AvroDeserializer, AvroSerializer, SchemaRegistryClient
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer

SCHEMA = """{"type": "record", "name": "Reading", "fields": [
    {"name": "sensor", "type": "string"}, {"name": "celsius", "type": "double"}]}"""


@dataclass
class Reading:
    sensor: str
    celsius: float


async def out_and_back(bootstrap_servers: str, registry_url: str) -> None:
    async with SchemaRegistryClient(registry_url) as registry:
        serializer = AvroSerializer(registry, SCHEMA, to_dict=asdict)
        deserializer = AvroDeserializer(registry, from_dict=lambda fields: Reading(**fields))
        await serializer.prepare("readings")
        async with AIOKafkaProducer(
            bootstrap_servers=bootstrap_servers, value_serializer=serializer
        ) as producer:
            written = await producer.send_and_wait("readings", Reading("roof", 21.5))
        async with AIOKafkaConsumer(
            bootstrap_servers=bootstrap_servers, value_deserializer=deserializer
        ) as consumer:
            partition = TopicPartition(written.topic, written.partition)
            consumer.assign([partition])
            consumer.seek(partition, written.offset)
            reading = (await consumer.getone()).value
            assert reading is not None, "it was not deleted"
            print("read", reading.sensor, reading.celsius)


async def main() -> None:
    bootstrap_servers, registry_url = (*sys.argv[1:], "", "")[:2]
    async with EmbeddedBroker() as broker:
        with SchemaRegistryServer() as registry:
            await out_and_back(
                bootstrap_servers or broker.bootstrap_servers, registry_url or registry.url
            )


if __name__ == "__main__":
    asyncio.run(main())
