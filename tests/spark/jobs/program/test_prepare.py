"""The command `prepare`."""

import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from aiokafka_lite.spark.jobs.program import job_command


@pytest.fixture
def zipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lib = tmp_path / "python" / "lib"
    lib.mkdir(parents=True)
    with zipfile.ZipFile(lib / "pyspark.zip", "w") as made:
        made.writestr("pyspark/__init__.py", "")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    return lib / "pyspark.zip"


def test_it_names_the_zips_and_what_was_added(zipped: Path) -> None:
    shown = CliRunner().invoke(job_command.app, ["prepare"])
    assert (shown.exit_code, shown.output) == (0, f"{zipped}: byte code of 1 files is added\n")
    assert "pyspark/__init__.pyc" in zipfile.ZipFile(zipped).namelist()


def test_what_it_cannot_do_is_told_with_its_remedy(zipped: Path) -> None:
    zipped.write_bytes(b"no zip")
    shown = CliRunner().invoke(job_command.app, ["prepare"])
    assert shown.exit_code == 1
    assert f"{zipped}: File is not a zip file" in shown.output
    zipped.unlink()
    shown = CliRunner().invoke(job_command.app, ["prepare"])
    assert shown.exit_code == 1
    assert "install it, or set SPARK_HOME" in shown.output


def test_it_takes_no_options() -> None:
    shown = CliRunner().invoke(job_command.app, ["prepare", "--dry-run"])
    assert (shown.exit_code, shown.output) == (2, "prepare takes no options: leave them out\n")
