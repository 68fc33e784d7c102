"""What OpenTelemetry gets of clients: metrics with the names of the semantic conventions."""

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.observe.messaging_conventions import DURATIONS, exported_name
from aiokafka_lite.observe.opentelemetry import OpenTelemetryMetrics
from aiokafka_lite.observe.standard_set import STANDARD_SET
from tests.consumer.batches import tps
from tests.observe.traces import Traces
from tests.scenarios.consuming import consumer_of, embedded, fill

(P0,) = tps(0)


async def test_metrics_have_the_names_and_attributes_of_the_conventions() -> None:
    traces = Traces()
    observer = OpenTelemetryMetrics(traces.meters)
    async with embedded({"t": 1}) as broker:
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, client_id="p", observer=observer
        ) as producer:
            await producer.send_and_wait("t", b"value")
            (connections,) = traces.points()["kafka.client.connections"]
            assert connections.value >= 1
        async with consumer_of(
            broker, "t", group_id="g", client_id="c", observer=observer
        ) as consumer:
            await consumer.getone()
            await consumer.commit()
            points = traces.points()
    (sent,) = points["messaging.client.sent.messages"]
    assert sent.value == 1
    assert dict(sent.attributes) == {
        "messaging.system": "kafka",
        "messaging.client.id": "p",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
        "messaging.destination.name": "t",
    }
    (consumed,) = points["messaging.client.consumed.messages"]
    assert consumed.value == 1
    assert consumed.attributes["messaging.consumer.group.name"] == "g"
    operations = {
        point.attributes["messaging.operation.name"]: point
        for point in points["messaging.client.operation.duration"]
    }
    assert {name: point.count for name, point in operations.items()} == {"send": 1, "commit": 1}
    assert operations["send"].explicit_bounds == DURATIONS
    (lag,) = points["kafka.consumer.lag"]
    assert (lag.value, lag.attributes["messaging.destination.partition.id"]) == (0, "0")
    assert points.keys() <= {exported_name(metric) for metric in STANDARD_SET}
    assert "kafka.client.request" in points


async def test_records_that_were_given_up_count_as_sent_with_an_error() -> None:
    traces = Traces()
    async with embedded() as broker:
        broker.create_topic("t", 1, configs={"max.message.bytes": "100"})
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            observer=OpenTelemetryMetrics(traces.meters),
        ) as producer:
            ack = await producer.send("t", b"v" * 1000)
            await producer.flush()
            assert ack.exception() is not None
    points = traces.points()
    (sent,) = points["messaging.client.sent.messages"]
    assert (sent.value, sent.attributes["error.type"]) == (1, "MessageSizeTooLargeError")
    (failed,) = points["kafka.producer.failed_records"]
    assert failed.value == 1


async def test_gauges_of_a_closed_client_go_and_those_of_the_same_name_add_up() -> None:
    traces = Traces()
    observer = OpenTelemetryMetrics(traces.meters)
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 5)
        options = {"client_id": "c", "observer": observer}
        async with consumer_of(broker, "t", **options) as one:
            async with consumer_of(broker, "t", **options) as other:
                await one.getone()
                await other.getone()
                (lag,) = traces.points()["kafka.consumer.lag"]
                assert lag.value == 8
            (lag,) = traces.points()["kafka.consumer.lag"]
            assert lag.value == 4
        assert "kafka.consumer.lag" not in traces.points()


async def test_histograms_may_be_left_out() -> None:
    traces = Traces()
    async with (
        embedded({"t": 1}) as broker,
        AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            observer=OpenTelemetryMetrics(traces.meters, histograms=False),
        ) as producer,
    ):
        await producer.send_and_wait("t", b"value")
        points = traces.points()
    assert points["messaging.client.sent.messages"][0].value == 1
    assert points["kafka.producer.buffer_bytes"][0].value > 0
    names = {exported_name(metric) for metric in STANDARD_SET if metric.kind == "histogram"}
    assert not names & points.keys()
