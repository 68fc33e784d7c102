"""Which items are still to be asked for, and what their outcomes are."""

import pytest

from aiokafka_lite.admin.calls.pending_items import SETTLING_S, PendingItems
from aiokafka_lite.errors import (
    InvalidTopicError,
    KafkaConnectionError,
    KafkaProtocolError,
    KafkaTimeoutError,
    NotControllerError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)

BEGAN_S = 100.0
Items = PendingItems[str, int]


def items_of(*keys: str) -> Items:
    return PendingItems("ask()", keys, BEGAN_S)


def test_outcomes_have_the_order_of_the_question_and_each_item_once() -> None:
    items = items_of("b", "a", "b")
    assert items.pending == ["b", "a"]
    items.note_answers(["a"], {"a": 1}, BEGAN_S)
    assert items.pending == ["b"]
    items.note_answers(["b"], {"b": 2}, BEGAN_S)
    assert list(items.outcomes().items()) == [("b", 2), ("a", 1)]


def test_only_a_retriable_error_leaves_its_item_pending() -> None:
    items = items_of("a", "b", "c")
    refused = InvalidTopicError("no")
    items.note_answers("abc", {"a": refused, "b": NotControllerError(), "c": 3}, BEGAN_S)
    assert items.pending == ["b"]
    items.note_answers("b", {"b": 2}, BEGAN_S)
    assert items.outcomes() == {"a": refused, "b": 2, "c": 3}


def test_an_item_without_a_result_is_told() -> None:
    items = items_of("a", "b")
    items.note_answers("ab", {"b": 1, "z": 2}, BEGAN_S)
    with pytest.raises(KafkaProtocolError, match="no result for 'a'"):
        items.outcomes().raise_first()


@pytest.mark.parametrize("unknown", [UnknownTopicOrPartitionError, UnknownTopicIdError])
def test_an_unknown_topic_is_final_once_brokers_should_know_it(
    unknown: type[UnknownTopicOrPartitionError | UnknownTopicIdError],
) -> None:
    items = items_of("a")
    items.note_answers("a", {"a": unknown()}, BEGAN_S + SETTLING_S - 0.001)
    assert items.pending == ["a"]
    items.note_answers("a", {"a": unknown()}, BEGAN_S + SETTLING_S)
    assert isinstance(items.outcomes()["a"], unknown)
    at_once: Items = PendingItems("ask()", "a", BEGAN_S, 0.0)
    at_once.note_answers("a", {"a": unknown()}, BEGAN_S)
    assert at_once.pending == []


def test_a_request_that_failed_leaves_its_items_pending_if_it_may_be_repeated() -> None:
    lost = KafkaConnectionError("lost")
    items = items_of("a", "b", "c")
    items.note_failure("a", lost, BEGAN_S)
    items.note_failure("b", lost, BEGAN_S, is_final=True)
    items.note_failure("c", InvalidTopicError("no"), BEGAN_S)
    assert items.pending == ["a"]


def test_the_bound_gives_each_pending_item_an_error_with_its_last_failure() -> None:
    items = items_of("a", "b", "c")
    items.note_answers("a", {"a": 1}, BEGAN_S)
    lost = KafkaConnectionError("node 1 is lost")
    items.note_failure("b", lost, BEGAN_S)
    items.time_out(2.0, {"c": 3})
    outcomes = items.outcomes()
    assert outcomes.succeeded == {"a": 1}
    text = r"ask\(\): no result within 2 s; last failure: node 1 is lost; .* raise timeout_ms"
    with pytest.raises(KafkaTimeoutError, match=text) as caught:
        outcomes.raise_first()
    assert caught.value.__cause__ is lost
    assert "within 2 s; node 3 has not answered; check" in str(outcomes["c"])


def test_a_call_without_any_answer_is_raised_as_a_whole() -> None:
    items = items_of("a", "b")
    items.note_failure("ab", InvalidTopicError("the first"), BEGAN_S)
    with pytest.raises(InvalidTopicError, match="the first"):
        items.outcomes()
    assert items_of().outcomes() == {}
