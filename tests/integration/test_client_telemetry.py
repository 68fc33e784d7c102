"""Clients push their metrics to a real Kafka with a ClientTelemetry plugin (KIP-714).

A plugin of a few lines is compiled here. It reads each push by Kafka's own copy of OpenTelemetry's
protocol, and writes what it has understood into a file.
"""

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.admin import AIOKafkaAdminClient
from aiokafka_lite.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.compression.compressor import decompress
from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
)
from aiokafka_lite.protocol.messages.push_telemetry import PushTelemetryRequest
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.java_runtime import kafka_jars, tools_version
from aiokafka_lite.testing.kafka_node import run_java
from tests.conftest import require_jars, require_kafka
from tests.integration.test_java_tools import CONSOLE_CONSUMER
from tests.support.otlp import read_metrics
from tests.testing.broker.bench import WireClient

# What brokers understand is the subject; how it comes over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

VERSION = "4.4.0"
PLUGIN = """
import java.io.FileWriter;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryPayload;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.MetricsData;

public class PushedText implements MetricsReporter, ClientTelemetry, ClientTelemetryReceiver {
    private String file;
    public void configure(Map<String, ?> configs) { file = (String) configs.get("pushed.text"); }
    public void init(List<KafkaMetric> metrics) {}
    public void metricChange(KafkaMetric metric) {}
    public void metricRemoval(KafkaMetric metric) {}
    public void close() {}
    public ClientTelemetryReceiver clientReceiver() { return this; }
    public synchronized void exportMetrics(
            AuthorizableRequestContext context, ClientTelemetryPayload payload) {
        try (FileWriter out = new FileWriter(file, true)) {
            MetricsData data = MetricsData.parseFrom(payload.data().duplicate());
            out.write("push of " + context.clientId() + " " + payload.clientInstanceId()
                + " terminating=" + payload.isTerminating() + "\\n" + data + "\\n");
        } catch (Exception error) {
            throw new RuntimeException(error);
        }
    }
}
"""


@pytest.fixture
def pushed_text(tmp_path: Path) -> Path:
    """Where the plugin writes."""
    return tmp_path / "pushed.txt"


@pytest.fixture
def listening_kafka(tmp_path: Path, pushed_text: Path) -> Iterator[ApacheKafka]:
    """A real Kafka with the plugin."""
    compiler = shutil.which("javac")
    if compiler is None:
        pytest.skip("the plugin needs javac, of a JDK")
    require_kafka(VERSION)
    jars = f"{kafka_jars(VERSION)}/*"
    source = tmp_path / "PushedText.java"
    source.write_text(PLUGIN)
    subprocess.run([compiler, "-nowarn", "-cp", jars, str(source)], check=True, timeout=180)
    properties = {"metric.reporters": "PushedText", "pushed.text": str(pushed_text)}
    options = ("-cp", f"{jars}:{tmp_path}")
    with ApacheKafka(VERSION, properties=properties, java_options=options) as kafka:
        yield kafka


@pytest.mark.real_kafka
async def test_a_real_kafka_understands_what_is_pushed(
    listening_kafka: ApacheKafka, pushed_text: Path
) -> None:
    servers = listening_kafka.bootstrap_servers
    wanted = ConfigResource(
        ConfigResourceType.CLIENT_METRICS,
        "all",
        configs={"metrics": "org.apache.kafka.producer.", "interval.ms": "100"},
    )
    async with AIOKafkaAdminClient(bootstrap_servers=servers) as admin:
        await admin.incremental_alter_configs([wanted])
    async with await WireClient.connect(servers) as peer:
        while not (await peer.ask(GetTelemetrySubscriptionsRequest())).requested_metrics:
            continue  # a broker learns of settings a moment later
    producer = AIOKafkaProducer(bootstrap_servers=servers, client_id="mine")
    async with producer:
        await producer.send_and_wait("orders", b"1")
        await producer.client_instance_id()
        ends_s = SYSTEM_CLOCK.monotonic() + 60
        while not _text(pushed_text).count("push of mine"):
            assert SYSTEM_CLOCK.monotonic() < ends_s, "nothing was pushed"
            await SYSTEM_CLOCK.sleep(0.05)
    while "terminating=true" not in _text(pushed_text):
        assert SYSTEM_CLOCK.monotonic() < ends_s, "no last push came"
        await SYSTEM_CLOCK.sleep(0.05)
    text = _text(pushed_text)
    assert 'name: "org.apache.kafka.producer.record.send.total"' in text
    assert "aggregation_temporality: AGGREGATION_TEMPORALITY_DELTA" in text
    assert "is_monotonic: true" in text
    assert 'name: "aiokafka_lite"' in text
    assert 'key: "node_id"' in text
    assert "as_double" in text
    assert "time_unix_nano" in text


@pytest.mark.real_kafka
async def test_bytes_that_are_consumed_are_those_that_java_counts() -> None:
    """Records as they are encoded, without compression and the headers of batches."""
    require_jars(VERSION)
    codecs: dict[str, Any] = {"plain": None, "packed": "gzip", "mixed": "lz4"}
    async with EmbeddedBroker(client_telemetry=True) as broker:
        broker.cluster.client_metrics_settings["all"] = {
            "metrics": "org.apache.kafka.consumer.fetch.manager.",
            "interval.ms": "100",
        }
        servers: dict[str, Any] = {"bootstrap_servers": broker.bootstrap_servers}
        for topic, codec in codecs.items():
            broker.create_topic(topic)
            async with AIOKafkaProducer(**servers, compression_type=codec) as producer:
                for number in range(300):
                    key = None if number % 3 else b"%d" % number
                    headers = [("n", b"x" * number)] if number % 2 else []
                    value = b"value" * (number % 70)
                    await producer.send(topic, value, key, headers=headers)
                    if not number % 90:
                        await producer.flush()
        from_start: dict[str, Any] = {"auto_offset_reset": "earliest", "client_id": "ours"}
        async with AIOKafkaConsumer(*codecs, **servers, **from_start) as consumer:
            await consumer.client_instance_id()
            read = 0
            while read < 900:
                read += sum(map(len, (await consumer.getmany(timeout_ms=1000)).values()))
        ours = _consumed(broker)
        tool = (
            *("--bootstrap-server", broker.bootstrap_servers, "--include", "|".join(codecs)),
            *("--from-beginning", "--timeout-ms", "4000"),
        )
        await asyncio.to_thread(run_java, tools_version(VERSION), CONSOLE_CONSUMER, *tool)
        javas = _consumed(broker, is_javas=True)
    assert ours == javas
    assert set(ours) == {("bytes.consumed.total", each) for each in ("", *codecs)} | {
        ("fetch.size.max", each) for each in codecs
    }


def _consumed(broker: EmbeddedBroker, *, is_javas: bool = False) -> dict[tuple[str, str], float]:
    """Return (metric, topic) -> what one client has pushed: sums added up, and the greatest."""
    found: dict[tuple[str, str], float] = {}
    pushes = broker.requests_of(PushTelemetryRequest)
    for push in pushes:
        content = bytes(decompress(push.compression_type, push.metrics))
        pushed = read_metrics(content, is_javas=is_javas)
        for metric in ("bytes.consumed.total", "fetch.size.max"):
            name = f"org.apache.kafka.consumer.fetch.manager.{metric}"
            for point in pushed.points.get(name, ()):
                key = (metric, point.labels.get("topic", ""))
                if metric == "bytes.consumed.total":
                    found[key] = found.get(key, 0) + point.value
                elif key[1]:  # of a whole response: that depends on what is fetched together
                    found[key] = max(found.get(key, 0), point.value)
    broker.forget_requests()
    return found


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


async def test_a_real_kafka_without_plugin_is_left_in_peace(apache_kafka: ApacheKafka) -> None:
    servers = apache_kafka.bootstrap_servers
    async with AIOKafkaAdminClient(bootstrap_servers=servers) as admin:
        with pytest.raises(UnsupportedVersionError, match="takes metrics"):
            await admin.client_instance_id(30_000)
        assert "telemetry" not in {each.name for each in admin.client.owner.children}
        assert admin.is_healthy()
