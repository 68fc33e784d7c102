"""The parts of an installation, also without typer and rich."""

import json
import re
import subprocess
import sys

from aiokafka_lite.cli.installation import parts
from aiokafka_lite.version import __version__
from tests.support.documents import ROOT


def test_versions_leaves_and_codecs_are_named() -> None:
    told = dict(parts())
    assert told["aiokafka-lite"] == __version__
    assert {"codec._crc32c", "zstd"} <= told.keys()


def test_each_native_leaf_is_named() -> None:
    """Those that a client imports at its first use, too."""
    sources = (ROOT / "aiokafka_lite").rglob("*.py")
    calls = (
        re.findall(r'native\("aiokafka_lite\.([\w.]+)"\)', each.read_text()) for each in sources
    )
    chosen = {name for found in calls for name in found}
    assert len(chosen) > 9
    command = [sys.executable, "-m", "aiokafka_lite", "info", "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert chosen <= {row["part"] for row in json.loads(done.stdout)}


def test_info_works_without_the_extras() -> None:
    program = """
import importlib.util, sys
from aiokafka_lite.__main__ import main
find = importlib.util.find_spec
importlib.util.find_spec = lambda name: None if name in ("typer", "rich") else find(name)
sys.argv[1:] = ARGUMENTS
main()
assert not {"typer", "rich"} & set(sys.modules)
"""
    for arguments, code, told in ((["info"], 0, "zstd"), (["topics"], 2, "aiokafka-lite[cli]")):
        done = subprocess.run(
            [sys.executable, "-c", program.replace("ARGUMENTS", repr(arguments))],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code
        assert told in done.stdout + done.stderr
