"""Records for tests of share consumers."""

from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.share.held_records import Record


def record(offset: int, value: bytes = b"v") -> Record:
    return ConsumerRecord("t", 0, offset, 0, 0, None, value, None, -1, len(value), ())
