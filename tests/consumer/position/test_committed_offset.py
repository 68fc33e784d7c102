"""What a group keeps of a position."""

from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.schema.field_types import ZERO_UUID


def test_an_offset_alone_is_one_of_an_unknown_epoch_without_metadata() -> None:
    assert CommittedOffset(7) == (7, -1, "", ZERO_UUID)
