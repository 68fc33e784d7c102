"""Packages that import aiokafka, and programs that use them as their users do."""

from dataclasses import dataclass
from typing import Final

AIOKAFKA: Final = "aiokafka==0.14.0"


@dataclass(frozen=True)
class Package:
    """A package in an environment of its own, and a program that runs on aiokafka and on compat."""

    name: str
    program: str
    requirements: tuple[str, ...]
    what: str
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


PACKAGES: Final = (
    Package(
        "FastStream 0.7.8",
        "faststream_uses.py",
        ("faststream[kafka]==0.7.8", "fastapi==0.165.0", "httpx"),
        "with and without a group, batches, a pattern, partitions, each `ack_policy`, replies, "
        "`TestKafkaBroker` with and without a broker, a FastAPI router",
    ),
    Package(
        "faststream-concurrent-aiokafka 0.7.2",
        "faststream_concurrent.py",
        ("faststream-concurrent-aiokafka==0.7.2", "faststream[kafka]==0.7.8"),
        "handlers side by side, commits in batches, a shutdown",
    ),
    Package(
        "taskiq-aio-kafka 1.0.0",
        "taskiq_tasks.py",
        ("taskiq-aio-kafka==1.0.0", "kafka-python==2.3.3"),
        "tasks and a worker without a group, kafka-python 2.3.3",
    ),
    Package(
        "taskiq-aio-kafka 1.0.0, with a group",
        "taskiq_tasks.py",
        ("taskiq-aio-kafka==1.0.0", "kafka-python==2.2.15"),
        "tasks and a worker of a group; aiokafka itself fails with kafka-python from 2.3 on",
        ("workers",),
    ),
    Package(
        "faust-streaming 0.15.3",
        "faust_app.py",
        ("faust-streaming==0.15.3",),
        "an agent, a table with its changelog, a timer, SIGTERM",
    ),
    Package(
        "kstreams 0.34.6",
        "kstreams_engine.py",
        ("kstreams==0.34.6",),
        "streams with and without a group, a commit by hand",
    ),
    Package(
        "amgi-aiokafka 0.49.0",
        "amgi_server.py",
        ("amgi-aiokafka==0.49.0", "amgi-types==0.49.0"),
        "a server with and without a group, replies, stored offsets",
    ),
    Package(
        "muffin-kafka 3.1.6",
        "muffin_app.py",
        ("muffin-kafka==3.1.6",),
        "handlers, an error handler, the monitor, `kafka-healthcheck`",
    ),
    Package(
        "hexkit 9.0.3",
        "hexkit_events.py",
        ("hexkit[akafka]==9.0.3",),
        "a publisher, a subscriber with retries, dead letters",
    ),
    Package(
        "repid 2.1.4",
        "repid_worker.py",
        ("repid[kafka]==2.1.4",),
        "messages and a worker, an actor that fails, SIGTERM",
    ),
    Package(
        "ktables 2.0.0",
        "ktables_tables.py",
        ("ktables==2.0.0",),
        "tables, tombstones, a barrier, grouped tables",
    ),
    Package(
        "kafkaesk 0.8.7",
        "kafkaesk_app.py",
        ("kafkaesk==0.8.7", "pydantic<2", "setuptools"),
        "a schema, a subscriber by pattern, the health of the producer",
    ),
    Package(
        "broadcaster 0.3.1",
        "broadcaster_channels.py",
        ("broadcaster[kafka]==0.3.1",),
        "two subscribers of a channel",
    ),
    Package(
        "ddtrace 4.16.0",
        "ddtrace_spans.py",
        ("ddtrace==4.16.0",),
        "`patch(aiokafka=True)`: spans of sends, reads and commits",
        environment=(("DD_TRACE_AGENT_URL", "http://127.0.0.1:9"), ("DD_TRACE_ENABLED", "true")),
    ),
    Package(
        "ddtrace 4.16.0, with data streams",
        "ddtrace_spans.py",
        ("ddtrace==4.16.0",),
        "the same with `DD_DATA_STREAMS_ENABLED`",
        environment=(
            ("DD_TRACE_AGENT_URL", "http://127.0.0.1:9"),
            ("DD_DATA_STREAMS_ENABLED", "true"),
        ),
    ),
    Package(
        "opentelemetry-instrumentation-aiokafka 0.66b1",
        "opentelemetry_spans.py",
        ("opentelemetry-instrumentation-aiokafka==0.66b1", "opentelemetry-sdk==1.45.1"),
        "spans of `send`, `getone`, `getmany`, with all attributes",
    ),
    Package(
        "aiokafka-foundation-kit 0.2.0",
        "foundation_kit.py",
        ("aiokafka-foundation-kit[models]==0.2.0",),
        "topics made, JSON, life cycles, the health check",
    ),
    Package(
        "streamgate 3.2.0",
        "streamgate_import.py",
        ("streamgate==3.2.0",),
        "its modules for Kafka import",
    ),
    Package(
        "patchwork-client-kafka 4.0.0",
        "patchwork_queue.py",
        ("patchwork-client-kafka==4.0.0",),
        "its publisher and subscriber import",
    ),
)

__all__ = ["AIOKAFKA", "PACKAGES", "Package"]
