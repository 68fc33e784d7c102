"""What keyed workers may do: the rules, kept by what handlers report and by what the group stores.

A record is finished once its handler has returned. The rules: the records of one chain are begun in
their order, one after the other; what the group has stored as finished is not begun again; and
what is stored as finished is finished. A member that was cut off from the brokers may break the
first two until it learns that its partitions are gone.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping

from aiokafka_lite.model import OffsetAndMetadata
from aiokafka_lite.workers.finished_note import FinishedOffsets, read_note

Place = tuple[int, int]
"""Partition and offset."""
Stored = Mapping[int, OffsetAndMetadata]
"""What the group has stored, by partition."""


class WorkersModel:
    """The books of one schedule."""

    def __init__(self, chain_of: Callable[[Place], Hashable], now_s: Callable[[], float]) -> None:
        """`chain_of`: the records with one value are handled one after the other."""
        self.complaints: list[str] = []
        self.ends: dict[int, int] = defaultdict(int)
        self.finished: set[Place] = set()
        self.repeats = 0
        """How often a finished record was begun again."""
        self._chain_of = chain_of
        self._now_s = now_s
        self._finished_by: dict[Place, str] = {}
        self._running: dict[Place, str] = {}
        self._excused: set[str] = set()
        self._commits_may_fail = False
        self._story: list[str] = []

    def __str__(self) -> str:
        return "\n".join(self._story)

    def tell(self, sentence: str) -> None:
        self._story.append(f"{self._now_s():9.3f} {sentence}")

    def complain(self, sentence: str) -> None:
        self.tell(f"!! {sentence}")
        self.complaints.append(sentence)

    # What happens to members…

    def wrote(self, partition: int, count: int) -> None:
        self.ends[partition] += count

    def excuse(self, member: str) -> None:
        """From now on the member may be late to learn what the group has decided."""
        self._excused.add(member)

    def died(self, member: str) -> None:
        """The member's process has ended: its handlers run no more."""
        self.excuse(member)
        self._running = {place: by for place, by in self._running.items() if by != member}

    def commits_fail(self) -> None:
        """From now on finished records may be unknown to the group when their partition goes."""
        self._commits_may_fail = True

    # What handlers report…

    def begins(self, member: str, place: Place, stored: Stored) -> None:
        self.tell(f"{member} begins {place}")
        if member in self._excused:
            return
        partition, offset = place
        chain = self._chain_of(place)
        for other, by in self._running.items():
            if self._chain_of(other) == chain and by not in self._excused:
                self.complain(f"{member} begins {place} while {by} works on {other}")
        for earlier in range(offset):
            before = (partition, earlier)
            if before not in self.finished and self._chain_of(before) == chain:
                self.complain(f"{member} begins {place} before {before} is finished")
        if is_stored(place, stored):
            self.complain(f"{member} begins {place}, which is stored as finished")
        if place in self.finished:
            self.repeats += 1
            by = self._finished_by[place]
            if by not in self._excused and not self._commits_may_fail:
                self.complain(f"{member} begins {place}, which {by} has finished in order")
        self._running[place] = member

    def stops(self, member: str, place: Place) -> None:
        """The handler was cancelled, or has raised."""
        self.tell(f"{member} stops {place}")
        if self._running.get(place) == member:
            del self._running[place]

    def finishes(self, member: str, place: Place) -> None:
        self.stops(member, place)
        self.tell(f"{member} has finished {place}")
        self.finished.add(place)
        self._finished_by[place] = member

    # What the group stores…

    def seen(self, stored: Stored) -> None:
        for partition in stored:
            for offset in range(self.ends[partition]):
                place = (partition, offset)
                if is_stored(place, stored) and place not in self.finished:
                    self.complain(f"{place} is stored as finished, and is not")

    def is_done(self, stored: Stored) -> bool:
        """Whether every record is finished and stored."""
        return all(
            end == (stored[partition].offset if partition in stored else 0)
            and all((partition, offset) in self.finished for offset in range(end))
            for partition, end in self.ends.items()
        )


def is_stored(place: Place, stored: Stored) -> bool:
    """Say whether the group knows that a record is finished."""
    partition, offset = place
    committed = stored.get(partition)
    if committed is None:
        return False
    note: FinishedOffsets = read_note(committed.offset, committed.metadata)
    return offset < committed.offset or offset in note


__all__ = ["Place", "Stored", "WorkersModel", "is_stored"]
