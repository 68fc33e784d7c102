"""The Python of the pages about Spark runs as it stands, in the session there is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.spark import register
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.releases import needs
from tests.support.documents import SPARK, python_blocks


@pytest.fixture
def run_page(spark: Any, tmp_path: Path) -> Iterator[Any]:
    """Runs blocks of a page like a notebook's: with a broker and a folder where they name one."""
    with EmbeddedBroker.threaded() as broker:
        places = {"localhost:9092": broker.bootstrap_servers, "/data/": f"{tmp_path}/"}

        def run(page: Path, blocks: list[str]) -> None:
            names: dict[str, Any] = {"__name__": "__main__"}
            for block in blocks:
                program = block
                for written, real in places.items():
                    program = program.replace(written, real)
                exec(compile(program, str(page), "exec"), names)

        yield run
    register(spark)  # a page may have done it in another way


def test_the_first_program_runs_alone(run_page: Any, capsys: pytest.CaptureFixture[str]) -> None:
    run_page(SPARK, python_blocks(SPARK)[:1])
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if line.startswith("|")][1:] == [
        f"|  {key}|  100|" for key in range(10)
    ]


@needs("StreamArrowWriter")
def test_the_manual_runs_from_top_to_bottom(run_page: Any) -> None:
    run_page(SPARK, python_blocks(SPARK)[1:])
