"""Pyright, and so Pylance in Visual Studio Code, knows what users import."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("broker_errors.py")
ROOT = Path(__file__).parents[2]


def require_pyright() -> None:
    """Skip the asking test where pyright is not installed; in CI that is a failure."""
    if importlib.util.find_spec("pyright") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("CI must run pyright, which the extra `test` brings: it is not installed")
        pytest.skip("pyright is not installed here")


def test_pyright_finds_the_errors_of_brokers_where_users_import_them(tmp_path: Path) -> None:
    """All errors are exported by `aiokafka_lite.errors`, for every type checker."""
    require_pyright()
    # Away from the sources: of those, names that are not exported may be imported, too.
    program = shutil.copy(PROGRAM, tmp_path)
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(program)]
    # An editable install is found by code that runs at import, which pyright does not.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    checked = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
