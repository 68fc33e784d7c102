"""Records one by one, without a poll for each: the pure twin.

A poll for one record decodes some records ahead. `take` hands them out one by one, until a seek, a
pause or a response changes the revision. Only `_next_by_getone` waits.
"""

from collections.abc import Callable, Coroutine
from threading import get_ident
from typing import Any

from aiokafka_lite.consumer.position.partition_state import PartitionState
from aiokafka_lite.consumer.revision import Revision
from aiokafka_lite.model import ConsumerRecord

Record = ConsumerRecord[Any, Any]


class FetchPlace:
    """Where the next record of a fetch is. Here, so that a record moves it without an int in C."""

    __slots__ = ("next_offset",)

    def __init__(self, next_offset: int) -> None:
        self.next_offset = next_offset


class DecodedRecords:
    """The records of one fetch that were decoded ahead, and the positions that move with them.

    They may be handed out while `revision` has not changed: no seek, no pause, no response. Another
    thread than that of the poll gets none: a poll there says that the client belongs to a loop.
    """

    __slots__ = (
        "_decode_on",
        "_fetch",
        "_records",
        "_revision",
        "_seen",
        "_state",
        "_thread_id",
        "handed_out",
    )

    def __init__(self, revision: Revision) -> None:
        self._revision = revision
        self.handed_out = 0
        """How many records `take` has returned since this object was made."""
        self.forget()

    def forget(self) -> None:
        """Hand out no more."""
        self._records: list[Record] = []
        self._seen = -1
        self._thread_id = 0
        self._fetch: FetchPlace | None = None
        self._state: PartitionState | None = None
        self._decode_on: Callable[[], bool] | None = None

    def follow(
        self,
        records: list[Record],
        fetch: FetchPlace,
        state: PartitionState,
        decode_on: Callable[[], bool] | None = None,
    ) -> None:
        """Hand out `records`, the last item first, from now on. `fetch` shares the list.

        When one is left, `decode_on` is asked to put others in front, and says whether it did.
        """
        self._records = records
        self._seen = self._revision.number
        self._thread_id = get_ident()
        self._fetch = fetch
        self._state = state
        self._decode_on = decode_on

    def __len__(self) -> int:
        """Return how many records are left, including the one that `take` does not return."""
        return len(self._records)

    def take(self) -> Record | None:
        """Return the next record and move the positions behind it; None: a poll is due.

        The last record needs a poll, too, because its partition may then be fetched again.
        """
        if not self._may_take() or self._thread_id != get_ident():
            return None
        if len(self._records) < 2:
            if self._decode_on is None or not self._decode_on():
                return None
            if not self._may_take():  # a deserializer has run, which may have done anything
                return None
        records, state, fetch = self._records, self._state, self._fetch
        record = records[-1]
        next_offset = record.offset + 1
        assert state is not None
        assert fetch is not None
        if self._seen != self._revision.number:  # a finalizer or a signal handler has sought
            return None
        # From here on nothing else runs until both have moved: there is no call.
        state.offset = fetch.next_offset = next_offset
        self.handed_out += 1
        del records[-1]
        return record

    def _may_take(self) -> bool:
        return bool(self._records) and self._seen == self._revision.number


class RecordIteration:
    """Makes a consumer an iterator, by `take`, or by `_next_by_getone` if `take` has no record.

    The consumer's class has `getone` under a second name, `_own_getone`. If a subclass or an
    instance replaces `getone`, the two differ, and every record comes from `getone`.
    """

    __slots__ = ("__dict__",)

    _decoded: DecodedRecords | None = None
    _own_getone: Callable[..., Any]
    _next_by_getone: Callable[..., Coroutine[Any, Any, Any]]
    """Returns the next record by a call of `getone`, without a time limit."""

    async def __anext__(self) -> Any:
        """Return the next record. Cancelled: none was taken."""
        if self._decoded is not None and _has_own_getone(self):
            record = self._decoded.take()
            if record is not None:
                return record
        return await self._next_by_getone()


def _has_own_getone(iteration: RecordIteration) -> bool:
    kind: Any = type(iteration)
    return kind.getone is kind._own_getone and "getone" not in vars(iteration)


__all__ = ["DecodedRecords", "FetchPlace", "Record", "RecordIteration"]
