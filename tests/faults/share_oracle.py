"""Judges by their journals whether members of a share group broke a rule, and counts.

Plain functions. The rules: every record is accepted, and never delivered again after that. No two
members have a record at a time, unless the lock of the first was lost, or its member was killed or
paused. What comes again was released, lost, refused, or held by such a member.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.faults.group_oracle import Event

Place = tuple[int, int]
"""Partition and offset."""
SLACK_S = 0.5
"""A member may begin before the one before it has written down that it let go."""


@dataclass
class Figures:
    """What happened."""

    records: int = 0
    deliveries: int = 0
    redeliveries: int = 0
    released: int = 0
    lost: int = 0
    refused: int = 0
    accepted_unheard: int = 0
    """Records that were accepted, but the answer did not reach the member."""
    handled_again: int = 0
    """How often a record was handled to its end once more."""


@dataclass
class Books:
    """The events of one round, in order of time."""

    records: Collection[Place]
    figures: Figures = field(default_factory=Figures)
    complaints: list[str] = field(default_factory=list)
    accepted: Counter[Place] = field(default_factory=Counter)
    ended: Counter[Place] = field(default_factory=Counter)
    excuses: Mapping[Place, Sequence[float]] = field(default_factory=dict)
    hurt: Mapping[str, Sequence[float]] = field(default_factory=dict)
    _last: dict[Place, Event] = field(default_factory=dict)
    _refused: set[Place] = field(default_factory=set)

    def enter(self, event: Event) -> None:
        """Enter the next event."""
        if event.word not in {"began", "ended", "accepted", "released", "lost", "refused"}:
            return
        place = int(event.details[0]), int(event.details[1])
        match event.word:
            case "began":
                self._begins(event, place)
            case "ended":
                self.ended[place] += 1
                self.figures.handled_again += self.ended[place] > 1
            case "accepted":
                self.accepted[place] += 1
                if self.accepted[place] > 1:
                    self._complain(f"{event.member} accepted {place}, which was accepted before")
            case "refused":
                self.figures.refused += 1
                self._refused.add(place)
            case word:
                setattr(self.figures, word, getattr(self.figures, word) + 1)

    def _begins(self, event: Event, place: Place) -> None:
        self.figures.deliveries += 1
        before, self._last[place] = self._last.get(place), event
        if place not in self.records:
            self._complain(f"{event.member} began {place}, which nobody has written")
        if self.accepted[place]:
            self._complain(f"{event.member} began {place}, which was accepted before")
        if before is None:
            return
        self.figures.redeliveries += 1
        is_let_go = any(
            before.at_s <= at_s <= event.at_s + SLACK_S for at_s in self.excuses.get(place, ())
        )
        is_hurt = any(at_s <= event.at_s for at_s in self.hurt.get(before.member, ()))
        if not (is_let_go or is_hurt):
            self._complain(
                f"{event.member} began {place} at {event.at_s:.2f}, which {before.member} began "
                f"at {before.at_s:.2f} and has not let go"
            )

    def close(self) -> None:
        """Complain of what is missing in the end."""
        self.figures.records = len(self.records)
        for place in sorted(self.records):
            if not self.ended[place]:
                self._complain(f"{place} was never handled")
            elif not self.accepted[place]:
                self.figures.accepted_unheard += 1
                last = self._last[place]
                if place not in self._refused and last.member not in self.hurt:
                    self._complain(f"{place} was handled by {last.member}, and never accepted")

    def _complain(self, sentence: str) -> None:
        self.complaints.append(sentence)


def books(
    events: Iterable[Event], records: Collection[Place], hurt: Mapping[str, Sequence[float]]
) -> Books:
    """Return the books of a round. `hurt`: when members were killed or paused."""
    ordered = sorted(events, key=lambda event: event.at_s)
    excuses: dict[Place, list[float]] = {}
    for event in ordered:
        if event.word in {"released", "lost", "refused"}:
            place = int(event.details[0]), int(event.details[1])
            excuses.setdefault(place, []).append(event.at_s)
    made = Books(records, excuses=excuses, hurt=hurt)
    for event in ordered:
        made.enter(event)
    made.close()
    return made


def handled(events: Iterable[Event]) -> set[Place]:
    """Return the records that are handled to their end so far."""
    return {
        (int(event.details[0]), int(event.details[1])) for event in events if event.word == "ended"
    }
