"""Checks the records of a batch without decoding them: the pure twin. Does not wait."""

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.varint import read_varint


def check_records(payload: bytes | bytearray | memoryview, count: int) -> tuple[int, int, int, int]:
    """Check that `payload` is `count` whole records of format 2, and nothing else.

    Return the lowest and the highest of their timestamps in relation to the batch, the number of
    records without a key, and the bytes of the largest record.

    Raises: CorruptRecordException saying which record is broken. Source: DefaultRecord.readFrom.
    """
    position, end = 0, len(payload)
    lowest, highest, keyless, largest = (1 << 63) - 1, -(1 << 63), 0, 0
    for index in range(count):
        start = position
        try:
            position, delta, has_key = _read_record(payload, position)
        except (IndexError, CorruptRecordException):
            why = f"record {index} at byte {start} is not a whole record"
            raise CorruptRecordException(why) from None
        lowest, highest = min(lowest, delta), max(highest, delta)
        keyless += not has_key
        largest = max(largest, position - start)
    if position != end:
        raise CorruptRecordException(f"{end - position} bytes follow the last record")
    return lowest, highest, keyless, largest


def _read_record(payload: bytes | bytearray | memoryview, position: int) -> tuple[int, int, bool]:
    """Return the end of a record, its timestamp in relation to the batch, and if it has a key."""
    size, position = read_varint(payload, position)
    stop = position + size
    delta, position = read_varint(payload, position + 1, 10)
    _, position = read_varint(payload, position)
    key, position = read_varint(payload, position)
    position += max(key, 0)
    value, position = read_varint(payload, position)
    position += max(value, 0)
    headers, position = read_varint(payload, position)
    is_whole = size >= 1 and key >= -1 and value >= -1 and headers >= 0
    for _ in range(headers if is_whole and position <= stop else 0):
        name, position = read_varint(payload, position)
        position += max(name, 0)
        content, position = read_varint(payload, position)
        position += max(content, 0)
        is_whole = is_whole and name >= 0 and content >= -1 and position <= stop
        if not is_whole:
            break
    if not is_whole or position != stop or stop > len(payload):
        raise CorruptRecordException("a record is not whole")
    return position, delta, key >= 0


__all__ = ["check_records"]
