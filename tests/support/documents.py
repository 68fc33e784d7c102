"""Reads the pages for users, and the Python programs on these pages, which the suite runs."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
ADMIN = ROOT / "docs" / "admin.md"
COMMAND_LINE = ROOT / "docs" / "command-line.md"
MOVING = ROOT / "docs" / "moving.md"
SCHEMAS = ROOT / "docs" / "schemas.md"
SPARK = ROOT / "docs" / "spark.md"
OBSERVABILITY = ROOT / "docs" / "observability.md"
SECURITY = ROOT / "docs" / "security.md"
RULES = ROOT / "docs" / "rules.md"
GUIDES = [*sorted((ROOT / "docs" / "guides").glob("*.md")), ROOT / "docs" / "keyed-workers.md"]


def python_blocks(page: Path) -> list[str]:
    """Return a page's Python blocks, with the line numbers of the page, for tracebacks."""
    text = page.read_text()
    return [
        "\n" * text.count("\n", 0, found.start(1)) + found[1]
        for found in re.finditer(r"```python\n(.*?)```", text, re.DOTALL)
    ]


def programs(page: Path) -> list[str]:
    """Return the blocks that run without Spark."""
    return [block for block in python_blocks(page) if "pyspark" not in block]
