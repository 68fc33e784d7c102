import pytest

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.cursor.error_place import with_place


def raised() -> CorruptRecordException:
    def read() -> None:
        try:
            int("what was read")
        except ValueError as cause:
            raise CorruptRecordException("the CRC is wrong") from cause

    with pytest.raises(CorruptRecordException) as caught:
        read()
    return caught.value


def test_the_place_is_in_the_text_with_the_remedy_and_in_the_attributes() -> None:
    placed = with_place(raised(), "orders", 3, 17)
    assert "orders-3 at offset 17: the CRC is wrong; seek past the batch" in str(placed)
    assert (placed.topic, placed.partition, placed.offset) == ("orders", 3, 17)


def test_what_caused_it_stays_and_no_frame_does() -> None:
    """A frame would keep the buffers that were read."""
    placed = with_place(raised(), "orders", 3, 17)
    assert isinstance(placed.__cause__, ValueError)
    assert placed.__traceback__ is None
    assert placed.__cause__.__traceback__ is None
