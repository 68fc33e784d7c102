"""Names the subject that a schema is registered under. Does not wait.

A strategy is a function of topic, `is_key` and the record's name, which may be None.
"""

from collections.abc import Callable

from aiokafka_lite.schema_registry.registry_errors import SchemaMismatchError

SubjectNameStrategy = Callable[[str, bool, str | None], str]


def topic_name_strategy(topic: str, is_key: bool, _record_name: str | None) -> str:
    """TOPIC-key or TOPIC-value: a topic has one type of record. Java: TopicNameStrategy."""
    return f"{topic}-{'key' if is_key else 'value'}"


def record_name_strategy(_topic: str, _is_key: bool, record_name: str | None) -> str:
    """The name of the record's type, the same in all topics. Java: RecordNameStrategy.

    Raises: SchemaMismatchError for a schema without a name.
    """
    return _checked(record_name)


def topic_record_name_strategy(topic: str, _is_key: bool, record_name: str | None) -> str:
    """TOPIC-NAME: a topic has several types of records. Java: TopicRecordNameStrategy.

    Raises: SchemaMismatchError for a schema without a name.
    """
    return f"{topic}-{_checked(record_name)}"


def _checked(record_name: str | None) -> str:
    if not record_name:
        raise SchemaMismatchError(
            "the schema has no name to make a subject of; name it (Avro: name, JSON Schema: title),"
            " or use topic_name_strategy"
        )
    return record_name


__all__ = [
    "SubjectNameStrategy",
    "record_name_strategy",
    "topic_name_strategy",
    "topic_record_name_strategy",
]
