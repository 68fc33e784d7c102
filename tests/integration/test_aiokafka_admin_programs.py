"""Programs for aiokafka's admin client run by changing the import, and print the same."""

import asyncio
import contextlib
import io
from pathlib import Path
from typing import Any, Final

import pytest

PROGRAMS: Final = Path(__file__).parent / "aiokafka_programs"


def printed(program: str, package: str, servers: str, topic: str) -> list[str]:
    """What a program prints that imports this package."""
    source = (PROGRAMS / program).read_text().replace("from aiokafka", f"from {package}")
    names: dict[str, Any] = {"__name__": program}
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(source, program, "exec"), names)
        asyncio.run(names["main"](servers, topic))
    return output.getvalue().replace(f"{package}.", "").splitlines()


@pytest.mark.usefixtures("others_may_leak")
@pytest.mark.parametrize("program", sorted(each.name for each in PROGRAMS.glob("*.py")))
def test_a_program_prints_the_same(program: str, any_kafka: str, topic_name: str) -> None:
    # Older brokers delete a topic some time after they have said so, so each has its own.
    theirs = printed(program, "aiokafka", any_kafka, f"{topic_name}-a")
    assert len(theirs) > 5
    ours = printed(program, "aiokafka_lite", any_kafka, f"{topic_name}-b")
    assert [line.replace(f"{topic_name}-b", f"{topic_name}-a") for line in ours] == theirs
