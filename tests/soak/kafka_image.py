"""Makes the image that `kafka_container` runs, from this machine's Java and the jars of the cache.

No registry is asked. The image has a shell, a few tools, Java, Kafka's jars and the start script of
`apache/kafka`, as far as the fixture uses it.
"""

import io
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

from aiokafka_lite.testing.java_runtime import find_java, kafka_jars

TOOLS = ("sh", "sleep", "env", "sed", "tr", "mkdir")
START_SCRIPT = r"""#!/bin/sh
set -e
mkdir -p /tmp/kafka-logs
echo log.dirs=/tmp/kafka-logs > /tmp/server.properties
env | sed -n 's/^KAFKA_\([A-Z_]*\)=\(.*\)$/\1 \2/p' | while read -r name value; do
    echo "$(echo "$name" | tr A-Z_ a-z.)=$value" >> /tmp/server.properties
done
export CLASSPATH='/opt/kafka/libs/*'
/java/bin/java kafka.tools.StorageTool format -t AAAAAAAAAAAAAAAAAAAAAg -c /tmp/server.properties
exec /java/bin/java -Xmx512m kafka.Kafka /tmp/server.properties
"""


def write_image(version: str, path: Path) -> None:
    """Write the root folder of a container as a tar archive."""
    home = find_java().resolve().parents[1]
    with tarfile.open(path, "w", dereference=True) as image:
        programs = [Path(found) for tool in TOOLS if (found := shutil.which(tool))]
        for program in programs:
            image.add(program, f"bin/{program.name}")
        _add_java(image, home)
        image.add(kafka_jars(version), "opt/kafka/libs")
        libraries = [*home.glob("lib/*.so"), *home.glob("lib/server/*.so"), home / "bin" / "java"]
        for library in sorted(_needed([*programs, *libraries], home)):
            image.add(library, str(library).lstrip("/"))
        _add_text(image, "etc/kafka/docker/run", START_SCRIPT)
        _add_text(image, "etc/passwd", "root:x:0:0:root:/root:/bin/sh\n")
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        image.addfile(folder)


def _add_java(image: tarfile.TarFile, home: Path) -> None:
    """Add what a program needs of Java; Debian links to parts that are not installed."""
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home)
        if path.is_file() and name.parts[0] in ("bin", "lib", "conf"):
            image.add(path, f"java/{name}")


def _needed(programs: list[Path], home: Path) -> set[Path]:
    """Return the libraries of the system that these programs load."""
    command = ["ldd", *map(str, programs)]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    paths = map(Path, re.findall(r"(?:=> |^\s+)(/\S+) \(0x", found, re.MULTILINE))
    return {path for path in paths if not path.is_relative_to(home)}


def _add_text(image: tarfile.TarFile, name: str, text: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.size = 0o755, len(text)
    image.addfile(entry, io.BytesIO(text.encode()))


__all__ = ["write_image"]
