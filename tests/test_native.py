"""Which twin is taken: the native one where it was built, unless the environment says no."""

import logging
import os
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from aiokafka_lite import native as module
from aiokafka_lite.native import TYPED, leaves, native
from tests.support.twins import native_twin, not_built, outdated_extensions

MODULE = "aiokafka_lite.codec.reader"  # any module will do for an extension
IMPORTS_ALL = """
import importlib, os
from aiokafka_lite.native import TYPED, leaves
for name in TYPED:
    importlib.import_module(name)
print(sorted({leaves()[name] for name in TYPED}))
"""


@pytest.fixture(autouse=True)
def not_pure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIOKAFKA_LITE_PURE", raising=False)
    monkeypatch.setattr(module, "_leaves", {})


def test_extension_that_is_there_is_taken() -> None:
    module = native(MODULE)
    assert module is sys.modules[MODULE]


def test_environment_forces_pure_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIOKAFKA_LITE_PURE", "1")
    assert native(MODULE) is None


def test_extension_that_was_not_built_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    assert native("aiokafka_lite.codec._never_built") is None
    assert not caplog.records


def test_what_was_taken_can_be_asked() -> None:
    native(MODULE)
    native("aiokafka_lite.codec._never_built")
    told = {name: is_native for name, is_native in leaves().items() if name not in TYPED}
    assert told == {"aiokafka_lite.codec._never_built": False, MODULE: True}


def test_extension_that_cannot_be_loaded_is_said_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "for_another_python.py").write_text("raise ImportError('no symbol x')")
    monkeypatch.syspath_prepend(tmp_path)
    with caplog.at_level(logging.WARNING):
        assert native("for_another_python") is None
    (record,) = caplog.records
    assert record.getMessage() == (
        "for_another_python is built but cannot be loaded, Python does its work: no symbol x"
    )


@pytest.mark.parametrize(
    ("built", "said"),
    [
        ("site/aiokafka_lite/codec/_parts" + EXTENSION_SUFFIXES[0], "hides the install in"),
        ("checkout/aiokafka_lite/codec/_parts.cpython-39-some.so", "was built for another Python"),
        ("site/aiokafka_lite/codec/parts.py", ""),
    ],
)
def test_leaves_that_were_built_and_are_not_used_are_one_warning(
    tmp_path: Path, built: str, said: str
) -> None:
    """As in a checkout, where Python finds the sources before the install."""
    sources = Path(module.__file__).parent
    without = shutil.ignore_patterns("*.so", "*.c", "__pycache__", "spark", "testing")
    shutil.copytree(sources, tmp_path / "checkout" / "aiokafka_lite", ignore=without)
    (tmp_path / built).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / built).touch()
    program = """
import sys  # without the finder of an editable install, which finds leaves elsewhere
sys.meta_path[:] = [each for each in sys.meta_path if "__editable__" not in repr(each)]
import aiokafka_lite
print(aiokafka_lite.AIOKafkaProducer.__name__)
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}/checkout{os.pathsep}{tmp_path}/site"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "AIOKafkaProducer\n"
    assert done.stderr.count("pure Python does the work") == bool(said)
    assert said in done.stderr


def imported_as_they_are(pure: str) -> str:
    """What a new interpreter tells of the modules that are compiled as they are."""
    environment = os.environ | {"AIOKAFKA_LITE_PURE": pure}
    command = [sys.executable, "-c", IMPORTS_ALL]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_environment_forces_the_sources_of_modules_that_are_compiled_as_they_are() -> None:
    assert imported_as_they_are("1") == "[False]"


def test_modules_that_are_compiled_as_they_are_are_taken_where_they_were_built() -> None:
    native_twin("aiokafka_lite.producer.batch._record_ack")
    if imported_as_they_are("0") != "[True]":
        not_built("what was compiled from a .py is not taken")


@pytest.mark.parametrize("newer", [".py", ".pxd"])
def test_sources_newer_than_their_extension_are_named(tmp_path: Path, newer: str) -> None:
    """Python would import the extension all the same. The suite stops with their names."""
    stem = tmp_path / "aiokafka_lite/producer/batch/buffer_pool"
    stem.parent.mkdir(parents=True)
    for suffix in (".py", ".pxd", EXTENSION_SUFFIXES[0]):
        file = stem.with_suffix(suffix)
        file.touch()
        os.utime(file, (1000, 1000))
    assert outdated_extensions(tmp_path) == []
    os.utime(stem.with_suffix(newer), (1001, 1001))
    assert outdated_extensions(tmp_path) == ["aiokafka_lite/producer/batch/buffer_pool.py"]
