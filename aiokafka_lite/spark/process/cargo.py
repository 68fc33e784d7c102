"""Brings the package itself to Spark's processes.

Objects pickled for Spark say where the package comes from, and carry it along on request.
`cloudpickle` can pickle a module's functions and classes by value. It cannot carry imports within
functions, module-level values, or compiled code. So only this file is pickled by value. It carries
the sources of all others, which are imported on arrival. Does not wait.
"""

import importlib.abc
import importlib.machinery
import importlib.resources
import importlib.util
import io
import pickle
import sys
import zipfile
import zipimport
from collections.abc import Iterator
from functools import cache
from importlib.resources.abc import Traversable
from typing import Any, Final

_PACKAGE: Final = "aiokafka_lite"
_STAYS: Final = ("cli", "testing")
"""Parts that no Spark worker uses."""
_STANDS_ON: Final = ("anyio", "pyarrow")


class Sources(importlib.abc.MetaPathFinder, importlib.abc.ExecutionLoader):
    """Imports a package from an archive of its sources in memory, without files on a disk."""

    def __init__(self, package: str, archive: bytes) -> None:
        self.carried_package = package
        self.archive = archive
        self._files = zipfile.ZipFile(io.BytesIO(archive))
        self._names = frozenset(self._files.namelist())

    def find_spec(
        self,
        fullname: str,
        path: object = None,  # noqa: ARG002 - a name is all it takes
        target: object = None,  # noqa: ARG002 - as above
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module in the archive; None for others."""
        if self._file(fullname) is None:
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
    """Return an archive of the package's sources, without the parts that no worker uses."""
    into = io.BytesIO()
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in _python_files(importlib.resources.files(_PACKAGE), _PACKAGE):
            # A fixed date, so that equal sources make equal archives.
            archive.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return into.getvalue()


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
        if each.is_dir():
            if name != _PACKAGE or each.name not in _STAYS:
                yield from _python_files(each, f"{name}/{each.name}")
        elif each.name.endswith(".py"):
            yield f"{name}/{each.name}", each


def brought() -> bytes | None:
    """Return the archive from which this process has the package; None if it is installed."""
    finder = _finder()
    return None if finder is None else finder.archive


def _finder() -> Any:
    # Not found by its class: the class that was pickled by value is another one.
    with_package = (f for f in sys.meta_path if getattr(f, "carried_package", "") == _PACKAGE)
    return next(with_package, None)


def install(archive: bytes | None) -> None:
    """Make this process import the package from an archive, even if one is installed.

    Without an archive, import the installed package. Idempotent.

    Raises: ModuleNotFoundError, with the remedy, if the package is neither installed nor carried
    along.
    """
    former = _finder()
    if archive != (None if former is None else former.archive):
        if former is not None:
            sys.meta_path.remove(former)
        for name in [n for n in sys.modules if n.partition(".")[0] == _PACKAGE]:
            del sys.modules[name]
        if archive is not None:
            sys.meta_path.insert(0, Sources(_PACKAGE, archive))
    needed = (_PACKAGE,) if archive is None else _STANDS_ON
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing and archive is None:
        raise ModuleNotFoundError(
            f"{sys.executable}, with which Spark runs Python here, cannot import aiokafka_lite:"
            " install it there; or let PYSPARK_PYTHON (or spark.pyspark.python) name an"
            " interpreter that has it; or call register(spark, by_value=True). A file given by"
            " addPyFile is not seen by the processes that plan streams."
        )
    if missing:
        raise ModuleNotFoundError(
            f"register(spark, by_value=True) brings aiokafka_lite to {sys.executable}, but not"
            f" what it stands on: install {' and '.join(missing)} where Spark runs Python"
        )


def unpack(archive: bytes | None, packed: bytes) -> Any:
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


def packed(kind: type, state: dict[str, Any] | None, archive: bytes | None) -> tuple[Any, ...]:
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

    def __init__(self, kind: Any, archive: bytes | None) -> None:
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
    "install",
    "packed",
    "sources",
    "unpack",
]
