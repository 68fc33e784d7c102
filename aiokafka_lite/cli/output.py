"""Output: tables and progress bars on a terminal, plain lines and JSON for programs."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table


class OutputFormat(StrEnum):
    """`--output`: a table for people or JSON for programs."""

    TABLE = "table"
    JSON = "json"


class Digits(int):
    """A number that is never shown in groups of digits: an id, an offset, a time in ms."""


def show(
    output: OutputFormat, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
) -> None:
    """Print rows on stdout: a table at a terminal, plain columns for other programs, or JSON.

    JSON is one array of objects, named by the columns. Numbers stay numbers there, None is null,
    and a cell of several values is an array.
    """
    if output is OutputFormat.JSON:
        named = [dict(zip(columns, row, strict=True)) for row in rows]
        sys.stdout.write(json.dumps(named, indent=2) + "\n")
        return
    console = Console()
    if not console.is_terminal:
        sys.stdout.write(plain_columns(columns, rows))
        return
    console.print(table_of(title, columns, rows))


def table_of(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return a table for people: the digits of numbers are in groups."""
    table = Table(title=title, title_justify="left")
    numbers = rows[0] if rows else [""] * len(columns)
    for column, example in zip(columns, numbers, strict=True):
        is_quantity = isinstance(example, int | float) and not isinstance(example, Digits)
        table.add_column(column, justify="right" if is_quantity else "left")
    for row in rows:
        table.add_row(*(_grouped(cell) for cell in row))
    return table


def plain_columns(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a line of names and a line for each row, aligned by spaces. An empty cell is "-", as
    None is.

    Numbers have digits only, so that `awk` and `cut` read them.
    """
    lines = [[name.upper() for name in columns]]
    lines += [[_text(cell) or "-" for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines
    ]
    return "".join("  ".join(line).rstrip() + "\n" for line in padded)


def _grouped(cell: object) -> str:
    if isinstance(cell, int) and not isinstance(cell, Digits):
        return f"{cell:,}"
    return _text(cell)


def _text(cell: object) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, list):
        return " ".join(map(str, cell))
    return str(cell)


def complain(message: str) -> None:
    """Print an error on stderr, in one paragraph."""
    typer.echo(f"error: {message}", err=True)  # a stderr that is closed is passed over


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 record", "2 records"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def warn(message: str) -> None:
    """Print on stderr what the command goes on without."""
    typer.echo(f"warning: {message}", err=True)


@contextmanager
def flushed_stdout() -> Iterator[None]:
    """Write what was printed before the command ends. What cannot be written is dropped, because
    the interpreter would try again at its end.

    Raises: OSError if stdout cannot be written, or is closed.
    """
    if sys.stdout is None:
        raise OSError("standard output is closed; redirect it to /dev/null to drop what it gets")
    try:
        yield
        sys.stdout.flush()
    except BaseException:
        try:
            sys.stdout.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        raise


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


__all__ = [
    "Digits",
    "OutputFormat",
    "TwoBars",
    "complain",
    "counted",
    "flushed_stdout",
    "plain_columns",
    "show",
    "table_of",
    "warn",
]
