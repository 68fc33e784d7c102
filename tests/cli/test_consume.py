"""`aiokafka-lite consume`: offsets in kcat's and rpk's forms, patterns, JSON, and an end."""

import json

import pytest
import typer

from aiokafka_lite.cli.consume import StartOffset, parse_offset
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke


@pytest.fixture
def ten(invoke: Invoke) -> Invoke:
    stdin = "".join(f"k{n}:{n}\n" for n in range(10))
    assert invoke("produce", "-t", "ten", "-K", ":", "-H", "h=x", stdin=stdin).exit_code == 0
    return invoke


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        ("start", range(10)),
        ("7", range(7, 10)),
        ("-2", range(8, 10)),
        ("+4", range(4, 10)),
        ("-99", range(10)),
        ("end", range(0)),
    ],
)
def test_reading_starts_where_it_is_told_and_ends_at_the_end(
    ten: Invoke, offset: str, expected: range
) -> None:
    result = ten("consume", "-t", "ten", "-o", offset, "-e")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.split() == [str(n) for n in expected]


def test_a_pattern_and_a_count(ten: Invoke) -> None:
    result = ten("consume", "-t", "ten", "--from-beginning", "-n", "2", "-f", "%t/%p@%o %k %h\\n")
    assert result.stdout == "ten/0@0 k0 h=x\nten/0@1 k1 h=x\n"


def test_json_lines(ten: Invoke) -> None:
    result = ten("consume", "-t", "ten", "-o", "-1", "-e", "-J")
    (record,) = [json.loads(line) for line in result.stdout.splitlines()]
    assert (record["topic"], record["offset"], record["key"]) == ("ten", 9, "k9")
    assert record["headers"] == [{"name": "h", "value": "x"}]


def test_a_group_goes_on_where_it_has_committed(ten: Invoke, broker: EmbeddedBroker) -> None:
    first = ten("consume", "-t", "ten", "-G", "readers", "-o", "start", "-n", "4")
    assert first.stdout.split() == ["0", "1", "2", "3"], first.stderr
    rest = ten("consume", "-t", "ten", "-G", "readers", "-e")
    assert rest.stdout.split() == [str(n) for n in range(4, 10)], rest.stderr
    assert broker.group("readers").offsets[TopicPartition("ten", 0)].offset == 10


@pytest.mark.parametrize("options", [("-p", "0"), ("-o", "7"), ("-o", "-2")])
def test_what_a_group_decides_cannot_be_chosen(ten: Invoke, options: tuple[str, ...]) -> None:
    result = ten("consume", "-t", "ten", "-G", "readers", *options)
    assert result.exit_code == 2
    assert "group" in result.stderr


def test_silence_ends_it_when_asked(ten: Invoke) -> None:
    assert ten("consume", "-t", "ten", "-o", "end", "--timeout-ms", "1").exit_code == 0


def test_a_topic_or_partition_that_is_not_there_is_named(ten: Invoke) -> None:
    missing = ten("consume", "-t", "nothing", "-e")
    assert missing.exit_code == 1
    assert "'nothing'" in missing.stderr
    missing = ten("consume", "-t", "ten", "-p", "4", "-e")
    assert missing.exit_code == 1
    assert "[4]" in missing.stderr


def test_an_unknown_offset_names_the_forms() -> None:
    with pytest.raises(typer.BadParameter, match=r"'yesterday'.*start"):
        parse_offset("yesterday")


def test_an_offset_stays_inside_what_the_partition_holds() -> None:
    assert StartOffset("zero", 5).resolve(10, 20) == 10
    assert StartOffset("zero", 50).resolve(10, 20) == 20
    assert StartOffset("end", -3).resolve(10, 20) == 17
