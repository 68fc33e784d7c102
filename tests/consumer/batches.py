"""Record batches and Fetch answers as a broker would send them, in a line or two each."""

import struct
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.control_record import ControlRecordType, build_control_batch
from aiokafka_lite.schema.field_types import ZERO_UUID

TOPIC_ID = UUID(int=7)
_BASE_OFFSET = struct.Struct(">q")
_LEADER_EPOCH = struct.Struct(">i")


def batch(values: Sequence[bytes | None], base_offset: int = 0) -> bytes:
    """One batch with these values; the record at offset n has the key b"n"."""
    builder = RecordBatchBuilder(bytearray(1 << 20))
    for offset, value in enumerate(values, base_offset):
        assert builder.append(1_000 + offset, str(offset).encode(), value) is not None
    builder.seal()
    data = bytearray(builder.wire())
    _BASE_OFFSET.pack_into(data, 0, base_offset)  # outside of what the CRC covers
    return bytes(data)


def batches(first_offset: int, *sizes: int) -> bytes:
    """Batches of these sizes one after the other; the value at offset n is b"v<n>"."""
    parts = []
    for size in sizes:
        values = [b"v%d" % offset for offset in range(first_offset, first_offset + size)]
        parts.append(batch(values, first_offset))
        first_offset += size
    return b"".join(parts)


def marker(offset: int) -> bytes:
    """The marker that commits a transaction: a control batch, which nobody is shown."""
    control = ControlRecordType.COMMIT
    return bytes(
        build_control_batch(
            control, base_offset=offset, producer_id=1, producer_epoch=0, timestamp_ms=1000
        )
    )


def of_epoch(leader_epoch: int, data: bytes) -> bytes:
    """The same batch as written by the leader of that epoch."""
    stamped = bytearray(data)
    _LEADER_EPOCH.pack_into(stamped, 12, leader_epoch)  # outside of what the CRC covers
    return bytes(stamped)


def with_bad_crc(data: bytes) -> bytes:
    """The same batch with its last byte flipped."""
    return data[:-1] + bytes([data[-1] ^ 0xFF])


def partition_data(partition: int, records: bytes | None = b"", **fields: Any) -> PartitionData:
    """A partition's part of a Fetch answer."""
    aborted = fields.pop("aborted", None)
    return PartitionData(
        partition_index=partition,
        records=None if records is None else memoryview(records),
        aborted_transactions=None
        if aborted is None
        else [
            AbortedTransaction(producer_id=producer, first_offset=first)
            for producer, first in aborted
        ],
        **{"high_watermark": 100, "log_start_offset": 0, **fields},
    )


def fetch_answer(
    *partitions: PartitionData,
    topic: str = "t",
    topic_id: UUID = ZERO_UUID,
    session_id: int = 1,
    error_code: int = 0,
    throttle_time_ms: int = 0,
) -> FetchResponse:
    """A Fetch answer about one topic, by name or by id."""
    responses = [
        FetchableTopicResponse(
            topic="" if topic_id != ZERO_UUID else topic,
            topic_id=topic_id,
            partitions=list(partitions),
        )
    ]
    return FetchResponse(
        session_id=session_id,
        error_code=error_code,
        throttle_time_ms=throttle_time_ms,
        responses=responses if partitions else [],
    )


def tps(*partitions: int, topic: str = "t") -> list[TopicPartition]:
    """Partitions of one topic."""
    return [TopicPartition(topic, partition) for partition in partitions]
