"""Programs as aiokafka shows them run by changing the import, and unchanged by `compat`."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.compat.run_program import PROGRAMS, run, run_on_this_package

NAME = "aiokafka_examples.py"
EXAMPLES = (
    "simple_produce",
    "simple_consume",
    "batch_produce",
    "idempotent_produce",
    "transactional_produce",
    "local_state_consumer",
    "ssl_consume_produce",
)


def by_the_import(folder: Path, *arguments: str) -> str:
    """Run the programs with `aiokafka_lite` in their imports in place of `aiokafka`."""
    program = folder / NAME
    source = (PROGRAMS / NAME).read_text()
    program.write_text(re.sub(r"^from aiokafka\b", "from aiokafka_lite", source, flags=re.M))
    return run(str(program), *arguments)


def unchanged(folder: Path, *arguments: str) -> str:
    return run_on_this_package(NAME, *arguments)


@pytest.fixture(scope="module", params=[by_the_import, unchanged])
def said(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """What the programs have printed, one process for all of them."""
    folder = tmp_path_factory.mktemp("examples")
    with (
        EmbeddedBroker.threaded(num_partitions=3) as broker,
        EmbeddedBroker.threaded(security="SSL") as secured,
    ):
        ca_file = folder / "ca.pem"
        ca_file.write_text(secured.ca_pem)
        addresses = (broker.bootstrap_servers, secured.bootstrap_servers)
        yield request.param(folder, *addresses, str(ca_file), str(folder))


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_program_runs(said: str, example: str) -> None:
    assert f"{example} ran\n" in said, said


@pytest.mark.real_kafka
@pytest.mark.soak
def test_the_programs_run_on_a_real_kafka(apache_kafka: ApacheKafka, tmp_path: Path) -> None:
    with EmbeddedBroker.threaded(security="SSL") as secured:
        ca_file = tmp_path / "ca.pem"
        ca_file.write_text(secured.ca_pem)
        addresses = (apache_kafka.bootstrap_servers, secured.bootstrap_servers)
        said = by_the_import(tmp_path, *addresses, str(ca_file), str(tmp_path))
    assert all(f"{example} ran\n" in said for example in EXAMPLES), said
