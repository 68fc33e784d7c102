"""`python -m aiokafka_lite.spark`: the jobs, or a word on what is missing for them."""

import importlib.util
import runpy
import sys
from pathlib import Path

import pytest

from aiokafka_lite.spark import __main__ as module


def test_without_its_extras_it_names_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == 2
    said = capsys.readouterr().err
    assert "the jobs need pyspark and pyarrow and typer" in said
    assert "pip install 'aiokafka-lite[spark,cli]'" in said


def test_as_a_file_it_does_not_hide_modules_of_others_behind_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """spark-submit runs files, with their folder first on the path: ours has an `arrow`."""
    folder = str(Path(module.__file__).parent)
    monkeypatch.setattr(sys, "path", [folder, "", *sys.path])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit):
        runpy.run_path(str(module.__file__), run_name="__main__")
    assert folder not in sys.path
    assert "" in sys.path
