"""The root of the tree answers the four questions, with the answers that do least harm."""

from aiokafka_lite.kafka_error import Fault, KafkaError


def test_root_claims_nothing() -> None:
    assert issubclass(KafkaError, RuntimeError)
    assert KafkaError.fault is Fault.LIBRARY
    assert not KafkaError.retriable
    assert not KafkaError.invalid_metadata
    assert not KafkaError.fatal


def test_text_starts_with_the_name_of_the_class() -> None:
    assert str(KafkaError()) == "KafkaError"
    assert str(KafkaError("no luck")) == "KafkaError: no luck"
