"""The interface of the columns into which a cursor decodes records; `arrow/` implements it.

The columns decode the records of the open batch, and the cursor walks the batches. So one place
decides about control batches, aborted transactions and gaps, for records and for columns.
"""

from collections.abc import Sequence
from typing import Protocol


class ColumnsBuilder(Protocol):
    """Columns under construction, which know when they are full."""

    @property
    def is_full(self) -> bool:
        """Whether the columns take no more records."""

    @property
    def position(self) -> int:
        """The position behind the last good record that `decode` has read."""

    @property
    def records_read(self) -> int:
        """How many records `decode` has read, including those before the wanted offset."""

    @property
    def next_offset(self) -> int:
        """The offset behind the last row."""

    def __len__(self) -> int:
        """Rows so far."""

    def begin(self, topic: str, partition: int) -> None:
        """Set the topic and partition of the records that follow."""

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
        """Append records of a batch's decompressed `data` until the columns are full; return how
        many.

        `count` records lie between `position` and `end`; -1 means the end of the data. Records
        before `fetch_offset` are skipped. Afterwards `position`, `records_read` and `next_offset`
        say how far it read.

        Raises: CorruptRecordException at a bad record. The rows before that record are appended.
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
        """Append a record that was decoded elsewhere.

        Return False if a column lacks room for it.
        """


__all__ = ["ColumnsBuilder"]
