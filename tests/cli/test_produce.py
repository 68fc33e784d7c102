"""`aiokafka-lite produce`: lines become records."""

from pathlib import Path

import pytest

from aiokafka_lite.cli.produce import LineRules
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke

LINES = TopicPartition("lines", 0)


def test_each_line_of_stdin_is_a_record(invoke: Invoke, broker: EmbeddedBroker) -> None:
    result = invoke("produce", "-t", "lines", "-K", ":", "-H", "source=test", stdin="a:1\nb:2\n3\n")
    assert result.exit_code == 0, result.stderr
    assert "3 records sent to lines" in result.stderr
    records = broker.log(LINES).records()
    assert [(record.key, record.value) for record in records] == [
        (b"a", b"1"),
        (b"b", b"2"),
        (None, b"3"),
    ]
    assert {record.headers for record in records} == {(("source", b"test"),)}


def test_files_with_a_codec_and_tombstones(
    invoke: Invoke, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("first\n\nlast\n")
    result = invoke("produce", "-t", "lines", "-z", "zstd", "-Z", "-k", "all", str(file))
    assert result.exit_code == 0, result.stderr
    values = [(record.key, record.value) for record in broker.log(LINES).records()]
    assert values == [(b"all", b"first"), (b"all", None), (b"all", b"last")]


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_acks_of_every_kind(invoke: Invoke, broker: EmbeddedBroker, acks: str) -> None:
    assert invoke("produce", "-t", "lines", "--acks", acks, stdin="x\n").exit_code == 0
    assert [record.value for record in broker.log(LINES).records()] == [b"x"]


def test_an_unknown_codec_is_a_usage_error_that_names_those_there_are(invoke: Invoke) -> None:
    result = invoke("produce", "-t", "lines", "-z", "zip", stdin="x\n")
    assert result.exit_code == 2
    assert "zip" in result.stderr
    assert "zstd" in result.stderr


def test_only_the_first_delimiter_separates() -> None:
    rules = LineRules(key=None, delimiter=b":", empty_is_null=False)
    assert rules.split(b"k:v:w\r\n") == (b"k", b"v:w")
