"""Serves the metrics of a job's stream to Prometheus while it runs (the extra `prometheus`).

The server is a thread of this process. It has what `StreamMetrics` collects.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.jobs.job import Progress
from aiokafka_lite.spark.jobs.job_config import JobConfig
from aiokafka_lite.spark.jobs.stream.topic_config import StreamConfig


@contextmanager
def metrics_served(spark: Any, config: JobConfig, progress: Progress) -> Iterator[None]:
    """Serve metrics during the block, if the config has a port for them.

    The progress tells the address. Raises: KafkaConfigurationError if it cannot be served.
    """
    if not isinstance(config, StreamConfig) or config.metrics_port is None:
        yield
        return
    try:
        from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415

        from aiokafka_lite.spark.prometheus import StreamMetrics  # noqa: PLC0415
    except ImportError as error:
        raise KafkaConfigurationError(
            "metrics_port needs prometheus-client: pip install 'aiokafka-lite[prometheus]'"
            f" ({error})"
        ) from error
    # PySpark, and only for those who ask for metrics.
    from aiokafka_lite.spark.listener import LagReporter  # noqa: PLC0415

    registry = CollectorRegistry()
    reporter = LagReporter(StreamMetrics(registry))
    host, port = config.metrics_host, config.metrics_port
    try:
        server, thread = start_http_server(port, addr=host, registry=registry)
    except OSError as error:
        raise KafkaConfigurationError(
            f"metrics cannot be served at metrics_host={host!r}, metrics_port={port}: {error};"
            " choose others, or metrics_port=0 for any free port"
        ) from error
    try:
        progress.note(f"metrics at http://{host}:{server.server_port}/metrics")
        spark.streams.addListener(reporter)
        try:
            yield
        finally:
            spark.streams.removeListener(reporter)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


__all__ = ["metrics_served"]
