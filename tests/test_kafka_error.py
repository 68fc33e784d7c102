"""The root of the tree answers the four questions, with the answers that do least harm."""

import pytest

from aiokafka_lite.errors import InvalidTopicError, KafkaTimeoutError
from aiokafka_lite.kafka_error import Fault, KafkaError, reason_of


def test_root_claims_nothing() -> None:
    assert issubclass(KafkaError, RuntimeError)
    assert KafkaError.fault is Fault.LIBRARY
    assert not KafkaError.retriable
    assert not KafkaError.invalid_metadata
    assert not KafkaError.fatal


def test_text_starts_with_the_name_of_the_class() -> None:
    assert str(KafkaError()) == "KafkaError"
    assert str(KafkaError("no luck")) == "KafkaError: no luck"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KafkaTimeoutError("no answer within 3 s"), "no answer within 3 s"),
        (InvalidTopicError("'a b' cannot exist"), "'a b' cannot exist"),
        (
            InvalidTopicError(),
            "The topic's name is illegal, or the operation is not allowed on an internal topic",
        ),
        (KafkaError(), "KafkaError"),
        (OSError("no route"), "no route"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_the_reason_is_the_text_without_class_and_number_and_never_empty(
    error: Exception, reason: str
) -> None:
    assert reason_of(error) == reason
