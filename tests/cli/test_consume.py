"""`aiokafka-lite consume`: offsets in kcat's and rpk's forms, patterns, JSON, and an end."""

import json

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke
from tests.cli.support.commands import started


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


@pytest.mark.parametrize("options", [("-p", "0"), ("-o", "7"), ("-o", "-2"), ("-o", "e@1")])
def test_what_a_group_decides_cannot_be_chosen(ten: Invoke, options: tuple[str, ...]) -> None:
    result = ten("consume", "-t", "ten", "-G", "readers", *options)
    assert result.exit_code == 2
    assert "group" in result.stderr


def test_sigterm_commits_and_leaves_the_group(ten: Invoke, broker: EmbeddedBroker) -> None:
    options = ("consume", "-t", "ten", "-G", "readers", "-o", "start")
    with started(*options, address=broker.bootstrap_servers) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(10)][-1] == b"9\n"
        assert len(broker.group("readers").members) == 1
        process.terminate()
        assert process.wait(timeout=60) == 143
    group = broker.group("readers")
    assert not group.members
    assert group.offsets[TopicPartition("ten", 0)].offset == 10


def test_silence_ends_it_when_asked(ten: Invoke) -> None:
    assert ten("consume", "-t", "ten", "-o", "end", "--timeout-ms", "1").exit_code == 0


def test_a_topic_or_partition_that_is_not_there_is_named(ten: Invoke) -> None:
    missing = ten("consume", "-t", "nothing", "-e")
    assert missing.exit_code == 1
    assert "'nothing'" in missing.stderr
    missing = ten("consume", "-t", "ten", "-p", "4", "-e")
    assert missing.exit_code == 1
    assert "[4]" in missing.stderr


@pytest.fixture
def timed(invoke: Invoke, broker: EmbeddedBroker) -> Invoke:
    """Five records, one each second from 1,000 s after the epoch on."""
    broker.create_topic("timed")
    lines = "".join(f'{{"value": "{n}", "timestamp": {1_000_000 + n * 1_000}}}\n' for n in range(5))
    assert invoke("produce", "-t", "timed", "-J", stdin=lines).exit_code == 0
    return invoke


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("-o", "@1002000", "-e"), "234"),
        (("-o", "1970-01-01T00:16:43Z", "-e"), "34"),
        (("-o", "s@1001500", "-o", "e@1003000"), "2"),
        (("-o", "e@1002000"), "01"),
        (("-o", "1", "-o", "e@9999999"), "1234"),
        (("-o", "@-1h", "-e"), ""),
    ],
)
def test_times_are_where_it_begins_and_ends(
    timed: Invoke, options: tuple[str, ...], expected: str
) -> None:
    result = timed("consume", "-t", "timed", *options)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.split() == list(expected)
