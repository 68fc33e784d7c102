"""Errors name what a user of Spark has written, and say what to do before their traceback."""

import traceback

import pytest

from aiokafka_lite.errors import KafkaConfigurationError, KafkaTimeoutError
from aiokafka_lite.spark.options.kafka_keys import CONSUMER, PRODUCER
from aiokafka_lite.spark.options.user_words import name_options, told, with_options


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("exceeds max_request_size of 9", "exceeds kafka.max.request.size of 9"),
        ("within max_block_ms=5000: it", "within kafka.max.block.ms=5000: it"),
        ("raise fetch_max_bytes.", "raise kafka.fetch.max.bytes."),
        ("timestamp_ms=-5 is no int", "timestamp=-5 is no int"),
        ("transaction_timeout_ms is", "transactionTimeoutMs is"),
        (
            "of config.max_block_ms and my_max_block_ms",
            "of config.max_block_ms and my_max_block_ms",
        ),
        ("acks and retries stay, not acks=1", "acks and retries stay, not kafka.acks=1"),
    ],
)
def test_arguments_of_the_clients_are_told_as_options(said: str, shown: str) -> None:
    assert with_options(said) == shown


def test_each_argument_of_the_tables_is_told_as_its_option() -> None:
    for name, (argument, _) in {**CONSUMER, **PRODUCER}.items():
        if "_" in argument:
            assert with_options(f"raise {argument}") == f"raise kafka.{name}"


def test_causes_are_told_in_the_same_words() -> None:
    error = KafkaTimeoutError("none within request_timeout_ms", 5)
    error.__cause__ = OSError(7, "max_block_ms")
    error.__cause__.__cause__ = ValueError("linger_ms")
    name_options(error)
    assert error.args == ("none within kafka.request.timeout.ms", 5)
    assert str(error.__cause__.__cause__) == "kafka.linger.ms"


@pytest.mark.parametrize("simplified", [False, True])
def test_the_sentence_stands_before_the_traceback_and_after_it(
    monkeypatch: pytest.MonkeyPatch, simplified: bool
) -> None:
    monkeypatch.setenv("SPARK_SIMPLIFIED_TRACEBACK", "1" if simplified else "")
    cause = OSError("of a socket")
    with pytest.raises(KafkaConfigurationError) as raised, told():
        raise KafkaConfigurationError("max_block_ms is wrong; raise it") from cause
    if simplified:
        raised.value.__cause__ = None  # as PySpark does
    lines = "".join(traceback.format_exception(raised.value)).splitlines()
    assert lines[0].endswith("WhatToDo: kafka.max.block.ms is wrong; raise it")
    assert lines[-1].endswith("kafka.max.block.ms is wrong; raise it")
    assert not [line for line in lines if "of a socket" in line]


def test_errors_of_other_kinds_pass_as_they_are() -> None:
    with pytest.raises(KeyError) as raised, told():
        raise KeyError("max_block_ms")
    assert (raised.value.args, raised.value.__cause__) == (("max_block_ms",), None)
