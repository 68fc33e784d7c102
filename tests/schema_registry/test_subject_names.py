"""The three strategies, compared with confluent-kafka's."""

import pytest
from confluent_kafka.schema_registry import (
    record_subject_name_strategy,
    topic_record_subject_name_strategy,
    topic_subject_name_strategy,
)
from confluent_kafka.serialization import MessageField, SerializationContext

from aiokafka_lite.schema_registry.registry_errors import SchemaMismatchError
from aiokafka_lite.schema_registry.subject_names import (
    SubjectNameStrategy,
    record_name_strategy,
    topic_name_strategy,
    topic_record_name_strategy,
)


@pytest.mark.parametrize("is_key", [True, False])
def test_the_names_are_confluents(is_key: bool) -> None:
    context = SerializationContext("orders", MessageField.KEY if is_key else MessageField.VALUE)
    for ours, theirs in (
        (topic_name_strategy, topic_subject_name_strategy),
        (record_name_strategy, record_subject_name_strategy),
        (topic_record_name_strategy, topic_record_subject_name_strategy),
    ):
        assert ours("orders", is_key, "shop.Order") == theirs(context, "shop.Order")


@pytest.mark.parametrize("strategy", [record_name_strategy, topic_record_name_strategy])
def test_a_name_is_needed(strategy: SubjectNameStrategy) -> None:
    with pytest.raises(SchemaMismatchError, match="the schema has no name"):
        strategy("orders", False, None)
