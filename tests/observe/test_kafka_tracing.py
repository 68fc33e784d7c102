"""Spans of producers, polls and handlers belong together, and tell what happened."""

import asyncio
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import ConsumerStoppedError, MessageSizeTooLargeError
from aiokafka_lite.observe.kafka_tracing import KafkaTracing
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.observe.traces import Traces, attributes_of, links_of, place_of
from tests.scenarios.consuming import consumer_of, embedded, fill

(P0,) = tps(0)


def tracing_of(traces: Traces, **options: Any) -> KafkaTracing:
    return KafkaTracing(traces.provider, traces.meters, **options)


async def test_a_trace_goes_from_the_producer_through_the_headers_to_the_work() -> None:
    traces = Traces()
    kafka = tracing_of(traces, group_id="g")
    async with embedded({"t": 1}) as broker:
        async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            with traces.tracer.start_as_current_span("request") as request:
                ack = await kafka.send(producer, "t", b"v", b"k", headers=[("a", b"b")])
            metadata = await ack
        async with consumer_of(broker, "t") as consumer:
            taken = await kafka.getmany(consumer, timeout_ms=1000)
            ((record,),) = taken.values()
            assert record.headers[0] == ("a", b"b")
            with kafka.process(record):
                pass
            assert await kafka.getmany(consumer, timeout_ms=0) == {}
    (sent,), (polled,), (processed,) = (
        traces.spans(name) for name in ("send t", "poll t", "process t")
    )
    assert sent.kind is SpanKind.PRODUCER
    assert sent.parent is not None
    assert sent.parent.span_id == request.get_span_context().span_id
    assert attributes_of(sent) == {
        "messaging.system": "kafka",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": "t",
        "messaging.destination.partition.id": "0",
        "messaging.kafka.message.key": "k",
        "messaging.kafka.offset": metadata.offset,
    }
    assert polled.kind is SpanKind.CLIENT
    assert links_of(polled) == [place_of(sent)]
    assert attributes_of(polled)["messaging.batch.message_count"] == 1
    assert processed.kind is SpanKind.CONSUMER
    assert processed.parent is not None
    assert (processed.parent.trace_id, processed.parent.span_id) == place_of(sent)
    assert attributes_of(processed)["messaging.consumer.group.name"] == "g"
    assert attributes_of(processed)["messaging.kafka.offset"] == 0


async def test_work_has_a_link_to_the_span_around_it() -> None:
    traces = Traces()
    kafka = tracing_of(traces)
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 1)
        async with consumer_of(broker, "t") as consumer:
            record = await consumer.getone()
    with traces.tracer.start_as_current_span("job"), kafka.process(record):
        pass
    (processed,), (job,) = traces.spans("process t"), traces.spans("job")
    assert processed.parent is None, "the record has no trace"
    assert links_of(processed) == [place_of(job)]


async def test_an_interceptor_gives_each_record_a_span_and_keeps_a_context_that_is_there() -> None:
    traces = Traces()
    kafka = tracing_of(traces)
    async with embedded({"t": 1}) as broker:
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, interceptors=[kafka]
        ) as producer:
            await (await producer.send_many("t", [b"1", b"2"]))
            await (await kafka.send(producer, "t", b"3"))
        async with consumer_of(broker, "t") as consumer:
            ((records),) = (await consumer.getmany(timeout_ms=1000)).values()
            with kafka.process(records):
                pass
    created = traces.spans("create t")
    (sent,) = traces.spans("send t")
    assert [span.kind for span in created] == [SpanKind.PRODUCER] * 2
    (processed,) = traces.spans("process t")
    assert links_of(processed) == [*map(place_of, created), place_of(sent)]


async def test_failures_are_in_their_spans() -> None:
    traces = Traces()
    kafka = tracing_of(traces)
    async with embedded() as broker:
        broker.create_topic("t", 1, configs={"max.message.bytes": "100"})
        async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            with pytest.raises(MessageSizeTooLargeError):
                await (await kafka.send(producer, "t", b"v" * 1000))
            with pytest.raises(TypeError):
                await kafka.send(producer, "t", 5)
        broker.create_topic("u", 1)
        fill(broker, tps(0, topic="u")[0], 1)
        consumer = consumer_of(broker, "u")
        async with consumer:
            record = await consumer.getone()
            with pytest.raises(ZeroDivisionError), kafka.process(record):
                1 / 0  # noqa: B018
        with pytest.raises(ConsumerStoppedError):
            await kafka.getmany(consumer)
    spans = *traces.spans("send t"), *traces.spans("process u"), *traces.spans("poll")
    assert [attributes_of(span)["error.type"] for span in spans] == [
        "MessageSizeTooLargeError",
        "SerializationError",
        "ZeroDivisionError",
        "ConsumerStoppedError",
    ]
    assert {span.status.status_code for span in spans} == {StatusCode.ERROR}
    points = traces.points()
    (worked,) = points["messaging.process.duration"]
    assert worked.attributes["error.type"] == "ZeroDivisionError"
    (polled,) = points["messaging.client.operation.duration"]
    assert polled.attributes["error.type"] == "ConsumerStoppedError"


async def test_a_cancelled_ack_ends_its_span_without_an_error() -> None:
    traces = Traces()
    async with (
        embedded({"t": 1}) as broker,
        AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, linger_ms=60_000, clock=FakeClock()
        ) as producer,
    ):
        ack = await tracing_of(traces).send(producer, "t", b"v")
        ack.cancel()
        await asyncio.sleep(0)
        (sent,) = traces.spans("send t")
        assert sent.status.status_code is StatusCode.UNSET
        await producer.flush()


async def test_the_durations_of_polls_and_work_are_recorded() -> None:
    traces = Traces()
    clock = FakeClock()
    kafka = tracing_of(traces, clock=clock)
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 1)
        async with consumer_of(broker, "t") as consumer:
            ((records),) = (await kafka.getmany(consumer, timeout_ms=1000)).values()
            with kafka.process(records):
                await clock.advance(3)
    points = traces.points()
    (polled,) = points["messaging.client.operation.duration"]
    assert (polled.count, polled.attributes["messaging.operation.name"]) == (1, "poll")
    (worked,) = points["messaging.process.duration"]
    assert worked.sum == 3
    assert worked.attributes["messaging.destination.name"] == "t"
    (span,) = traces.spans("poll t")
    assert span.start_time == int(clock.time() * 1e9) - 3_000_000_000
