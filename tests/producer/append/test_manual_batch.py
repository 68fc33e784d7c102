import pytest

from aiokafka_lite.errors import IllegalArgumentError, IllegalStateError, SerializationError
from aiokafka_lite.producer.append.manual_batch import BatchBuilder, BatchRecordMetadata
from aiokafka_lite.producer.batch.record_fields import RecordSerializers
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.serialization import str_serializer
from tests.producer.batches import values


def make(batch_bytes: int = 200, serializers: RecordSerializers | None = None) -> BatchBuilder:
    return BatchBuilder(
        RecordBatchBuilder,
        batch_bytes,
        serializers or RecordSerializers(None, None),
        lambda: 1.5,
    )


def test_records_are_counted_until_there_is_no_room() -> None:
    batch = make()
    assert (batch.size(), batch.record_count(), batch.closed()) == (61, 0, False)
    assert batch.append(timestamp=5, key=b"k", value=b"v" * 60) == BatchRecordMetadata(
        0, 69, 5, None
    )
    second = batch.append(timestamp=None, key=None, value=b"v" * 50, headers=[("a", b"1")])
    assert second is not None
    assert (second.offset, second.timestamp) == (1, 1500)
    assert batch.size() == 61 + 69 + second.size
    assert batch.append(timestamp=5, key=None, value=b"v" * 50) is None
    assert batch.record_count() == 2
    assert not batch.closed()
    assert batch.append(timestamp=5, key=None, value=b"") is not None
    assert batch._first_timestamp_ms == 5


def test_the_first_record_always_fits() -> None:
    batch = make()
    assert batch.append(timestamp=5, key=None, value=b"v" * 5000) is not None
    assert batch.append(timestamp=5, key=None, value=b"v" * 5000) is None


def test_a_closed_batch_takes_nothing() -> None:
    batch = make()
    batch.close()
    assert batch.closed()
    assert batch.append(timestamp=5, key=None, value=b"v") is None


def test_serializers_are_used_and_what_is_wrong_adds_nothing() -> None:
    batch = make(serializers=RecordSerializers(str_serializer, str_serializer))
    assert batch.append(timestamp=5, key="k", value="v") is not None
    with pytest.raises(SerializationError):
        make().append(timestamp=5, key=None, value="v")
    with pytest.raises(IllegalArgumentError, match=f"timestamp_ms={2**63}"):
        batch.append(timestamp=2**63, key=None, value="v")
    builder, _ = batch._take()
    assert values(builder.wire()) == [b"v"]


def test_it_is_sent_once_and_not_without_records() -> None:
    """A batch that is empty, or was sent, is refused (C4)."""
    batch = make()
    with pytest.raises(IllegalArgumentError, match="no records"):
        batch._take()
    assert not batch.closed()
    batch.append(timestamp=5, key=None, value=b"v")
    batch._take()
    assert batch.closed()
    with pytest.raises(IllegalStateError, match="before"):
        batch._take()  # though nobody knows yet whether it will be queued
    batch._give_back()  # it was not
    batch._take()
