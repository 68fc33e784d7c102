"""The facts of a measurement: machine, versions, and which leaves are compiled."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import aiokafka_lite
from aiokafka_lite.codec import crc32c
from aiokafka_lite.compression.compressor import libraries
from aiokafka_lite.native import native

PACKAGES = ("aiokafka-lite", "aiokafka", "confluent-kafka", "kafka-python", "pyarrow")


def machine_facts() -> dict[str, str]:
    """The facts every table states."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "build": build(),
        "codecs": ", ".join(f"{codec} by {name}" for codec, name in libraries().items()),
        **{name: version_of(name) for name in PACKAGES},
    }


def build() -> str:
    """Return which twin of each leaf is in use, and which library computes the CRC."""
    root = Path(aiokafka_lite.__file__).parent
    states = []
    for source in sorted(root.rglob("_*.pyx")):
        module = ".".join((root.name, *source.relative_to(root).with_suffix("").parts))
        found = "native" if native(module) is not None else "pure"
        states.append(f"{source.stem.strip('_')} {found}")
    return ", ".join([*states, f"CRC in {'C' if crc32c.USES_C else 'Python'}"])


def _processor() -> str:
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.exists():
        for line in cpu_info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def version_of(name: str) -> str:
    """The version of an installed package."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
