"""Errors that no part of a client names: they are made when somebody asks for one."""

import subprocess
import sys

import pytest

RARE = "aiokafka_lite.rare_broker_errors"
PROGRAM = f"""
import sys
from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, broker_errors, errors
before = "{RARE}" in sys.modules
print(before, {{ask}}, "{RARE}" in sys.modules)
"""


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        ("errors.for_code(3).__name__", "False UnknownTopicOrPartitionError False"),
        ("errors.for_code(37).__name__", "False InvalidPartitionsError True"),
        ("errors.for_code(32000).__name__", "False UnknownError True"),
        ("errors.NotEnoughReplicasError.errno", "False 19 True"),
        ("broker_errors.NotEnoughReplicasError.errno", "False 19 True"),
        ("errors.kafka_errors[19] is errors.NotEnoughReplicasError", "False True True"),
        ("{'NonEmptyGroup', 'KafkaError'} <= set(dir(errors))", "False True False"),
        ("hasattr(errors, 'NoSuchError')", "False False False"),
        ("hasattr(broker_errors, 'NoSuchError')", "False False False"),
    ],
)
def test_class_is_made_when_it_is_asked_for(ask: str, answer: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(ask=ask)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.strip() == answer
