"""A record that cannot be deserialized names the call that goes past it."""

from aiokafka_lite.share.share_deserializer import ShareDeserializer
from tests.share.records import record


def test_the_error_says_how_to_reject_the_record() -> None:
    deserializer = ShareDeserializer("t", 0, None, int)
    records = [record(4, b"4"), record(5, b"five")]
    error = deserializer.apply(records)
    assert [each.value for each in records] == [4]
    assert error is not None
    assert "acknowledge_offset('t', 0, 5, AcknowledgeType.REJECT) goes past it" in str(error)
    assert "seek" not in str(error)
