"""Finds the columns of records that a user's SQL may use, so that others are not read.

PySpark tells a source nothing of the columns that a query uses. A column counts as used if its name
occurs as a word. Texts that may use columns without their names get all columns. Does not wait.
"""

import re
from typing import Final

from aiokafka_lite.spark.read.arrow import COLUMNS

_COUNTS_ROWS: Final = re.compile(r"\bcount\s*\(\s*\*\s*\)", re.IGNORECASE)
_USES_ALL: Final = re.compile(
    r"\*|\|>|\b(natural|pivot|unpivot|table|transform|record(?!\s*\.))\b", re.IGNORECASE
)
"""What may use a column without its name: stars, pipes, joins, tables, and a record as a whole."""
_LEAST: Final = "offset"
"""Read for a query of no column, such as a count. Its numbers are needed in any case."""


def columns_used(*texts: str) -> tuple[str, ...]:
    """Return the columns that SQL texts may use, in the source's order; at least one."""
    text = _COUNTS_ROWS.sub("", " ".join(texts))
    if _USES_ALL.search(text):
        return tuple(COLUMNS)
    words = {word.lower() for word in re.findall(r"\w+", text)}
    return tuple(name for name in COLUMNS if name.lower() in words) or (_LEAST,)


__all__ = ["columns_used"]
