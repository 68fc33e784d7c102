"""Files that options name are found where they are, and where Spark has put them."""

import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.options.local_files import local_file, spark_folder


def spark_with(folder: Path | Exception) -> Any:
    """Return a stand-in for PySpark, whose files are in the folder."""

    def root() -> str:
        if isinstance(folder, Exception):
            raise folder
        return str(folder)

    return SimpleNamespace(SparkFiles=SimpleNamespace(getRootDirectory=root))


@pytest.fixture
def distributed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of Spark's files, with ca.pem; the working directory is another folder."""
    folder, here = tmp_path / "files", tmp_path / "here"
    for each in (folder, here):
        each.mkdir()
    (folder / "ca.pem").write_text("distributed")
    monkeypatch.chdir(here)
    monkeypatch.setitem(sys.modules, "pyspark", spark_with(folder))
    return folder


def test_a_relative_path_is_looked_for_here_and_then_in_sparks_folder(distributed: Path) -> None:
    assert local_file("o", "ca.pem") == str(distributed / "ca.pem")
    assert local_file("o", "./ca.pem") == str(distributed / "ca.pem")
    Path("ca.pem").write_text("of the working directory")
    assert local_file("o", "ca.pem") == "ca.pem"
    absolute = str(distributed / "ca.pem")
    assert local_file("o", absolute) == absolute


@pytest.mark.parametrize("path", ["gone.pem", "/gone/gone.pem", "x" * 5000])
def test_a_missing_file_is_named_with_option_machine_and_remedy(
    distributed: Path, path: str
) -> None:
    with pytest.raises(KafkaConfigurationError) as raised:
        local_file("ssl.truststore.location", path)
    said = str(raised.value)
    assert f"ssl.truststore.location: the file {path!r} is not here" in said
    assert socket.gethostname() in said
    assert f"--files, spark.files or SparkContext.addFile, and name it {Path(path).name!r}" in said


def test_without_spark_there_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", spark_with(AssertionError()))
    assert spark_folder() is None
    monkeypatch.delitem(sys.modules, "pyspark")
    assert spark_folder() is None
