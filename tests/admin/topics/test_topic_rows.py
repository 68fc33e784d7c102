"""The rows are aiokafka's: named, and taken apart by number."""

from aiokafka_lite.admin.topics.topic_rows import TopicError, TopicErrorCode


def test_rows_are_taken_apart() -> None:
    assert TopicError("t", 36, "exists") == ("t", 36, "exists")
    assert TopicErrorCode("t", 3)._asdict() == {"topic": "t", "error_code": 3}
