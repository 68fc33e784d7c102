"""What a cursor asks of the columns it decodes records into; `arrow/` has them."""

from collections.abc import Sequence
from typing import Protocol


class ColumnsBuilder(Protocol):
    """Columns under construction, which know when they have enough."""

    @property
    def is_full(self) -> bool:
        """Whether no more records are to be taken."""

    @property
    def position(self) -> int:
        """Behind the last record `decode` has read, the bad one not included."""

    @property
    def records_read(self) -> int:
        """How many records `decode` has read, those before the wanted offset included."""

    @property
    def next_offset(self) -> int:
        """Behind the last row."""

    def __len__(self) -> int:
        """Rows so far."""

    def begin(self, topic: str, partition: int) -> None:
        """Say where the records to come are from."""

    def decode(
        self,
        data: bytes | bytearray | memoryview,
        position: int,
        count: int,
        base_offset: int,
        last_offset: int,
        base_timestamp: int,
        timestamp_type: int,
        max_timestamp: int,
        fetch_offset: int,
        end: int = -1,
        /,
    ) -> int:
        """Append records of a batch's decompressed `data` until full; return how many.

        `count` are left from `position` to `end`, -1 for that of the data. Those before
        `fetch_offset` are passed over. Where it came to is in `position`, `records_read` and
        `next_offset`. Raises CorruptRecordException at a bad record, with the rows before it
        appended.
        """

    def append(
        self,
        offset: int,
        timestamp: int,
        timestamp_type: int,
        key: bytes | None,
        value: bytes | None,
        headers: Sequence[tuple[str, bytes | None]] = (),
        /,
    ) -> bool:
        """Append a record that was decoded elsewhere; False: no column has room for it any more."""


__all__ = ["ColumnsBuilder"]
