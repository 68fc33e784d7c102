"""The classes of a Kafka broker as Java has read and checked them once (class data sharing): with
such an archive a node needs half the CPU and half the time to start.

Owns the files, one for each release and Java, in the folder of the jars; starts nothing.
"""

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from aiokafka_lite.testing.java_runtime import cache_folder, find_java

_OF_ARCHIVES = ("-XX:SharedArchiveFile", "-XX:ArchiveClassesAtExit")
_QUIET = "-Xlog:disable"  # an archive that does not fit is left alone, without a word


def class_archive(version: str, *, cache: Path | None = None) -> Path:
    """Where the archive of that release for this machine's Java is, or would be.

    Raises JavaNotFoundError.
    """
    java = find_java().resolve()
    status = java.stat()
    which = f"{java} {status.st_size} {status.st_mtime_ns}"
    mark = hashlib.sha256(which.encode()).hexdigest()[:12]
    return (cache or cache_folder()) / f"kafka-{version}-{mark}.jsa"


def reading(archive: Path) -> tuple[str, ...]:
    """The options of a Java that takes its classes from the archive; none without one."""
    return (f"-XX:SharedArchiveFile={archive}", _QUIET) if archive.is_file() else ()


def writing(part: Path) -> tuple[str, ...]:
    """The options of a Java that writes such an archive to `part` when it ends in order."""
    return (f"-XX:ArchiveClassesAtExit={part}", _QUIET)


def chosen(java_options: Sequence[str], archive: Path) -> tuple[str, ...]:
    """Return `java_options`, behind those that read the archive unless they name one themselves.

    A Java that reads such an archive refuses to write another.
    """
    if any(option.startswith(_OF_ARCHIVES) for option in java_options):
        return tuple(java_options)
    return (*reading(archive), *java_options)


def keep(part: Path, archive: Path) -> None:
    """Move what Java wrote to its place, whole or not at all. Raises OSError."""
    whole = archive.with_name(f"{archive.name}.{os.getpid()}")
    try:
        shutil.copyfile(part, whole)
        whole.replace(archive)
    finally:
        whole.unlink(missing_ok=True)


__all__ = ["chosen", "class_archive", "keep", "reading", "writing"]
