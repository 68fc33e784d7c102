"""The package on its way to Spark's processes: unpickled here by a Python that lacks it."""

import ast
import base64
import io
import json
import lzma
import os
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aiokafka_lite.broker_errors import for_code
from aiokafka_lite.spark.process import cargo
from tests.conftest import require_spark
from tests.spark.support.other_workers import without_the_package
from tests.support.documents import ROOT

ARRIVES = """
import base64, json, pickle, sys
def arrive(packed):
    made = pickle.loads(base64.b64decode(packed))
    module = sys.modules[made.__module__]
    return made.__qualname__, module.__file__, id(module.__loader__)
print(json.dumps([arrive(each) for each in json.loads(sys.stdin.read())]))
"""


def arrive(python: Path, *packed: bytes, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-c", ARRIVES],
        input=json.dumps([base64.b64encode(each).decode() for each in packed]),
        capture_output=True,
        text=True,
        cwd=python.parent,
        env={**os.environ, "PYTHONPATH": "", **environment},
        timeout=60,
        check=False,
    )


def sent(archive: bytes | tuple[str, str] | None) -> bytes:
    """What Spark's processes get for a class of the package that needs other modules of it."""
    require_spark()
    from pyspark import cloudpickle

    from aiokafka_lite.consumer.consumer import AIOKafkaConsumer

    packed: bytes = cloudpickle.dumps(cargo.TravellingClass(AIOKafkaConsumer, archive))
    return packed


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return without_the_package(tmp_path_factory.mktemp("bare"))


def unpacked() -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(lzma.decompress(cargo.sources())))


def test_the_archive_has_the_sources_without_what_no_worker_imports() -> None:
    names = unpacked().namelist()
    assert {"aiokafka_lite/__init__.py", "aiokafka_lite/spark/source.py"} <= set(names)
    assert all(name.endswith(".py") for name in names)
    assert not [name for name in names if name.split("/")[1] in ("testing", "cli", "share")]
    assert not [name for name in names if name.startswith("aiokafka_lite/spark/jobs/")]


def test_an_object_carries_the_package_once_and_two_stay_below_sparks_warning() -> None:
    """A task may have a reader and a writer. Spark warns of 1000 KiB: TASK_SIZE_TO_WARN_KIB."""
    packed = sent(cargo.sources())
    assert len(packed) < 500_000
    assert packed.count(cargo.sources()[:1000]) == 1


def test_all_that_carried_modules_import_is_carried_too() -> None:
    archive = unpacked()
    names = set(archive.namelist())

    def is_lacking(module: str) -> bool:
        path = module.replace(".", "/")
        here = (ROOT / f"{path}.py").exists() or (ROOT / path / "__init__.py").exists()
        return here and not names & {f"{path}.py", f"{path}/__init__.py"}

    lacking = {
        (name, module)
        for name in names
        for module in imported(ast.parse(archive.read(name)))
        if is_lacking(module)
    }
    assert lacking == set()


def imported(of: ast.AST) -> Iterator[str]:
    """The modules of the package that run-time code imports, also within functions."""
    for each in ast.iter_child_nodes(of):
        if isinstance(each, ast.If) and "TYPE_CHECKING" in ast.unparse(each.test):
            continue
        if isinstance(each, ast.ImportFrom) and each.module is not None:
            yield each.module
            yield from (f"{each.module}.{name.name}" for name in each.names)
        yield from imported(each)


def test_a_part_that_stays_says_so_where_it_is_missed() -> None:
    carried = cargo.Sources("aiokafka_lite", cargo.sources())
    for part in ("aiokafka_lite.share", "aiokafka_lite.spark.jobs"):
        with pytest.raises(ModuleNotFoundError, match=f"{part} does not travel .* install"):
            carried.find_spec(part)
    assert carried.find_spec("aiokafka_lite.net._no_such_leaf") is None


def test_equal_sources_make_equal_archives() -> None:
    assert cargo.sources.__wrapped__() == cargo.sources()


def test_a_process_without_the_package_imports_what_was_sent_along(python: Path) -> None:
    done = arrive(python, sent(cargo.sources()))
    assert done.returncode == 0, done.stderr
    ((name, file, _),) = json.loads(done.stdout)
    assert name == "AIOKafkaConsumer"
    assert file == "<carried>/aiokafka_lite/consumer/consumer.py"


def test_a_process_without_the_package_says_what_to_do(python: Path) -> None:
    done = arrive(python, sent(None))
    assert "cannot import aiokafka_lite: install it there; or let PYSPARK_PYTHON" in done.stderr
    assert "register(spark, by_value=True)" in done.stderr


def test_what_arrives_last_is_what_a_process_has(python: Path) -> None:
    """A notebook's driver may have another version than the one before it, on the same workers."""
    changed = io.BytesIO(lzma.decompress(cargo.sources()))
    with zipfile.ZipFile(changed, "a") as archive:
        archive.writestr("aiokafka_lite/of_another_version.py", "")
    newer = lzma.compress(changed.getvalue(), preset=0)
    done = arrive(python, sent(cargo.sources()), sent(newer), sent(newer))
    assert done.returncode == 0, done.stderr
    first, second, third = (number for _, _, number in json.loads(done.stdout))
    assert first != second == third


def test_what_is_installed_is_used_again_when_nothing_is_sent_along() -> None:
    done = arrive(Path(sys.executable), sent(cargo.sources()), sent(None), PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    files = [Path(file) for _, file, _ in json.loads(done.stdout)]
    assert [file.exists() for file in files] == [False, True]


def test_where_it_is_installed_nothing_is_brought(python: Path) -> None:
    kind = pickle.loads(sent(None))
    assert kind.__name__ == "AIOKafkaConsumer"
    assert cargo.brought() is None


def test_what_does_not_come_along_is_named(tmp_path: Path) -> None:
    bare = without_the_package(tmp_path)
    (tmp_path / "installed" / "anyio").unlink()
    done = arrive(bare, sent(cargo.sources()))
    assert "but not what it stands on: install anyio where Spark runs Python" in done.stderr


@pytest.mark.parametrize("form", ["a zip", "a folder"])
def test_a_package_from_a_zip_travels_without_being_asked(
    python: Path, tmp_path: Path, form: str
) -> None:
    """`--py-files` brings the driver a zip, which the processes that plan streams do not see."""
    place = tmp_path / "package"
    place.write_bytes(lzma.decompress(cargo.sources()))
    if form == "a folder":
        place = tmp_path / "unpacked"
        zipfile.ZipFile(tmp_path / "package").extractall(place)
    program = (
        "from aiokafka_lite.spark.process import cargo\n"
        "print(*(cargo.carried(by_value=asked) == cargo.sources() for asked in (False, True)))"
    )
    done = subprocess.run(
        [str(python), "-c", program],
        capture_output=True,
        text=True,
        cwd=python.parent,
        env={**os.environ, "PYTHONPATH": str(place)},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(form == "a zip"), "True"]


def test_a_traceback_shows_the_lines_of_what_was_brought() -> None:
    carried = cargo.Sources("aiokafka_lite", cargo.sources())
    brought = carried.get_source("aiokafka_lite.spark.process.cargo").split("\n")
    written = Path(cargo.__file__).read_text().split("\n")
    assert len(brought) == len(written)
    line = cargo.install.__code__.co_firstlineno - 1
    assert brought[line] == written[line] == "def install(archive: _Archive | None) -> None:"
    assert {each.strip() for each in set(brought) - set(written)} <= {'""'}
    assert carried.is_package("aiokafka_lite.spark")
    assert carried.find_spec("anyio") is None


def test_texts_of_errors_are_brought_and_docstrings_of_functions_are_not() -> None:
    carried = cargo.Sources("aiokafka_lite", cargo.sources())
    source = carried.get_source("aiokafka_lite.broker_errors")
    assert for_code(29).description in " ".join(source.split())
    assert "Idempotent." not in carried.get_source("aiokafka_lite.spark.process.cargo")


# As a file…


def spark_with(add_file: Callable[[str], None]) -> Any:
    return SimpleNamespace(sparkContext=SimpleNamespace(addFile=add_file))


def test_a_file_that_spark_distributes_takes_the_place_of_the_archive(python: Path) -> None:
    added: list[str] = []
    place = cargo.distributed(cargo.sources(), spark_with(added.append))
    assert [Path(each).read_bytes() for each in added] == [cargo.sources()]
    assert len(sent(place)) < 20_000
    done = arrive(python, sent(place), sent(place))
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)
    assert first == second
    assert first[1] == "<carried>/aiokafka_lite/consumer/consumer.py"


def test_executors_take_the_file_from_sparks_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_spark()
    from pyspark import SparkFiles

    (tmp_path / "a.zip.xz").write_bytes(b"of the executor")
    monkeypatch.setattr(SparkFiles, "_root_directory", str(tmp_path))
    assert cargo._content(("a.zip.xz", "/on/the/driver/a.zip.xz")) == b"of the executor"
    with pytest.raises(FileNotFoundError, match=r"is not in .*/b.xz or /on/the/driver/b.xz; call"):
        cargo._content(("b.xz", "/on/the/driver/b.xz"))


def test_where_no_file_can_be_distributed_the_archive_travels_itself() -> None:
    def refuse(path: str) -> None:
        raise PermissionError(f"not here: {path}")

    archive = cargo.sources()
    for spark in (object(), spark_with(refuse)):
        assert cargo.distributed(archive, spark) is archive
