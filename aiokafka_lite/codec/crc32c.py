"""CRC-32C (Castagnoli), the checksum of record batches.

Chooses the fastest routine at import. Does not wait. The native twin, or else `fastcrc`, checks a
megabyte in tens of microseconds. The table below serves where neither can be installed. It needs
some 50 ms, so its first use writes one log line.
"""

import logging
import struct
from collections.abc import Callable
from typing import Final

from aiokafka_lite.native import native

logger = logging.getLogger(__name__)

_POLYNOMIAL: Final = 0x82F63B78  # reflected form of 0x1EDC6F41, RFC 3720 section 12.1


def _slicing_tables() -> tuple[tuple[int, ...], ...]:
    """Return eight tables; entry b of table k is the CRC of byte b followed by k zero bytes."""
    first = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
        first.append(crc)
    tables = [first]
    for _ in range(7):
        tables.append([first[crc & 0xFF] ^ (crc >> 8) for crc in tables[-1]])
    return tuple(tuple(table) for table in tables)


_tables: tuple[tuple[int, ...], ...] = ()


def _tables_at_first_use() -> tuple[tuple[int, ...], ...]:
    global _tables  # noqa: PLW0603  built once, on demand: importing costs nothing where fastcrc is installed
    _tables = _slicing_tables()
    logger.warning(
        "record checksums are computed in pure Python, at some 20 MB/s; install fastcrc,"
        " which computes them in native code"
    )
    return _tables


def crc32c_py(data: bytes | bytearray | memoryview, crc: int = 0, /) -> int:
    """Return the CRC-32C of `data`, continuing from `crc` (the CRC of the bytes before).

    Source: slicing-by-8 (Kounavis and Berry, 2005).
    """
    t0, t1, t2, t3, t4, t5, t6, t7 = _tables or _tables_at_first_use()
    crc ^= 0xFFFFFFFF
    whole = len(data) & ~7
    for low, b4, b5, b6, b7 in struct.iter_unpack("<I4B", data[:whole]):
        low ^= crc  # noqa: PLW2901  a second name would cost a store per eight bytes
        crc = (
            t7[low & 0xFF]
            ^ t6[low >> 8 & 0xFF]
            ^ t5[low >> 16 & 0xFF]
            ^ t4[low >> 24]
            ^ t3[b4]
            ^ t2[b5]
            ^ t1[b6]
            ^ t0[b7]
        )
    for byte in data[whole:]:
        crc = t0[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


crc32c: Callable[[bytes | bytearray | memoryview], int]
"""`crc32c(data, crc=0)`: the CRC-32C of any contiguous bytes, continuing from an earlier CRC."""
USES_C: bool
_twin = native("aiokafka_lite.codec._crc32c")
if _twin is not None:
    crc32c = _twin.crc32c
    USES_C = True
else:
    try:
        from fastcrc.crc32 import iscsi as crc32c

        USES_C = True
    except ImportError:
        crc32c = crc32c_py
        USES_C = False

__all__ = ["USES_C", "crc32c", "crc32c_py"]
