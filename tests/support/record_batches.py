"""Reads a record batch that the code under test has made."""

from aiokafka_lite.record.batch_header import BatchHeader, check_crc, parse_header


def validate_batch(view: bytes | bytearray | memoryview) -> BatchHeader:
    """Return the header of the one batch at the start of `view`, with its checksum verified.

    Does not decode the records.

    Raises: CorruptRecordException for another magic than 2, impossible sizes or a wrong checksum.
    """
    whole = memoryview(view)
    header = parse_header(whole)
    check_crc(whole, header)
    return header


__all__ = ["validate_batch"]
