"""FastStream's programs run on this package, on the embedded broker and a real Kafka."""

import pytest

from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.compat.run_program import run_on_this_package

PROGRAMS = ("middleware", "batches", "asyncapi", "ping", "acknowledgements", "in_memory")


@pytest.fixture(scope="module")
def said() -> str:
    """What the programs have printed; one process for all, because imports cost the most."""
    pytest.importorskip("faststream")
    with EmbeddedBroker.threaded() as broker:
        return run_on_this_package("faststream_programs.py", broker.bootstrap_servers)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_runs(said: str, program: str) -> None:
    assert f"{program} ran\n" in said, said


@pytest.mark.real_kafka
@pytest.mark.soak
def test_the_programs_run_on_a_real_kafka(apache_kafka: ApacheKafka) -> None:
    pytest.importorskip("faststream")
    pytest.importorskip("opentelemetry.instrumentation.aiokafka")
    address = apache_kafka.bootstrap_servers
    said = run_on_this_package("faststream_programs.py", address)
    assert all(f"{program} ran\n" in said for program in PROGRAMS), said
    traced = run_on_this_package("opentelemetry_program.py", address).splitlines()
    # A node that has just started may still read its state. The producer says that it asks again.
    assert [line for line in traced if "no producer id yet" not in line] == ["traced"]
