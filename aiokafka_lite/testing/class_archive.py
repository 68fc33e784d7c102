"""Archives of a Kafka broker's classes in Java's prepared form (class data sharing).

With an archive a node needs 2 s of CPU to start instead of 4, and half the time. The tests of
faults start about thirty nodes. The first run of the tests makes the archive. Owns the files, one
for each release and Java, in the folder of the jars. Starts nothing.
"""

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from aiokafka_lite.testing.java_runtime import cache_folder, find_java

_OF_ARCHIVES = ("-XX:SharedArchiveFile", "-XX:ArchiveClassesAtExit")
_QUIET = "-Xlog:disable"  # an archive that does not fit is ignored, without a message


def class_archive(version: str, *, cache: Path | None = None) -> Path:
    """Return the path of that release's archive for this machine's Java; it need not exist.

    Raises: JavaNotFoundError.
    """
    java = find_java().resolve()
    status = java.stat()
    which = f"{java} {status.st_size} {status.st_mtime_ns}"
    mark = hashlib.sha256(which.encode()).hexdigest()[:12]
    return (cache or cache_folder()) / f"kafka-{version}-{mark}.jsa"


def reading(archive: Path) -> tuple[str, ...]:
    """Return the options of a Java that takes its classes from the archive; none without one."""
    return (f"-XX:SharedArchiveFile={archive}", _QUIET) if archive.is_file() else ()


def writing(part: Path) -> tuple[str, ...]:
    """Return the options of a Java that writes such an archive to `part` when it ends normally."""
    return (f"-XX:ArchiveClassesAtExit={part}", _QUIET)


def chosen(java_options: Sequence[str], archive: Path) -> tuple[str, ...]:
    """Return `java_options` behind the options for the archive, unless they name an archive.

    A Java that reads such an archive refuses to write another.
    """
    if any(option.startswith(_OF_ARCHIVES) for option in java_options):
        return tuple(java_options)
    return (*reading(archive), *java_options)


def keep(part: Path, archive: Path) -> None:
    """Move Java's output to its final path, whole or not at all. Raises: OSError."""
    whole = archive.with_name(f"{archive.name}.{os.getpid()}")
    try:
        shutil.copyfile(part, whole)
        whole.replace(archive)
    finally:
        whole.unlink(missing_ok=True)


__all__ = ["chosen", "class_archive", "keep", "reading", "writing"]
