"""OpenTelemetry: the spans of a producer and a consumer, and their attributes."""

import asyncio
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from opentelemetry.instrumentation.aiokafka import AIOKafkaInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

BOOTSTRAP, MARK = sys.argv[1:]


async def main() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    AIOKafkaInstrumentor().instrument(tracer_provider=provider)
    topic = f"ot-{MARK}"
    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP, client_id="shop") as producer:
        await producer.send_and_wait(topic, b"1", key=b"ann", partition=0)
        await (await producer.send(topic, b"2", key=b"bob"))
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=BOOTSTRAP, client_id="desk", auto_offset_reset="earliest"
    )
    async with consumer:
        first = await consumer.getone()
        found = await consumer.getmany(timeout_ms=3000)
        print(first.value, [record.value for records in found.values() for record in records])
    AIOKafkaInstrumentor().uninstrument()
    for span in exporter.get_finished_spans():
        attributes = {
            name: str(value).replace(MARK, "MARK").replace(BOOTSTRAP.split(":")[1], "PORT")
            for name, value in sorted((span.attributes or {}).items())
        }
        print(span.name.replace(MARK, "MARK"), span.kind.name, len(span.links), attributes)


asyncio.run(main())
