"""Secrets are named, and read where they are used."""

from pathlib import Path

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.options.secret_reference import is_reference, read_secret


def test_a_secret_is_in_a_variable_or_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REGISTRY_PASSWORD", "from the environment")
    (tmp_path / "secret").write_text("from a file \n")
    assert read_secret("env:REGISTRY_PASSWORD") == "from the environment"
    assert read_secret(f"file:{tmp_path}/secret") == "from a file "


@pytest.mark.parametrize("text", ["hunter2", "env:", "file:", "", "ENV:X"])
def test_what_names_no_secret_is_refused_and_not_shown(text: str) -> None:
    assert not is_reference(text)
    with pytest.raises(KafkaConfigurationError) as raised:
        read_secret(text)
    assert "hunter2" not in str(raised.value)


def test_a_secret_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(KafkaConfigurationError, match="no environment variable NOT_THERE here"):
        read_secret("env:NOT_THERE")
    with pytest.raises(KafkaConfigurationError, match=f"the file '{tmp_path}/gone' is not here"):
        read_secret(f"file:{tmp_path}/gone")
    with pytest.raises(KafkaConfigurationError, match=r"cannot be read: Is a .*; the driver too"):
        read_secret(f"file:{tmp_path}", needed="the driver too")
