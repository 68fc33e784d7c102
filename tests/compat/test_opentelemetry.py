"""OpenTelemetry's instrumentation for aiokafka traces this package, on the embedded broker."""

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.compat.run_program import run_on_this_package


def test_records_are_traced_from_the_producer_to_the_consumer() -> None:
    pytest.importorskip("opentelemetry.instrumentation.aiokafka")
    with EmbeddedBroker.threaded() as broker:
        assert (
            run_on_this_package("opentelemetry_program.py", broker.bootstrap_servers) == "traced\n"
        )
