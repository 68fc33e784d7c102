"""The README's program with Spark runs as it stands, in the session there is."""

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parents[2] / "README.md"


def test_the_program_of_the_readme_runs(spark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (program,) = [block for block in blocks if "pyspark" in block]
    exec(compile(program, str(README), "exec"), {})
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if line.startswith("|")][1:] == [
        f"|  {key}|  100|" for key in range(10)
    ]
