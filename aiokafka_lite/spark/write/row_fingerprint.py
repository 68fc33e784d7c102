"""Computes the fingerprint of a task's rows, equal for equal rows in any order and any batches.

The order must not matter, because a shuffle changes it each time. It is not cryptographic: it
detects rows that changed by mistake. Does not wait.
"""

import zlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import pyarrow as pa

_CHAINED: Final = ("key", "value")
_MASK: Final = (1 << 64) - 1
_NULL: Final = b"\x00null"
_NULL_NESTED: Final = zlib.crc32(b"None")
"""The checksum of a row without headers, which most have not."""


class RowFingerprint:
    """Sums over the rows: a checksum of key and value together, and of each other column.

    A sum has 64 bits, and does not depend on the order.
    """

    def __init__(self, topic: str | None) -> None:
        """`topic` is the topic of all rows; None if each row names its own."""
        self.rows = 0
        self._sums: dict[str, int] = {}
        self._topic = zlib.crc32((topic or "").encode())

    def add(self, batch: "pa.RecordBatch") -> None:
        """Add rows."""
        import pyarrow as pa  # noqa: PLC0415 - an import costs what a short task does

        self.rows += batch.num_rows
        chain: Iterable[int] = [self._topic] * batch.num_rows
        for name in batch.schema.names:
            column = batch.column(name)
            if name in _CHAINED:
                chain = map(zlib.crc32, _contents(column), chain)
            elif column.null_count == batch.num_rows:
                each = _NULL_NESTED if pa.types.is_nested(column.type) else 0
                self._sum(name, (each * batch.num_rows,))
            else:
                self._sum(name, _checksums(column))
        self._sum("", chain)

    def _sum(self, name: str, checksums: Iterable[int]) -> None:
        self._sums[name] = (self._sums.get(name, 0) + sum(checksums)) & _MASK

    def digest(self) -> str:
        """Return the fingerprint of the rows so far."""
        text = " ".join(f"{name}={total:x}" for name, total in sorted(self._sums.items()) if total)
        return f"{zlib.crc32(text.encode()):08x}{self._sums.get('', 0):016x}"


def _contents(column: "pa.Array") -> Iterable[bytes]:
    """Return each row's bytes; for a null, bytes that no text has."""
    import pyarrow as pa  # noqa: PLC0415 - an import costs what a short task does

    return column.cast(pa.binary()).fill_null(_NULL).to_pylist()  # type: ignore[no-any-return]


def _checksums(column: "pa.Array") -> Iterable[int]:
    """Return a number for each row; 0 for a null."""
    import pyarrow as pa  # noqa: PLC0415

    if pa.types.is_string(column.type):
        return map(zlib.crc32, _contents(column))
    if pa.types.is_nested(column.type):
        return (zlib.crc32(repr(each).encode()) for each in column.to_pylist())
    if pa.types.is_floating(column.type):
        return (zlib.crc32(repr(each).encode()) for each in column.to_pylist())
    numbers = column.cast(pa.int64()).fill_null(0)
    return numbers.to_pylist()  # type: ignore[no-any-return]


__all__ = ["RowFingerprint"]
