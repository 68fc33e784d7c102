"""An assignment is taken over as far as the metadata knows its topics; the rest is kept."""

from uuid import UUID

from aiokafka_lite.consumer.group.consumer_rebalance.target_names import NamedTarget, named_target
from aiokafka_lite.model import TopicPartition

T1, T2 = UUID(int=1), UUID(int=2)
NAMES = {T1: "a"}


def test_topics_that_are_known_get_their_names() -> None:
    found = named_target(frozenset({(T1, 0), (T1, 1)}), NAMES.get)
    assert found == NamedTarget(
        frozenset({TopicPartition("a", 0), TopicPartition("a", 1)}),
        frozenset({(T1, 0), (T1, 1)}),
        frozenset(),
        {"a": T1},
    )


def test_topics_without_a_name_are_told_apart() -> None:
    found = named_target(frozenset({(T1, 0), (T2, 0), (T2, 1)}), NAMES.get)
    assert found == NamedTarget(
        frozenset({TopicPartition("a", 0)}), frozenset({(T1, 0)}), frozenset({T2}), {"a": T1}
    )


def test_an_empty_assignment_has_nothing() -> None:
    assert named_target(frozenset(), NAMES.get) == NamedTarget(
        frozenset(), frozenset(), frozenset(), {}
    )
