"""The zips of PySpark: left out where the same release is installed, or given byte code."""

import importlib.util
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from aiokafka_lite.spark.process.pyspark_zips import (
    add_byte_code,
    release_of,
    spark_home,
    write_interpreter,
    zips_of,
)
from tests.conftest import require_spark


def make_home(folder: Path, release: str) -> Path:
    lib = folder / "python" / "lib"
    lib.mkdir(parents=True)
    with zipfile.ZipFile(lib / "pyspark.zip", "w") as made:
        made.writestr("pyspark/__init__.py", "")
        made.writestr("pyspark/version.py", f'__version__: str = "{release}"\n')
        made.writestr("pyspark/later.py", "syntax of another release of Python =\n")
        made.writestr("pyspark/notes.txt", "no source")
    with zipfile.ZipFile(lib / "py4j-1.0-src.zip", "w") as made:
        made.writestr("py4j/__init__.py", "")
    return folder


def installed_release() -> str:
    require_spark()
    import pyspark

    return str(pyspark.__version__)


def path_seen(python: Path, *entries: str) -> list[str]:
    done = subprocess.run(
        [str(python), "-c", "import os, sys; print(os.environ['PYTHONPATH'], sys.executable)"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(entries)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    seen, executable = done.stdout.rstrip("\n").split(" ", 1)
    assert executable == sys.executable
    return seen.split(os.pathsep)


def test_the_interpreter_leaves_out_these_zips_and_nothing_else(tmp_path: Path) -> None:
    home = make_home(tmp_path / "spark", installed_release())
    made = write_interpreter(tmp_path, home)
    assert made is not None
    pyspark, py4j = map(str, zips_of(home))
    kept = [str(tmp_path / "mine.zip"), str(tmp_path / "*"), str(tmp_path / "lib" / "pyspark.zip")]
    assert path_seen(made, pyspark, kept[0], py4j, *kept[1:]) == kept


def test_the_zips_of_an_installed_pyspark_say_their_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    release = installed_release()
    home = spark_home()
    assert home is not None
    assert [release_of(each) for each in zips_of(home)] == [release, None]
    assert write_interpreter(tmp_path, home) is not None


@pytest.mark.skipif(os.name != "posix", reason="elsewhere there is no shell to write it for")
def test_zips_of_another_release_are_needed(tmp_path: Path) -> None:
    require_spark()
    assert write_interpreter(tmp_path, make_home(tmp_path / "other", "0.1")) is None
    assert write_interpreter(tmp_path, tmp_path / "nothing") is None
    assert write_interpreter(tmp_path, None) is None
    (tmp_path / "python" / "lib").mkdir(parents=True)
    (tmp_path / "python" / "lib" / "pyspark.zip").write_bytes(b"no zip")
    assert write_interpreter(tmp_path, tmp_path) is None


def test_byte_code_is_added_once_and_used_without_a_look_at_the_source(tmp_path: Path) -> None:
    zipped, _ = zips_of(make_home(tmp_path, "1.2.3"))
    zipped.chmod(0o640)
    assert add_byte_code(zipped) == 2
    assert add_byte_code(zipped) == 0
    assert zipped.stat().st_mode & 0o777 == 0o640
    assert release_of(zipped) == "1.2.3"
    with zipfile.ZipFile(zipped) as archive:
        names = archive.namelist()
        assert archive.read("pyspark/notes.txt") == b"no source"
    assert "pyspark/version.pyc" in names
    assert "pyspark/later.pyc" not in names
    said = "import pyspark.version as v; print(v.__cached__ or v.__file__, v.__version__)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", said],
        env={"PYTHONPATH": str(zipped)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == [f"{zipped}/pyspark/version.pyc", "1.2.3"]


def test_byte_code_of_another_python_is_replaced(tmp_path: Path) -> None:
    zipped, _ = zips_of(make_home(tmp_path, "1.2.3"))
    add_byte_code(zipped)
    with zipfile.ZipFile(zipped) as archive:
        others = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(zipped, "w") as made:
        for name, data in others.items():
            made.writestr(name, b"old!" + data[4:] if name.endswith(".pyc") else data)
    assert add_byte_code(zipped) == 2
    with zipfile.ZipFile(zipped) as archive:
        assert len(archive.namelist()) == len(set(archive.namelist()))
        assert archive.read("pyspark/version.pyc")[:4] == importlib.util.MAGIC_NUMBER


def test_a_zip_that_cannot_be_written_stays_as_it_was(tmp_path: Path) -> None:
    zipped, _ = zips_of(make_home(tmp_path, "1.2.3"))
    before = zipped.read_bytes()
    blocked = zipped.with_name(f".{zipped.name}.{os.getpid()}")
    blocked.mkdir()
    with pytest.raises(OSError, match=r"directory|denied"):
        add_byte_code(zipped)
    assert zipped.read_bytes() == before


def test_a_process_has_one_thread_of_openblas_unless_spark_or_the_user_says_more(
    tmp_path: Path,
) -> None:
    made = write_interpreter(tmp_path, make_home(tmp_path / "spark", installed_release()))
    assert made is not None
    usual = {name: text for name, text in os.environ.items() if "_NUM_THREADS" not in name}
    show = "import os; print(os.environ['OPENBLAS_NUM_THREADS'])"
    for given, expected in (
        ({}, "1"),
        ({"OMP_NUM_THREADS": "3"}, "3"),  # Spark's, by spark.task.cpus
        ({"OMP_NUM_THREADS": "3", "OPENBLAS_NUM_THREADS": "2"}, "2"),
    ):
        done = subprocess.run(
            [str(made), "-c", show],
            env={**usual, **given},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stdout.strip() == expected
