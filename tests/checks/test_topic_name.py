"""The rule what a topic may be called, as Kafka's brokers have it."""

import pytest

from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.errors import InvalidTopicError


@pytest.mark.parametrize("name", ["t", "a" * 249, "A-z_0.9", "...", "__consumer_offsets"])
def test_what_brokers_allow_is_allowed(name: str) -> None:
    check_topic_name(name)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a" * 250, "a b", "a/b", "ä", "a\n", "\x00", "\ud800"]
)
def test_what_brokers_refuse_is_refused_with_the_rule(name: str) -> None:
    with pytest.raises(InvalidTopicError, match=r"1 to 249 characters out of a-z") as caught:
        check_topic_name(name)
    str(caught.value).encode()  # it can be logged


def test_of_a_name_that_may_be_a_record_only_the_length_is_told() -> None:
    with pytest.raises(InvalidTopicError) as caught:
        check_topic_name("card 4111 " * 4_000)
    assert "<str, 40,000 long>" in str(caught.value)
    assert "4111" not in str(caught.value)
    assert len(str(caught.value)) < 300
