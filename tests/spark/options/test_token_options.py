"""The options of delegation tokens, at source and sink."""

from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.options.source_options import SourceOptions

SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"
GIVEN = {
    "kafka.bootstrap.servers": "h:1",
    "subscribe": "t",
    "kafka.security.protocol": "SASL_PLAINTEXT",
    "kafka.sasl.mechanism": "SCRAM-SHA-256",
    "kafka.sasl.jaas.config": f'{SCRAM} username="alice" password="hunter2";',
    "delegationToken": "true",
}
PLAIN = {
    "kafka.sasl.mechanism": "PLAIN",
    "kafka.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required"
    ' username="alice" password="hunter2";',
}


@pytest.mark.parametrize(
    ("given", "mechanism"),
    [
        ({}, "SCRAM-SHA-256"),  # that of the user
        (PLAIN, "SCRAM-SHA-512"),
        ({**PLAIN, "delegationTokenMechanism": "SCRAM-SHA-256"}, "SCRAM-SHA-256"),
        ({"delegationToken": "false"}, None),
    ],
)
def test_executors_log_in_by_scram(given: dict[str, Any], mechanism: str | None) -> None:
    options = {**GIVEN, **given}
    for streaming in (False, True):
        assert SourceOptions.parse(options, streaming=streaming).token_mechanism == mechanism
    assert SinkOptions.parse(options).token_mechanism == mechanism


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"delegationToken": "yes"}, "delegationToken='yes' is not true or false"),
        (
            {"delegationToken": "false", "delegationTokenMechanism": "SCRAM-SHA-256"},
            "delegationTokenMechanism has no effect without delegationToken=true",
        ),
        ({"delegationTokenMechanism": "PLAIN"}, "'PLAIN' is not one of SCRAM-SHA-512, SCRAM-SHA-2"),
        (
            {"kafka.security.protocol": "SSL"},
            "delegationToken needs kafka.security.protocol=SASL_SSL",
        ),
    ],
)
def test_what_does_not_fit_is_a_fault(given: dict[str, Any], said: str) -> None:
    for parse in (SinkOptions.parse, lambda all_: SourceOptions.parse(all_, streaming=True)):
        with pytest.raises(KafkaConfigurationError) as raised:
            parse({**GIVEN, **given})
        assert said in str(raised.value)
