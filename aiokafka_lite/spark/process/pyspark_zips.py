"""Keeps Spark's Python processes from compiling PySpark anew.

The JVM puts `pyspark.zip` and Py4J's zip, both of SPARK_HOME, in front of the path of every Python
process. They have no byte code, and Python stores none for zips. So each process compiles PySpark
again, for nearly a second of CPU, though the installed package has byte code. There are two
remedies: an interpreter that leaves these zips out, or byte code in the zips.
"""

import atexit
import importlib.metadata
import importlib.util
import marshal
import os
import re
import shlex
import shutil
import sys
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

_ZIPS: Final = ("pyspark.zip", "py4j-*-src.zip")
_VERSION_FILE: Final = "pyspark/version.py"
_UNCHECKED: Final = (1).to_bytes(4, "little")
"""Byte code that is used without a look at its source: the zip has both from one moment."""

_SCRIPT: Final = """\
#!/bin/sh
# Leaves out the zips of PySpark, which have no byte code: the same release is installed.
kept=
set -f
IFS=:
for each in $PYTHONPATH; do
  case $each in
    */python/lib/pyspark.zip | */python/lib/py4j-*-src.zip) ;;
    *) kept=$kept${{kept:+:}}$each ;;
  esac
done
# numpy, which pyarrow imports, would start a thread for each core, and they spin for a while.
OPENBLAS_NUM_THREADS=${{OPENBLAS_NUM_THREADS:-${{OMP_NUM_THREADS:-1}}}}
export OPENBLAS_NUM_THREADS
PYTHONPATH=$kept exec {python} "$@"
"""


def spark_home() -> Path | None:
    """Return $SPARK_HOME, or else the installed PySpark's folder; None without either."""
    named = os.environ.get("SPARK_HOME")
    if named:
        return Path(named)
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        return None
    return Path(found.origin).parent


def zips_of(home: Path) -> list[Path]:
    """Return the zips that the JVM puts on the path of Python processes."""
    return [path for name in _ZIPS for path in sorted((home / "python" / "lib").glob(name))]


def release_of(zipped: Path) -> str | None:
    """Return the release of PySpark in a zip; None for a file that does not say it."""
    try:
        with zipfile.ZipFile(zipped) as archive:
            text = archive.read(_VERSION_FILE).decode()
    except (OSError, KeyError, zipfile.BadZipFile):
        return None
    found = re.search(r"""__version__.*=\s*["']([^"']+)["']""", text)
    return None if found is None else found[1]


def write_interpreter(folder: Path, home: Path | None) -> Path | None:
    """Write a program that runs this interpreter without PySpark's zips; return its path.

    None if they are needed: another release is installed, or none. None also without a shell.
    """
    if home is None or os.name != "posix":
        return None
    release = release_of(home / "python" / "lib" / "pyspark.zip")
    if release is None or release != _installed_release():
        return None
    made = folder / "python"
    made.write_text(_SCRIPT.format(python=shlex.quote(sys.executable)))
    made.chmod(0o755)
    return made


@cache
def lasting_interpreter() -> str:
    """Return such a program for the life of this process, or else this interpreter.

    It stays the same, because a JVM keeps the first path that it got.
    """
    folder = mkdtemp(prefix="aiokafka-lite-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(write_interpreter(Path(folder), spark_home()) or sys.executable)


def _installed_release() -> str | None:
    """Return the release of a PySpark that is installed with Py4J, beside this interpreter."""
    try:
        importlib.metadata.version("py4j")
        return importlib.metadata.version("pyspark")
    except importlib.metadata.PackageNotFoundError:
        return None


def add_byte_code(zipped: Path) -> int:
    """Add this interpreter's byte code to a zip, for its files that lack it; return how many.

    The zip is replaced at once, so running processes keep the former one. Raises: OSError; a file
    that is no zip is BadZipFile.
    """
    with zipfile.ZipFile(zipped) as archive:
        missing = dict(_missing(archive))
    if not missing:
        return 0
    beside = zipped.with_name(f".{zipped.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(zipped) as former, zipfile.ZipFile(beside, "w") as made:
            for each in former.infolist():
                if each.filename not in missing:
                    made.writestr(each, former.read(each))
            for name, code in missing.items():
                made.writestr(name, code, zipfile.ZIP_DEFLATED)
        shutil.copymode(zipped, beside)
        beside.replace(zipped)
    finally:
        beside.unlink(missing_ok=True)
    return len(missing)


def _missing(archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    """Yield the byte code that sources in a zip lack, by the names under which Python seeks it."""
    names = set(archive.namelist())
    for name in sorted(names):
        if not name.endswith(".py"):
            continue
        compiled = f"{name}c"
        if compiled in names and archive.read(compiled)[:4] == importlib.util.MAGIC_NUMBER:
            continue
        source = archive.read(name)
        try:
            code = compile(source, name, "exec", dont_inherit=True)
        except SyntaxError:  # of another release of Python
            continue
        head = importlib.util.MAGIC_NUMBER + _UNCHECKED + importlib.util.source_hash(source)
        yield compiled, head + marshal.dumps(code)


__all__ = [
    "add_byte_code",
    "lasting_interpreter",
    "release_of",
    "spark_home",
    "write_interpreter",
    "zips_of",
]
