"""Compacts one partition's log as Kafka's cleaner leaves it: holes, emptied batches, horizons.

Of each key the newest record stays. A tombstone, and the marker of a transaction without records,
first gets a delete horizon, and goes once that has passed. A batch without records leaves its
header if it has its producer's last sequence. Does not wait. Source: Cleaner.java; KIP-534.
"""

from dataclasses import replace
from typing import Final, NamedTuple

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import compress, decompress
from aiokafka_lite.record.batch_header import (
    HEADER_BYTES,
    MAGIC_OFFSET,
    BatchHeader,
    parse_header,
    write_header,
)
from aiokafka_lite.record.varint import encode_varint, read_varint
from aiokafka_lite.testing.broker.state.log.partition_log import PartitionLog, StoredBatch
from aiokafka_lite.testing.broker.state.topic_config import TopicConfig

HORIZON: Final = 0x40
"""The attribute of a batch whose base timestamp is its delete horizon."""


class _Record(NamedTuple):
    offset: int
    timestamp: int
    key: bytes | None
    is_tombstone: bool
    rest: bytes
    """What follows the timestamp."""


def compact(log: PartitionLog, config: TopicConfig, now_ms: int) -> None:
    """Compact a log up to its last stable offset, but for records of min.compaction.lag.ms."""
    batches = list(log.batches())
    stable = log.last_stable_offset
    youngest_ms = now_ms - config.min_compaction_lag_ms
    dirty = 0
    while dirty < len(batches):
        batch = batches[dirty]
        is_young = config.min_compaction_lag_ms > 0 and batch.newest_ms > youngest_ms
        if batch.last_offset >= stable or is_young or batch.data[MAGIC_OFFSET] < 2:
            break
        dirty += 1
    end = batches[dirty].base_offset if dirty < len(batches) else log.log_end_offset
    newest = {
        record.key: record.offset
        for record in log.records(committed=True)
        if record.key is not None and record.offset < end
    }
    wanted = set(newest.values())
    headers = [parse_header(each.data) for each in batches if each.data[MAGIC_OFFSET] == 2]
    last_of = {
        header.producer_id: header.base_offset
        for header in headers
        if header.producer_id >= 0 and not header.is_control
    }
    horizon_ms = now_ms + config.delete_retention_ms
    kept, with_records = [], set()
    for batch in batches[:dirty]:
        header = parse_header(batch.data)
        cleaned: StoredBatch | None
        if header.is_control:
            has_records = header.producer_id in with_records
            with_records.discard(header.producer_id)
            cleaned = batch if has_records else _aged(batch, header, horizon_ms, now_ms)
        else:
            is_last = last_of.get(header.producer_id) == batch.base_offset
            cleaned = _cleaned(batch, header, wanted, horizon_ms, now_ms, keeps_header=is_last)
            if cleaned is not None and parse_header(cleaned.data).records_count:
                with_records.add(header.producer_id)
        if cleaned is not None:
            kept.append(cleaned)
    log.replace_batches([*kept, *batches[dirty:]])


def _aged(
    batch: StoredBatch, header: BatchHeader, horizon_ms: int, now_ms: int
) -> StoredBatch | None:
    """Return a marker whose transaction has no records; None if its time is over."""
    if header.attributes & HORIZON:
        return None if header.base_timestamp <= now_ms else batch
    return _rebuilt(batch, header, _records(batch, header), horizon_ms)


def _cleaned(
    batch: StoredBatch,
    header: BatchHeader,
    wanted: set[int],
    horizon_ms: int,
    now_ms: int,
    *,
    keeps_header: bool,
) -> StoredBatch | None:
    records = _records(batch, header)
    has_horizon = bool(header.attributes & HORIZON)
    is_over = has_horizon and header.base_timestamp <= now_ms
    kept = [
        record
        for record in records
        if record.offset in wanted and not (record.is_tombstone and is_over)
    ]
    if not kept:
        return _rebuilt(batch, header, [], None) if keeps_header else None
    begins = not has_horizon and any(record.is_tombstone for record in kept)
    if len(kept) == len(records) and not begins:
        return batch
    return _rebuilt(batch, header, kept, horizon_ms if begins else None)


def _records(batch: StoredBatch, header: BatchHeader) -> list[_Record]:
    if not header.records_count:  # emptied before: what is left is no frame of its codec
        return []
    payload = bytes(decompress(header.codec, memoryview(batch.data)[HEADER_BYTES:]))
    found, position = [], 0
    for _ in range(header.records_count):
        size, start = read_varint(payload, position)
        position = start + size
        delta, after_time = read_varint(payload, start + 1, 10)
        offset, at = read_varint(payload, after_time)
        length, at = read_varint(payload, at)
        key = None if length < 0 else payload[at : at + length]
        value, _ = read_varint(payload, at + max(length, 0))
        found.append(
            _Record(
                header.base_offset + offset,
                header.base_timestamp + delta,
                key,
                value < 0,
                payload[after_time:position],
            )
        )
    return found


def _rebuilt(
    batch: StoredBatch, header: BatchHeader, records: list[_Record], horizon_ms: int | None
) -> StoredBatch:
    """Return the batch with these records alone; its offsets and its sequence stay."""
    base_ms = header.base_timestamp if horizon_ms is None else horizon_ms
    attributes = header.attributes if horizon_ms is None else header.attributes | HORIZON
    body = b""
    for record in records:
        content = b"\0" + encode_varint(record.timestamp - base_ms) + record.rest
        body += encode_varint(len(content)) + content
    packed = compress(CompressionType(header.codec), body) if records else b""
    newest_ms = (
        header.max_timestamp
        if header.timestamp_type or not records
        else max(record.timestamp for record in records)
    )
    data = bytearray(HEADER_BYTES) + packed
    changed = header._replace(
        attributes=attributes,
        base_timestamp=base_ms,
        max_timestamp=newest_ms,
        records_count=len(records),
    )
    write_header(data, changed)
    return replace(batch, max_timestamp=newest_ms, data=data)


__all__ = ["HORIZON", "compact"]
