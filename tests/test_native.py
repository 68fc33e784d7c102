"""Which twin is taken: the native one where it was built, unless the environment says no."""

import logging
import sys
from pathlib import Path

import pytest

from aiokafka_lite import native as module
from aiokafka_lite.native import leaves, native

MODULE = "aiokafka_lite.codec.reader"  # any module will do for an extension


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
    assert leaves() == {"aiokafka_lite.codec._never_built": False, MODULE: True}


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
