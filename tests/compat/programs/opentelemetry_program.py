"""A traced producer and consumer: OpenTelemetry's instrumentation for aiokafka, as users start it.

`python -m aiokafka_lite.compat opentelemetry_program.py BOOTSTRAP` prints "traced".
"""

import asyncio
import sys
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from opentelemetry.instrumentation.aiokafka import AIOKafkaInstrumentor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind

TOPIC = "otel-orders"


async def send_three(bootstrap: str) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, client_id="shop") as producer:
        await producer.send_and_wait(TOPIC, b"1", key=b"ann", partition=0)
        await producer.send_and_wait(TOPIC, b"2", partition=0, headers=[("mine", b"x")])
        await (await producer.send(TOPIC, b"3", partition=0))


async def read_three(bootstrap: str) -> list[tuple[bytes | None, dict[str, bytes]]]:
    """By `getone`, `async for` and `getmany`."""
    consumer = AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=bootstrap,
        client_id="desk",
        group_id="billing",
        auto_offset_reset="earliest",
        max_poll_records=1,
    )
    async with consumer, asyncio.timeout(30):
        records = [await consumer.getone()]
        async for record in consumer:
            records.append(record)
            break
        while len(records) < 3:
            for found in (await consumer.getmany(timeout_ms=1000)).values():
                records += found
    return [(record.value, dict(record.headers)) for record in records]


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def main(bootstrap: str) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    hooked: list[str] = []

    async def on_consume(span: Any, record: Any, args: Any, kwargs: Any) -> None:
        hooked.append(f"{record.topic}@{record.offset}")

    instrumentor = AIOKafkaInstrumentor()
    instrumentor.instrument(tracer_provider=provider, async_consume_hook=on_consume)
    await send_three(bootstrap)
    read = await read_three(bootstrap)
    instrumentor.uninstrument()

    assert [value for value, _ in read] == [b"1", b"2", b"3"]
    assert all("traceparent" in headers for _, headers in read)
    assert read[1][1]["mine"] == b"x"
    spans = exporter.get_finished_spans()
    sent = [span for span in spans if span.kind is SpanKind.PRODUCER]
    assert [span.name for span in sent] == [f"{TOPIC} send"] * 3
    assert attributes(sent[0])["messaging.client.id"] == "shop"
    assert attributes(sent[0])["messaging.destination.partition.id"] == "0"
    assert attributes(sent[0])["messaging.kafka.message.key"] == "ann"
    received = [span for span in spans if "messaging.kafka.message.offset" in attributes(span)]
    assert [attributes(span)["messaging.kafka.message.offset"] for span in received] == [0, 1, 2]
    for span in received:
        assert attributes(span)["messaging.consumer.group.name"] == "billing"
        assert attributes(span)["messaging.client.id"] == "desk"
    # Each record is received in the trace in which it was sent, or linked to it.
    traces = {span.context.trace_id for span in sent if span.context is not None}
    for span in received:
        linked = {link.context.trace_id for link in span.links}
        assert span.context is not None
        assert traces & ({span.context.trace_id} | linked)
    assert hooked == [f"{TOPIC}@0", f"{TOPIC}@1", f"{TOPIC}@2"]

    await send_three(bootstrap)  # no longer traced
    assert len(exporter.get_finished_spans()) == len(spans)
    print("traced")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
