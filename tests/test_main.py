"""`python -m aiokafka_lite`: the command line, or a word on what is missing for it."""

import importlib.util
import subprocess
import sys

import pytest

from aiokafka_lite.__main__ import main


def test_the_module_is_the_command_line() -> None:
    command = [sys.executable, "-W", "error", "-m", "aiokafka_lite", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    for name in ("demo", "broker", "produce", "consume", "topics", "info"):
        assert name in done.stdout


def test_without_its_extra_it_names_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "pip install 'aiokafka-lite[cli]'" in capsys.readouterr().err
