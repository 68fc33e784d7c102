"""The words of dead letters; what they are on rows is tested with the job `decode`."""

from aiokafka_lite.spark.decode.dead_letters import dead_letter_headers, quoted


def test_headers_have_the_names_of_kafka_connect() -> None:
    """The headers of a dead letter have the names that Kafka Connect gives them (KIP-298)."""
    expression = dead_letter_headers("it's")
    for name in (
        *("topic", "partition", "offset", "connector.name", "stage"),
        *("exception.class.name", "exception.message"),
    ):
        assert f"'__connect.errors.{name}'" in expression
    assert r"'it\'s'" in expression


def test_texts_are_quoted_for_sql() -> None:
    assert quoted(r"a'b\c") == r"'a\'b\\c'"
