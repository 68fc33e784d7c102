"""`aiokafka-lite produce`: lines become records."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.cli.produce import LineRules
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke
from tests.cli.support.commands import at_a_terminal, started
from tests.support.unusual_records import ANY_TIME, UNUSUAL, fields_of, put

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


@pytest.mark.parametrize("form", ["lines", "json"])
def test_a_header_may_repeat_and_the_order_stays(
    invoke: Invoke, broker: EmbeddedBroker, form: str
) -> None:
    given = ("via=a", "note=x=y", "via=b", "empty=", "via=a")
    options = [part for each in given for part in ("-H", each)]
    line = '{"value": "1", "headers": [{"name": "via", "value": "0"}]}' if form == "json" else "1"
    result = invoke(
        "produce", "-t", "lines", *options, *(["-J"] if form == "json" else []), stdin=f"{line}\n"
    )
    assert result.exit_code == 0, result.stderr
    (record,) = broker.log(LINES).records()
    own = [("via", b"0")] if form == "json" else []
    wanted = [("via", b"a"), ("note", b"x=y"), ("via", b"b"), ("empty", b""), ("via", b"a")]
    assert [*record.headers] == own + wanted
    assert invoke("produce", "-t", "lines", "-H", "=x", stdin="1\n").exit_code == 2


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
    until_written(broker, 1)  # without an ack the command may end before the broker has read
    assert [record.value for record in broker.log(LINES).records()] == [b"x"]


def test_an_unknown_codec_is_a_usage_error_that_names_those_there_are(invoke: Invoke) -> None:
    result = invoke("produce", "-t", "lines", "-z", "zip", stdin="x\n")
    assert result.exit_code == 2
    assert "zip" in result.stderr
    assert "zstd" in result.stderr


def test_only_the_first_delimiter_separates() -> None:
    rules = LineRules(key=None, delimiter=b":", empty_is_null=False)
    assert rules.split(b"k:v:w") == (b"k", b"v:w")


def until_written(broker: EmbeddedBroker, count: int) -> None:
    """Return when the log has so many records; the suite's timeout bounds it."""
    while len(broker.log(LINES).records()) < count:
        time.sleep(0.01)


def test_ctrl_c_at_a_terminal_ends_it_at_once(broker: EmbeddedBroker) -> None:
    """No key but Ctrl-C is pressed while it waits for a line."""
    broker.create_topic("lines")
    address = broker.bootstrap_servers
    with at_a_terminal("produce", "-t", "lines", address=address) as (process, keyboard):
        os.write(keyboard, b"hello\n")
        until_written(broker, 1)
        os.write(keyboard, b"half a li\x03")
        assert process.wait(timeout=60) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b"1 record sent to lines\n"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_on_an_open_pipe_flushes_and_ends(
    broker: EmbeddedBroker, number: int, code: int
) -> None:
    """The second line waits for a linger of a minute, so only the end of the command sends it."""
    broker.create_topic("lines")
    options = ("produce", "-t", "lines", "-X", "linger.ms=60000", "-X", "batch.size=100")
    with started(*options, address=broker.bootstrap_servers) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"x" * 90 + b"\n" + b"y" * 90 + b"\n")
        until_written(broker, 1)  # the second record does not fit into its batch
        process.send_signal(number)
        assert process.wait(timeout=60) == code
        assert process.stderr.read() == b"2 records sent to lines\n"
    assert len(broker.log(LINES).records()) == 2


def test_of_two_values_of_an_option_the_last_one_counts(
    invoke: Invoke, broker: EmbeddedBroker
) -> None:
    limits = ("-X", "max_request_size=100", "-X", "max_request_size=100000")
    assert invoke("produce", "-t", "lines", *limits, stdin="x" * 200).exit_code == 0
    assert invoke("produce", "-t", "lines", *limits[2:], *limits[:2], stdin="x" * 200).exit_code


def test_a_record_that_is_refused_is_told_once(invoke: Invoke, broker: EmbeddedBroker) -> None:
    large = invoke("produce", "-t", "lines", "-X", "max_request_size=100", stdin="x" * 200)
    assert large.exit_code == 1
    assert len(large.stderr.splitlines()) == 1
    empty = invoke("produce", "-t", "lines", "-Z", stdin="x\n\n")
    assert empty.exit_code == 2
    assert "neither key nor value" in empty.stderr


def test_what_consume_writes_as_json_is_read_again(invoke: Invoke, broker: EmbeddedBroker) -> None:
    broker.create_topic("from", 2)
    broker.create_topic("to", 2)
    lines = [
        '{"key": "a", "value": "1", "headers": [{"name": "h", "value": null}], "partition": 1}',
        '{"key_base64": "/w==", "value": null, "timestamp": 1234, "partition": 0}',
        '{"key": null, "value_base64": "AP8=", "timestamp": 5, "partition": 1}',
    ]
    stdin = "\n".join(lines)
    sent = invoke("produce", "-t", "from", "-J", "--keep-partition", stdin=stdin)
    assert (sent.exit_code, sent.stderr) == (0, "3 records sent to from\n")
    read = invoke("consume", "-t", "from", "-o", "start", "-e", "-J")
    copied = invoke("produce", "-t", "to", "-J", "--keep-partition", stdin=read.stdout)
    assert copied.exit_code == 0, copied.stderr
    for partition in (0, 1):
        first, second = (broker.log(TopicPartition(name, partition)) for name in ("from", "to"))
        assert facts(first.records()) == facts(second.records())
    assert facts(broker.log(TopicPartition("to", 0)).records()) == [(b"\xff", None, (), 1234)]


def test_a_record_of_any_kind_is_copied_as_it_was(invoke: Invoke, broker: EmbeddedBroker) -> None:
    first, second = TopicPartition("from", 0), TopicPartition("to", 0)
    for tp in (first, second):
        broker.create_topic(tp.topic, configs=ANY_TIME)
    put(broker, first, *UNUSUAL.values())
    read = invoke("consume", "-t", "from", "-o", "start", "-e", "-J")
    copied = invoke("produce", "-t", "to", "-J", stdin=read.stdout)
    assert copied.exit_code == 0, copied.stderr
    assert fields_of(broker, second) == list(UNUSUAL.values())
    dates = invoke("consume", "-t", "to", "-o", "start", "-e", "-f", "%d\\n").stdout.split()
    assert dates[:2] == ["1969-12-31T23:59:59.999+00:00", "1969-12-31T23:59:59.993+00:00"]
    assert dates[2:4] == ["0001-01-01T00:00:00.000+00:00", "1970-01-01T00:00:00.000+00:00"]
    assert dates[4] == "253402300800000", "the number of a time that no calendar of Python has"


def test_a_partition_that_is_not_there_is_told_before_a_line_is_sent(
    invoke: Invoke, broker: EmbeddedBroker
) -> None:
    broker.create_topic("lines", 2)
    refused = invoke("produce", "-t", "lines", "-p", "7", stdin="x\n")
    assert refused.exit_code == 1
    assert refused.stderr == "error: topic 'lines' has partitions 0 to 1, not [7]\n"
    line = '{"value": "v", "partition": 3}\n'
    refused = invoke("produce", "-t", "lines", "-J", "--keep-partition", stdin=line)
    assert refused.stderr == "error: topic 'lines' has partitions 0 to 1, not [3]\n"


def facts(records: Any) -> list[tuple[Any, ...]]:
    return [(each.key, each.value, each.headers, each.timestamp) for each in records]


def test_json_usage(invoke: Invoke) -> None:
    for options in (
        ("-J", "-K", ":"),
        ("--keep-partition",),
        ("-J", "--keep-partition", "-p", "0"),
    ):
        assert invoke("produce", "-t", "lines", *options, stdin="").exit_code == 2
    bad = invoke("produce", "-t", "lines", "-J", stdin='{"value": "v"}\nplain\n')
    assert bad.exit_code == 2
    assert "line 2 is no record" in bad.stderr
