"""A password comes from standard input, a variable or a file, and from nowhere else."""

import io
import sys
from pathlib import Path

import pytest

from aiokafka_lite.cli.password import read_password
from aiokafka_lite.errors import KafkaConfigurationError


def test_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("from stdin\nmore\n"))
    assert read_password("-").reveal() == "from stdin"
    monkeypatch.setenv("SOME_PASSWORD", "from the variable")
    assert read_password("env:SOME_PASSWORD").reveal() == "from the variable"
    (tmp_path / "password").write_text("from the file\r\n")
    assert read_password(f"file:{tmp_path / 'password'}").reveal() == "from the file"


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n"))
    (tmp_path / "binary").write_bytes(b"sesame\xff")
    for source, fault in (
        ("-", "--password -: there is no password"),
        ("env:NOT_THERE_AT_ALL", "env:NOT_THERE_AT_ALL: there is no password"),
        (f"file:{tmp_path / 'nothing'}", "No such file"),
        (f"file:{tmp_path / 'binary'}", "not UTF-8"),
    ):
        with pytest.raises(KafkaConfigurationError, match=fault) as refused:
            read_password(source)
        assert "sesame" not in str(refused.value)


def test_a_password_in_the_command_line_is_refused_and_not_repeated() -> None:
    with pytest.raises(KafkaConfigurationError) as refused:
        read_password("hunter2")
    assert "hunter2" not in str(refused.value)


def test_a_person_is_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    answers = ["one", "one", "one", "two"]
    monkeypatch.setattr(sys, "stdin", Terminal())
    monkeypatch.setattr("getpass.getpass", lambda _: answers.pop(0))
    assert read_password("-").reveal() == "one"
    with pytest.raises(KafkaConfigurationError, match="differ"):
        read_password("-")
