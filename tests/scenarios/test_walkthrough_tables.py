"""The two walkthrough tables of the specification, exactly, on every broker; and the example that
prints them.
"""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "walkthrough_tables.py"

ALL_TEN = "P0 P1 P2 P3 P4 P5 P6 P7 P8 P9"

# Queue order (A8), table 1: poll, returned, buffered afterwards, free before the poll.
TABLE_1 = [
    *(
        (str(poll), f"P0 [{(poll - 1) * 100},{poll * 100})", ALL_TEN, "none")
        for poll in range(1, 10)
    ),
    ("10", "P0 [900,1000)", "P1 P2 P3 P4 P5 P6 P7 P8 P9", "none"),
    ("11", "P1 [0,100)", "P1 P2 P3 P4 P5 P6 P7 P8 P9 P0", "P0"),
]

# Queue order (A8), table 2: poll, free to fetch, the broker answers with, returned, queue after.
TABLE_2 = [
    ("1", "P0 P1 P2", "P0: 0-3", "P0: 0,1", "P0 P1 P2"),
    ("2", "P1 P2", "P1: 0-3", "P0: 2,3", "P1 P2 P0"),
    ("3", "P0 P2", "P2: 0-3", "P1: 0,1", "P1 P2 P0"),
    ("4", "P0", "P0: 4-7", "P1: 2,3", "P2 P0 P1"),
    ("5", "P1", "P1: 4-7", "P2: 0,1", "P2 P0 P1"),
    ("6", "none", "–", "P2: 2,3", "P0 P1 P2"),  # noqa: RUF001 - the dash of the specification
    ("7", "P2", "P2: 4-7", "P0: 4,5", "P0 P1 P2"),
    ("8", "none", "–", "P0: 6,7", "P1 P2 P0"),  # noqa: RUF001 - the dash of the specification
]


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE))


async def test_table_1_ten_partitions_already_fetched(
    any_kafka: str, topic_name: str, example: dict[str, Any]
) -> None:
    assert await example["table_1"](any_kafka, topic_name) == TABLE_1


async def test_table_2_one_batch_per_answer(
    any_kafka: str, topic_name: str, example: dict[str, Any]
) -> None:
    assert await example["table_2"](any_kafka, topic_name) == TABLE_2


def test_the_example_prints_both_tables(kafka_bootstrap: str) -> None:
    for arguments in ([], [kafka_bootstrap]):
        printed = subprocess.run(
            [sys.executable, EXAMPLE, *arguments],
            check=True,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
        ).stdout
        rows = [
            tuple(cell.strip() for cell in line.split("|"))
            for line in printed.splitlines()
            if line[:1].isdigit()
        ]
        assert rows == TABLE_1 + TABLE_2
