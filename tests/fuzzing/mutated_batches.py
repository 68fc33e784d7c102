"""Fetched bytes as a broken disk or a hostile broker would send them: batches, then random damage.

Everything comes from one `random.Random`, so a seed is enough to see a failure again.
"""

import struct
import zlib
from dataclasses import dataclass
from random import Random

from aiokafka_lite.codec.crc32c import crc32c
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.record.batch_builder import RecordBatchBuilder

_HEADER = 61
"""Bytes of a batch of magic 2 before its records."""
_MAGIC_AT = 16
_LAST_OFFSET_DELTA_AT = 23
_COUNT_AT = 57
_TIMESTAMPS = (0, 5, 1_700_000_000_123, 2**63 - 1)


@dataclass(frozen=True)
class CursorOptions:
    """How a cursor is asked to read the bytes, and how many records it gives at a time."""

    fetch_offset: int
    check_crcs: bool
    read_committed: bool
    aborted_transactions: tuple[tuple[int, int], ...]
    max_decompressed_bytes: int
    takes: tuple[tuple[int, int | None], ...]

    @property
    def arguments(self) -> dict[str, object]:
        """The keyword arguments of `RecordCursor`."""
        return {
            "fetch_offset": self.fetch_offset,
            "check_crcs": self.check_crcs,
            "read_committed": self.read_committed,
            "aborted_transactions": self.aborted_transactions,
            "max_decompressed_bytes": self.max_decompressed_bytes,
        }


def cursor_options(rng: Random) -> CursorOptions:
    return CursorOptions(
        fetch_offset=rng.choice([0, 0, 5, 12, 30, 2**40 + 3]),
        check_crcs=rng.random() < 0.5,
        read_committed=rng.random() < 0.3,
        aborted_transactions=((5, 0),) if rng.random() < 0.5 else (),
        max_decompressed_bytes=rng.choice([10**6, 10**6, 3000]),
        takes=tuple(
            (rng.choice([1, 3, 1000]), rng.choice([None, None, 1, 200]))
            for _ in range(rng.randrange(1, 6))
        ),
    )


def mutated_fetch(rng: Random) -> bytes:
    """Return one to three batches, most of them damaged, and the last one often cut off."""
    data = b"".join(_mutated_batch(rng) for _ in range(rng.randrange(1, 4)))
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data


def _mutated_batch(rng: Random) -> bytes:
    wire = _legacy_message(rng) if rng.random() < 0.1 else _batch(rng)
    if rng.random() < 0.7:
        for _ in range(rng.randrange(4)):
            if wire:
                _damage(rng, wire)
    # Damage behind a checksum that fits reaches the code that a wrong checksum protects.
    if rng.random() < 0.6 and len(wire) > _HEADER and wire[_MAGIC_AT] == 2:
        struct.pack_into(">i", wire, 8, len(wire) - 12)
        struct.pack_into(">I", wire, 17, crc32c(bytes(wire[21:])))
    return bytes(wire)


def _batch(rng: Random) -> bytearray:
    builder = RecordBatchBuilder(
        bytearray(60_000),
        compression=CompressionType(rng.choice([0, 0, 0, 1, 2, 3, 4])),
        is_transactional=rng.random() < 0.3,
    )
    for _ in range(rng.randrange(1, 40)):
        key = rng.choice([None, b"", rng.randbytes(rng.randrange(200))])
        value = rng.choice([None, b"", rng.randbytes(rng.randrange(300)), b"z" * 500])
        headers = tuple(
            (rng.choice(["", "h", "näme", "x" * 130]), rng.choice([None, b"", rng.randbytes(140)]))
            for _ in range(rng.choice([0, 0, 0, 1, 3]))
        )
        builder.append(rng.choice(_TIMESTAMPS), key, value, headers)
    builder.stamp(rng.choice([-1, 5, 6]), 0, 0)
    wire = bytearray(builder.wire())
    struct.pack_into(">q", wire, 0, rng.choice([0, 10, 10, 2**40]))
    return wire


def _legacy_message(rng: Random) -> bytearray:
    magic = rng.choice([0, 1])
    key, value = rng.choice([None, rng.randbytes(4)]), rng.randbytes(rng.randrange(20))
    body = struct.pack(">bb", magic, rng.choice([0, 0, 0, 1, 2, 3, 8]))
    body += struct.pack(">q", 5) if magic else b""
    body += struct.pack(">i", -1) if key is None else struct.pack(">i", len(key)) + key
    body += struct.pack(">i", len(value)) + value
    message = struct.pack(">I", zlib.crc32(body)) + body
    return bytearray(struct.pack(">qi", rng.randrange(20), len(message)) + message)


def _damage(rng: Random, wire: bytearray) -> None:
    """Change, remove, insert or cut a few bytes; or set one of the two counts of the header."""
    at = rng.randrange(len(wire))
    if rng.random() < 0.5:
        at = min(at, rng.randrange(100))  # headers and the first records are where lengths stand
    kind = rng.random()
    if kind < 0.5:
        wire[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    elif kind < 0.65:
        del wire[at : at + rng.randrange(1, 9)]
    elif kind < 0.8:
        wire[at:at] = rng.choice([rng.randbytes(rng.randrange(1, 12)), b"\xff" * 10, b"\x80" * 11])
    elif kind < 0.9:
        del wire[at:]
    elif len(wire) > _HEADER:
        count = rng.choice([0, -1, 1, 2**31 - 1, -(2**31), 1000])
        struct.pack_into(">i", wire, rng.choice([_LAST_OFFSET_DELTA_AT, _COUNT_AT]), count)
