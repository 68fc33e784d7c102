"""Judges by their journals whether members with keyed workers broke a rule, and counts.

Plain functions. The rules: every record is handled or in the dead letters; the records of one key
begin in their order, one after the other; what a stored commit names as finished never begins
again. What does begin again was finished, and not yet committed, by a member that was killed.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from aiokafka_lite.workers.finished_note import NOTHING_FINISHED, FinishedOffsets, read_note
from tests.faults.group_oracle import Event

Place = tuple[int, int]
"""Partition and offset."""
KILLED = "killed"
"""The word of an event that a test adds: the member was killed."""


@dataclass
class Figures:
    """What happened."""

    records: int = 0
    attempts: int = 0
    failures: int = 0
    dead_letters: int = 0
    kills: int = 0
    stops: int = 0
    lost: int = 0
    """How often a member lost its partitions while it lived."""
    in_flight: int = 0
    """Of the killed members: running handlers, and what was finished and not committed."""
    repeats: int = 0
    """How often a finished record was handled once more, in however many attempts."""


@dataclass
class Books:
    """The events of one round, in order of time."""

    chains: Mapping[Place, Hashable]
    """The records, and what names those that are handled one after the other."""
    figures: Figures = field(default_factory=Figures)
    complaints: list[str] = field(default_factory=list)
    finished_by: dict[Place, str] = field(default_factory=dict)
    _running: dict[Hashable, tuple[str, Place]] = field(default_factory=dict)
    _stored: dict[int, tuple[int, FinishedOffsets]] = field(default_factory=dict)
    _excused: set[str] = field(default_factory=set)
    _repeated: set[Place] = field(default_factory=set)
    _before: dict[Place, Place] = field(init=False)

    def __post_init__(self) -> None:
        self.figures.records = len(self.chains)
        newest: dict[Hashable, Place] = {}
        self._before = {}
        for place in sorted(self.chains):
            if (before := newest.get(self.chains[place])) is not None:
                self._before[place] = before
            newest[self.chains[place]] = place

    def enter(self, event: Event) -> None:
        """Enter the next event."""
        match event.word:
            case "began":
                self._begins(event.member, _place(event))
            case "ended" | "dead":
                self.figures.dead_letters += event.word == "dead"
                self._ends(event.member, _place(event))
                self.finished_by[_place(event)] = event.member
                self._repeated.discard(_place(event))
            case "gave-up":
                self.figures.failures += 1
                self._ends(event.member, _place(event))
            case "committed":
                self._commits(event)
            case "stopped":
                self._stops(event.member)
            case "lost" if event.partitions:
                self.figures.lost += 1
                self._excused.add(event.member)
            case "killed":
                self._dies(event.member)

    def _begins(self, member: str, place: Place) -> None:
        self.figures.attempts += 1
        chain = self.chains.get(place)
        if chain is None:
            self._complain(f"{member} began {place}, which nobody has written")
            return
        other, its_place = self._running.get(chain, (member, None))
        if its_place is not None and other not in self._excused:
            self._complain(f"{member} began {place} while {other} worked on {its_place}")
        before = self._before.get(place)
        if before is not None and before not in self.finished_by:
            self._complain(f"{member} began {place} before {before} was finished")
        if place in self.finished_by:
            self._repeats(member, place)
        self._running[chain] = member, place

    def _repeats(self, member: str, place: Place) -> None:
        self.figures.repeats += place not in self._repeated
        self._repeated.add(place)
        by = self.finished_by[place]
        if self._is_stored(place):
            self._complain(f"{member} began {place}, which was committed as finished")
        elif by not in self._excused:
            self._complain(f"{member} began {place}, which {by} has finished, and {by} lives")

    def _ends(self, member: str, place: Place) -> None:
        chain = self.chains.get(place)
        if self._running.get(chain) == (member, place):
            del self._running[chain]

    def _commits(self, event: Event) -> None:
        for each in event.details[0].split(","):
            partition, offset, note = each.split("@")
            self._stored[int(partition)] = int(offset), read_note(int(offset), note)
        for place in self.chains:
            if self._is_stored(place) and place not in self.finished_by:
                self._complain(f"{event.member} committed {place}, which is not finished")

    def _stops(self, member: str) -> None:
        self.figures.stops += 1
        for place in self._uncommitted(member):
            self._complain(f"{member} stopped, and {place} is finished and not committed")

    def _dies(self, member: str) -> None:
        self.figures.kills += 1
        self._excused.add(member)
        working = [chain for chain, (by, _) in self._running.items() if by == member]
        self.figures.in_flight += len(working) + len(self._uncommitted(member))
        for chain in working:
            del self._running[chain]

    def _uncommitted(self, member: str) -> list[Place]:
        return [
            place
            for place, by in self.finished_by.items()
            if by == member and not self._is_stored(place)
        ]

    def _is_stored(self, place: Place) -> bool:
        partition, offset = place
        committed, note = self._stored.get(partition, (0, NOTHING_FINISHED))
        return offset < committed or offset in note

    def close(self) -> None:
        """Complain of what is missing in the end."""
        for place in sorted(self.chains.keys() - self.finished_by.keys()):
            self._complain(f"{place} was never finished")
        for place in self.chains:
            if place in self.finished_by and not self._is_stored(place):
                self._complain(f"{place} was finished and never committed")
        if self.figures.repeats > self.figures.in_flight and not self.figures.lost:
            self._complain(f"more was repeated than was in flight: {self.figures}")

    def _complain(self, sentence: str) -> None:
        self.complaints.append(sentence)


def books(
    events: Sequence[Event], chains: Mapping[Place, Hashable], killed: Mapping[str, float]
) -> Books:
    """Return the books of a round. `killed`: the members that were killed, and when."""
    made = Books(chains)
    deaths = [Event(at_s, member, KILLED) for member, at_s in killed.items()]
    for event in sorted([*events, *deaths], key=lambda event: event.at_s):
        made.enter(event)
    made.close()
    return made


def finished(events: Iterable[Event]) -> set[Place]:
    """Return the records that are finished so far."""
    return {_place(event) for event in events if event.word in {"ended", "dead"}}


def _place(event: Event) -> Place:
    return int(event.details[0]), int(event.details[1])
