"""Brings the package itself to Spark's processes.

Objects pickled for Spark say where the package comes from, and carry it along on request.
`cloudpickle` can pickle a module's functions and classes by value. It cannot carry imports within
functions, module-level values, or compiled code. So only this file is pickled by value. It carries
the sources of the others, which are imported on arrival. Does not wait.
"""

import ast
import atexit
import hashlib
import importlib.abc
import importlib.machinery
import importlib.resources
import importlib.util
import io
import logging
import pickle
import shutil
import sys
import tempfile
import zipfile
import zipimport
from collections.abc import Iterator
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final, TypeAlias

logger = logging.getLogger(__name__)

_PACKAGE: Final = "aiokafka_lite"
_STAYS: Final = frozenset(
    f"{_PACKAGE}/{part}"
    for part in (
        *("cli", "compat", "share", "testing", "__main__.py"),
        *("spark/jobs", "spark/__main__.py", "spark/listener.py", "spark/prometheus.py"),
        "spark/batch_report.py",
    )
)
"""Parts that no process imports which Spark starts. With them an archive would be a third larger,
and Spark warns of tasks of a megabyte, which may have a reader and a writer."""
_GOES: Final = {f"{_PACKAGE}/workers": ("__init__.py", "connect_headers.py")}
"""Folders of which few files go along."""
_STANDS_ON: Final = ("anyio", "pyarrow", "_lzma")

_HasBody: TypeAlias = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

_Archive: TypeAlias = bytes | tuple[str, str]
"""The archive itself; or the name of the file in which Spark distributes it to executors, and the
path of the same file on the driver's machine, where processes plan."""


class Sources(importlib.abc.MetaPathFinder, importlib.abc.ExecutionLoader):
    """Imports a package from an archive of its sources in memory, without files on a disk.

    The archive is a zip without compression, compressed as a whole: half the size of one whose
    files are compressed.
    """

    def __init__(self, package: str, archive: bytes, given: _Archive | None = None) -> None:
        # Here: some builds of Python lack it, and learn of it from `install`.
        import lzma  # noqa: PLC0415

        self.carried_package = package
        self.given = archive if given is None else given
        self._files = zipfile.ZipFile(io.BytesIO(lzma.decompress(archive)))
        self._names = frozenset(self._files.namelist())

    def find_spec(
        self,
        fullname: str,
        path: object = None,  # noqa: ARG002 - a name is all it takes
        target: object = None,  # noqa: ARG002 - as above
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module in the archive; None for others.

        Raises: ModuleNotFoundError, with the remedy, for a part that stays with the driver.
        """
        if self._file(fullname) is None:
            if fullname.replace(".", "/") in _STAYS:
                raise ModuleNotFoundError(
                    f"{fullname} does not travel to Spark's processes, which use it for nothing:"
                    " install aiokafka_lite where Spark runs Python",
                    name=fullname,
                )
            return None
        return importlib.util.spec_from_loader(fullname, self)

    def is_package(self, fullname: str) -> bool:
        return (self._file(fullname) or "").endswith("/__init__.py")

    def get_filename(self, fullname: str) -> str:
        """Return a file name for tracebacks, which names no real file."""
        return f"<carried>/{self._file(fullname)}"

    def get_source(self, fullname: str) -> str:
        return self._files.read(self._file(fullname) or fullname).decode()

    def _file(self, fullname: str) -> str | None:
        stem = fullname.replace(".", "/")
        return next((n for n in (f"{stem}.py", f"{stem}/__init__.py") if n in self._names), None)


@cache
def sources() -> bytes:
    """Return an archive of the package's sources, as `Sources` takes it.

    It lacks the parts that no process of Spark's imports, and all docstrings but those of classes.
    Lines keep their numbers. It costs a second of CPU, once in a driver's process.
    """
    import lzma  # noqa: PLC0415

    into = io.BytesIO()
    with zipfile.ZipFile(into, "w") as archive:
        for name, file in _python_files(importlib.resources.files(_PACKAGE), _PACKAGE):
            # A fixed date, so that equal sources make equal archives.
            archive.writestr(zipfile.ZipInfo(name), _without_docstrings(file.read_text("utf-8")))
    return lzma.compress(into.getvalue(), preset=6)


def _without_docstrings(source: str) -> str:
    """Return the source with empty strings for its docstrings, and each line in its place.

    Those of classes stay: errors of brokers take their texts from them.
    """
    lines = source.split("\n")
    for each in _docstrings(ast.parse(source)):
        first, last = each.lineno - 1, (each.end_lineno or each.lineno) - 1
        indent = lines[first][: each.col_offset]
        if not indent.strip() and lines[last].endswith('"'):
            lines[first : last + 1] = [f'{indent}""', *[""] * (last - first)]
    return "\n".join(lines)


def _docstrings(of: _HasBody) -> Iterator[ast.Expr]:
    for place, each in enumerate(of.body):
        if isinstance(each, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _docstrings(each)
        elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant):
            is_of_class = isinstance(of, ast.ClassDef) and place == 0
            if isinstance(each.value.value, str) and not is_of_class:
                yield each


def carried(*, by_value: bool) -> bytes | None:
    """Return the archive that objects take along to Spark's processes; None for nothing.

    They take it on request, and if this process has the package from a zip, as `--py-files` brings
    it. Spark shows such a file to executors, and to no process that plans streams.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    is_zipped = spec is not None and isinstance(spec.loader, zipimport.zipimporter)
    return sources() if by_value or is_zipped else None


def _python_files(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = f"{name}/{each.name}"
        if path in _STAYS or each.name not in _GOES.get(name, (each.name,)):
            continue
        if each.is_dir():
            yield from _python_files(each, path)
        elif each.name.endswith(".py"):
            yield path, each


def distributed(archive: bytes, spark: Any) -> _Archive:
    """Let Spark bring the archive to executors as a file, once to each, and return its place.

    Otherwise each task brings it two or three times: with the reader, the writer, and the class of
    the source. Returns the archive itself where that has to be: over Spark Connect, or where the
    session may distribute no files.
    """
    context = getattr(spark, "sparkContext", None)
    if context is None:
        return archive
    path = _file_of(archive)
    try:
        context.addFile(path)
    except Exception as error:  # noqa: BLE001 - a platform may forbid it, each in its own way
        logger.info("the package travels with each task, because of: %s", error)
        return archive
    return Path(path).name, path


@cache
def _file_of(archive: bytes) -> str:
    """Return the path of a file with the archive. It is removed when the process ends."""
    folder = tempfile.mkdtemp(prefix="kafka-lite-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    name = f"aiokafka_lite-{hashlib.sha256(archive).hexdigest()[:16]}.zip.xz"
    Path(folder, name).write_bytes(archive)
    return str(Path(folder, name))


def _content(given: _Archive) -> bytes:
    """Return the archive. Raises: FileNotFoundError naming its places."""
    if isinstance(given, bytes):
        return given
    name, path = given
    spark: Any = sys.modules.get("pyspark")
    # Not by its method, which asks for a context outside of executors.
    folder = None if spark is None else spark.SparkFiles._root_directory
    places = [Path(path)] if folder is None else [Path(folder, name), Path(path)]
    for each in places:
        if each.exists():
            return each.read_bytes()
    raise FileNotFoundError(
        f"the package, brought by register(spark, by_value=True), is not in"
        f" {' or '.join(map(str, places))};"
        " call register again"
    )


def brought() -> _Archive | None:
    """Return how this process was given the package; None if it is installed."""
    finder = _finder()
    return None if finder is None else finder.given


def _finder() -> Any:
    # Not found by its class: the class that was pickled by value is another one.
    with_package = (f for f in sys.meta_path if getattr(f, "carried_package", "") == _PACKAGE)
    return next(with_package, None)


def install(archive: _Archive | None) -> None:
    """Make this process import the package from an archive, even if one is installed.

    Without an archive, import the installed package. Idempotent.

    Raises: ModuleNotFoundError, with the remedy, if the package is neither installed nor carried
    along.
    """
    former = _finder()
    if archive != (None if former is None else former.given):
        content = None
        if archive is not None:
            _check_there(_STANDS_ON)
            content = _content(archive)
        if former is not None:
            sys.meta_path.remove(former)
        for name in [n for n in sys.modules if n.partition(".")[0] == _PACKAGE]:
            del sys.modules[name]
        if content is not None:
            sys.meta_path.insert(0, Sources(_PACKAGE, content, archive))
    if archive is None and importlib.util.find_spec(_PACKAGE) is None:
        raise ModuleNotFoundError(
            f"{sys.executable}, with which Spark runs Python here, cannot import aiokafka_lite:"
            " install it there; or let PYSPARK_PYTHON (or spark.pyspark.python) name an"
            " interpreter that has it; or call register(spark, by_value=True). A file given by"
            " addPyFile is not seen by the processes that plan streams."
        )


def _check_there(needed: tuple[str, ...]) -> None:
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise ModuleNotFoundError(
            f"register(spark, by_value=True) brings aiokafka_lite to {sys.executable}, but not"
            f" what it stands on: install {' and '.join(missing)} where Spark runs Python"
        )


def unpack(archive: _Archive | None, packed: bytes) -> Any:
    """Make the package importable, then return the unpickled object.

    This function is pickled by value. Raises: as `install`.
    """
    install(archive)
    from aiokafka_lite.spark.process.settled_heap import note_arrival  # noqa: PLC0415

    kind, state = pickle.loads(packed)  # noqa: S301 - from the driver, as all that Spark runs
    note_arrival(kind.__qualname__)
    if state is None:
        return kind
    made = kind.__new__(kind)
    made.__dict__.update(state)
    return made


def packed(kind: type, state: dict[str, Any] | None, archive: _Archive | None) -> tuple[Any, ...]:
    """Return what pickle needs for a class, or for an object of it with that state."""
    # Imported only when something is pickled for Spark, which has imported it by then.
    from pyspark import cloudpickle  # noqa: PLC0415

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return unpack, (archive, cloudpickle.dumps((kind, state)))


class Travels:
    """Is pickled for Spark's processes with the place of the package.

    If this process received the package itself, the package is pickled along.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return packed(type(self), self._taken_along(), brought())

    def _taken_along(self) -> dict[str, Any]:
        """Return the attributes that the object has on arrival."""
        return self.__dict__


class TravellingClass:
    """A metaclass whose classes can be found, or are carried along, where they are unpickled."""

    def __init__(self, kind: Any, archive: _Archive | None) -> None:
        self._kind = kind
        self._archive = archive

    def name(self) -> str:
        """Return the name by which Spark knows the data source."""
        return str(self._kind.name())

    def __reduce__(self) -> tuple[Any, ...]:
        return packed(self._kind, None, self._archive)


__all__ = [
    "Sources",
    "TravellingClass",
    "Travels",
    "brought",
    "carried",
    "distributed",
    "install",
    "packed",
    "sources",
    "unpack",
]
