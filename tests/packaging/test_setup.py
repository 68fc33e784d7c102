"""Which interpreters get native leaves, and what a free-threaded one does without them."""

import os
import runpy
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.native import TYPED

SETUP = Path(__file__).parents[2] / "setup.py"
SMOKE = Path(__file__).with_name("free_threaded_smoke.py")


def extensions_of(monkeypatch: pytest.MonkeyPatch, *, has_lock: bool, required: str) -> list[Any]:
    """Run setup.py as that interpreter would, without translating anything."""
    made: list[dict[str, Any]] = []
    variable = sysconfig.get_config_var
    monkeypatch.setattr(
        sysconfig,
        "get_config_var",
        lambda name: int(not has_lock) if name == "Py_GIL_DISABLED" else variable(name),
    )
    monkeypatch.setattr("Cython.Build.cythonize", lambda found, **_: found)
    monkeypatch.setattr("setuptools.setup", lambda **parts: made.append(parts))
    monkeypatch.setenv("AIOKAFKA_LITE_REQUIRE_NATIVE", required)
    monkeypatch.chdir(SETUP.parent)
    runpy.run_path(str(SETUP))
    (parts,) = made
    extensions: list[Any] = parts["ext_modules"]
    return extensions


@pytest.mark.parametrize(
    ("has_lock", "required", "gets_leaves"),
    [(True, "0", True), (False, "0", False), (False, "1", True)],
)
def test_a_free_threaded_interpreter_gets_no_leaves_unless_they_are_required(
    has_lock: bool, required: str, gets_leaves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = extensions_of(monkeypatch, has_lock=has_lock, required=required)
    assert {each.name for each in found} == ({"*", *TYPED} if gets_leaves else set())


def test_the_package_works_in_pure_python_where_the_interpreter_has_no_lock() -> None:
    """As far as an interpreter with the lock can show: there is none without it to test on."""
    environment = os.environ | {"AIOKAFKA_LITE_PURE": "1", "PYTHONPATH": str(SETUP.parent)}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(SMOKE)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
