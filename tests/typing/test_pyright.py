"""Pyright, and so Pylance in Visual Studio Code, knows what users import."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("broker_errors.py")


@pytest.mark.skipif(
    importlib.util.find_spec("pyright") is None, reason="pyright is not installed here"
)
def test_pyright_finds_the_errors_of_brokers_where_users_import_them(tmp_path: Path) -> None:
    """All errors are exported by `aiokafka_lite.errors`, for every type checker."""
    # Away from the sources: of those, names that are not exported may be imported, too.
    program = shutil.copy(PROGRAM, tmp_path)
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(program)]
    checked = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, cwd=tmp_path
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
