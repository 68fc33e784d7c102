"""`aiokafka-lite info`: what this installation is made of."""

import json
import os
import platform
import subprocess
import sys

from tests.cli.conftest import Invoke
from tests.support.twins import native_twin


def parts(*, pure: bool) -> dict[str, str]:
    """What the command says, in an interpreter of its own."""
    environment = {**os.environ, "AIOKAFKA_LITE_PURE": "1" if pure else "0"}
    command = [sys.executable, "-W", "error", "-m", "aiokafka_lite", "info", "--output", "json"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    return {row["part"]: row["is"] for row in json.loads(done.stdout)}


def test_versions_and_codecs_are_named(invoke: Invoke) -> None:
    shown = invoke("info").stdout
    assert platform.python_version() in shown
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        assert codec in shown


def test_native_leaves_are_told_from_python() -> None:
    native_twin("aiokafka_lite.codec._crc32c")
    assert parts(pure=False)["codec._crc32c"] == "native"


def test_forced_python_is_seen() -> None:
    leaves = {part: kind for part, kind in parts(pure=True).items() if "._" in part}
    assert leaves.keys() >= {"codec._crc32c", "producer.key_hash._murmur2"}
    assert set(leaves.values()) == {"Python"}
