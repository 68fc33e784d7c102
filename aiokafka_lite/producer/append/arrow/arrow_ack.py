"""What `send_arrow` returns: a `BulkAck` whose numbers are those of the rows.

Rows are appended partition by partition, so records are not in the order of the rows. Four bytes a
record keep its row.
"""

from array import array
from collections.abc import Iterator

from aiokafka_lite.model import RecordMetadata
from aiokafka_lite.producer.append.bulk_ack import BulkAck


class ArrowAck(BulkAck):
    """The ack of the rows of Arrow data. As `BulkAck`; the first row is 0."""

    __slots__ = ("_own_times", "_parts")

    def __init__(self) -> None:
        super().__init__()
        # The rows of the records in the order of sending, by Arrow batch, and the rows before it.
        self._parts: list[tuple[array[int], int]] = []
        self._own_times: array[int] | None = None

    def _note_rows(
        self, rows: "array[int]", times_ms: "array[int] | None", rows_before: int = 0
    ) -> None:
        """Note the rows of the records added last, and the rows' own timestamps, if they have any.

        `rows` are numbers in an Arrow batch, which `rows_before` rows precede.
        """
        if times_ms is not None:
            if self._own_times is None:
                self._own_times = array("q")
            self._own_times.extend(times_ms)
        self._parts.append((rows, rows_before))

    def errors(self) -> Iterator[tuple[int, Exception]]:
        """Yield (row, error) of each row that was not written, in the order of rows.

        Raises: asyncio.InvalidStateError while there is no outcome.
        """
        self._check_done()
        rows = self._rows() if any(map(self._has_errors, self._batches)) else []
        failed = [(rows[number], error) for number, error in super().errors()]
        yield from sorted(failed, key=lambda pair: pair[0])

    def metadata(self) -> Iterator[RecordMetadata]:
        """Yield the metadata of each row's record in the order of rows.

        Raises: as `BulkAck.metadata`.
        """
        self._check_done()
        rows = self._rows()
        by_row = sorted(range(len(rows)), key=rows.__getitem__)
        places = list(self._records())
        times = self._own_times if self._own_times is not None else array("q", self._times())
        for number in by_row:
            batch, index = places[number]
            error = batch.error_of(index)
            if error is not None:
                raise error.with_traceback(None)
            yield batch.metadata_of(index, times[number])

    def _rows(self) -> list[int]:
        """Return the row of each record, in the order of sending."""
        return [row + before for rows, before in self._parts for row in rows]


__all__ = ["ArrowAck"]
