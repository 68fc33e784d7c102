"""Reads the pages for users, and the Python programs in them, which the suite runs."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
SPARK = ROOT / "docs" / "spark.md"
RULES = ROOT / "docs" / "rules.md"


def python_blocks(page: Path) -> list[str]:
    """The Python blocks of a page, each moved down to its own lines, for tracebacks."""
    text = page.read_text()
    return [
        "\n" * text.count("\n", 0, found.start(1)) + found[1]
        for found in re.finditer(r"```python\n(.*?)```", text, re.DOTALL)
    ]


def programs(page: Path) -> list[str]:
    """The blocks that run without Spark."""
    return [block for block in python_blocks(page) if "pyspark" not in block]
