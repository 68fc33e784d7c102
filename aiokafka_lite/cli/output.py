"""Output: tables and progress bars on a terminal, plain lines and JSON for programs."""

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table


class OutputFormat(StrEnum):
    """`--output`: a table for people or JSON for programs."""

    TABLE = "table"
    JSON = "json"


def show(
    output: OutputFormat, title: str, columns: Sequence[str], rows: list[Sequence[Any]]
) -> None:
    """Print rows on stdout, as a table or as one JSON array of objects named by the columns."""
    if output is OutputFormat.JSON:
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        sys.stdout.write(json.dumps(named, indent=2) + "\n")
        return
    table = Table(title=title, title_justify="left")
    numbers = rows[0] if rows else [""] * len(columns)
    for column, example in zip(columns, numbers, strict=True):
        table.add_column(column, justify="right" if isinstance(example, int | float) else "left")
    for row in rows:
        table.add_row(*(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row))
    Console().print(table)


def complain(message: str) -> None:
    """Print an error on stderr, in one paragraph."""
    sys.stderr.write(f"error: {message}\n")


class TwoBars:
    """Progress bars on stderr, "produced" and "consumed"; silent without a terminal."""

    def __init__(self, total: int | None) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description:>9}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._produced = self._progress.add_task("produced", total=total)
        self._consumed = self._progress.add_task("consumed", total=total)

    def produced(self, records: int) -> None:
        self._progress.update(self._produced, completed=records)

    def consumed(self, records: int) -> None:
        self._progress.update(self._consumed, completed=records)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()


__all__ = ["OutputFormat", "TwoBars", "complain", "show"]
