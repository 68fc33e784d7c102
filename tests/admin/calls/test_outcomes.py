"""What a call did for each thing: values, errors, and the texts of errors."""

import pytest

from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error
from aiokafka_lite.broker_errors import kafka_errors
from aiokafka_lite.errors import (
    InvalidTopicError,
    KafkaError,
    UnknownError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.kafka_error import reason_of

OF_A_MEMBER = (
    "join again",
    "expelled",
    "heartbeat",
    "give up",
    "session_timeout_ms",
    "transaction_timeout_ms is",
    "the member's",
    "the producer's",
    "does not know this member",
    "of the subscription",
)
"""What says to a member or a producer what it has to do itself."""
NOT_ANSWERED_TO_AN_ADMINISTRATOR = {117, 129}
"""Of telemetry and of bootstrapping, which the client does by itself."""


def test_what_failed_is_told_from_what_succeeded() -> None:
    error = InvalidTopicError("no")
    outcomes: Outcomes[str, int] = Outcomes({"a": 1, "b": error, "c": 0})
    assert outcomes.succeeded == {"a": 1, "c": 0}
    assert outcomes.failed == {"b": error}
    assert list(outcomes) == ["a", "b", "c"]


def test_the_first_error_is_raised_in_the_order_of_the_question() -> None:
    outcomes: Outcomes[str, None] = Outcomes(a=None, b=InvalidTopicError("b"), c=KafkaError("c"))
    with pytest.raises(InvalidTopicError, match="b"):
        outcomes.raise_first()
    Outcomes(a=None).raise_first()


def test_an_error_names_what_it_is_about_once() -> None:
    assert broker_error(0, "all is well", "topic 'a'") is None
    error = broker_error(3, None, "topic 'a'")
    assert isinstance(error, UnknownTopicOrPartitionError)
    assert str(error.args[0]).startswith("topic 'a': ")
    named = broker_error(17, "the name 'a b' is wrong", "topic 'a b'")
    assert isinstance(named, InvalidTopicError)
    assert named.args[0] == "the name 'a b' is wrong"
    plain = broker_error(-1, "it broke", "the cluster")
    assert isinstance(plain, UnknownError)
    assert plain.args[0] == "the cluster: it broke"


@pytest.mark.parametrize("code", [code for code in kafka_errors if code])
def test_no_code_is_told_in_the_words_of_a_member_or_a_producer(code: int) -> None:
    error = broker_error(code, None, "group 'g'")
    assert error is not None
    text = reason_of(error)
    assert text.startswith("group 'g': ")
    found = [each for each in OF_A_MEMBER if each in text.lower()]
    assert not found or code in NOT_ANSWERED_TO_AN_ADMINISTRATOR, text
    assert broker_error(code, "the broker's own words", "group 'g'") is not None
