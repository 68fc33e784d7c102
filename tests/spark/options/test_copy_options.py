"""The options of a stream that copies: a sink's, among those of the source."""

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.options.copy_options import copy_options, is_copy, parse_copy

SOURCE = {"kafka.bootstrap.servers": "here:1", "subscribe": "a"}
SINK = {"kafka.bootstrap.servers": "there:1", "topic": "b", "kafka.linger.ms": "7"}


def as_spark_gives_them(options: dict[str, str]) -> dict[str, str]:
    return {name.lower(): text for name, text in options.items()}


def test_the_options_of_a_sink_come_apart_from_those_of_the_source() -> None:
    given = as_spark_gives_them({**SOURCE, **copy_options(SINK, ("value", "partition"))})
    assert is_copy(given)
    of_source, copied = parse_copy(given)
    assert of_source == SOURCE
    assert copied.columns == ("value", "partition")
    assert copied.written.topic == "b"
    assert copied.written.client["bootstrap_servers"] == "there:1"
    assert copied.written.client["linger_ms"] == 7


def test_a_stream_without_a_sink_copies_nothing() -> None:
    assert not is_copy(SOURCE)
    assert not is_copy({**SOURCE, "topic": "b", "copyColumns": "value"})


def test_what_users_see_of_a_record_is_copied_unless_the_columns_are_named() -> None:
    _, copied = parse_copy({**SOURCE, **{f"copyTo.{name}": text for name, text in SINK.items()}})
    assert copied.columns == ("key", "value", "headers", "timestamp")


@pytest.mark.parametrize(
    ("sink", "columns", "said"),
    [
        ({}, ("value", "offset"), "copyColumns has 'offset'; the columns are key, value, headers"),
        ({"delivery": "transactional"}, ("value",), "copyTo.delivery is 'transactional', but"),
        (
            {
                "delegationToken": "true",
                "kafka.security.protocol": "SASL_PLAINTEXT",
                "kafka.sasl.mechanism": "SCRAM-SHA-256",
                "kafka.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule"
                ' required username="u" password="p";',
            },
            ("value",),
            "copyTo.delegationToken has no effect: Spark renews tokens for its own sinks",
        ),
        ({"kafka.acks": "3"}, ("value",), "acks=3; set it to"),
    ],
)
def test_what_a_copy_cannot_do_is_refused(
    sink: dict[str, str], columns: tuple[str, ...], said: str
) -> None:
    with pytest.raises(KafkaConfigurationError, match=said) as refused:
        parse_copy({**SOURCE, **copy_options({**SINK, **sink}, columns)})
    assert "password" not in str(refused.value)
