"""Judges by their journals alone whether the members of a group broke a rule.

Plain functions. Each checks one rule for the lines of all members, in order of time. It returns its
complaints as sentences; without any the rule was kept.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

Offsets = Mapping[int, int]
"""An offset by partition."""

Acked = Mapping[tuple[int, int], str]
"""The written records: the value by partition and offset."""


CHANGES_OF_HANDS = frozenset({"assigned", "revoked", "lost"})


class Event(NamedTuple):
    """One line of a journal."""

    at_s: float
    member: str
    word: str
    details: tuple[str, ...] = ()

    @property
    def run(self) -> int:
        """Of a record: how often the partition had been assigned to the member by then."""
        return int(self.details[0])

    @property
    def partition(self) -> int:
        """Of a record: its partition."""
        return int(self.details[1])

    @property
    def offset(self) -> int:
        """Of a record: its offset."""
        return int(self.details[2])

    @property
    def value(self) -> str:
        """Of a record: its value."""
        return self.details[3]

    @property
    def partitions(self) -> list[int]:
        """Of a change of assignment: the partitions."""
        return [int(each) for each in self.details[0].split(",")] if any(self.details) else []


class Commit(NamedTuple):
    """A committed offset of a partition, and a moment at which it was there."""

    at_s: float
    partition: int
    offset: int


def parse(member: str, line: str) -> Event:
    """Return the event that a line of a member's journal describes."""
    at_s, word, *details = line.split(" ")
    return Event(float(at_s), member, word, tuple(details))


class History:
    """The journals of a folder, one file per member, read as they grow."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, int] = defaultdict(int)
        self.events: list[Event] = []
        """All events read so far, in order of time."""

    def refresh(self) -> Sequence[Event]:
        """Read the new lines, and return all events."""
        for path in self._folder.glob("*.journal"):
            with path.open("rb") as file:
                file.seek(self._read[path])
                whole_lines = file.read().rpartition(b"\n")[0]
            self._read[path] += len(whole_lines) + bool(whole_lines)
            self.events += [parse(path.stem, line) for line in whole_lines.decode().splitlines()]
        self.events.sort(key=lambda event: event.at_s)
        return self.events


def records_of(events: Iterable[Event]) -> list[Event]:
    """Return the records among the events."""
    return [event for event in events if event.word == "record"]


def reach(events: Iterable[Event]) -> dict[int, int]:
    """Return by partition the first offset that no member has processed."""
    processed: dict[int, set[int]] = defaultdict(set)
    for record in records_of(events):
        processed[record.partition].add(record.offset)
    found = {}
    for partition, offsets in processed.items():
        found[partition] = 0
        while found[partition] in offsets:
            found[partition] += 1
    return found


# The rules…


def unprocessed(events: Iterable[Event], acked: Acked) -> list[str]:
    """Every record is processed at least once, and as it was written."""
    seen = {(each.partition, each.offset, each.value) for each in records_of(events)}
    return [
        f"{partition}@{offset} was never processed as {value}"
        for (partition, offset), value in sorted(acked.items())
        if (partition, offset, value) not in seen
    ]


def skipped(events: Iterable[Event]) -> list[str]:
    """No member goes past a record that no member has processed yet."""
    found = []
    expected: dict[int, int] = defaultdict(int)
    for record in records_of(events):
        if record.offset > expected[record.partition]:
            found.append(
                f"{record.member} processed {record.partition}@{record.offset} when nobody had "
                f"processed {record.partition}@{expected[record.partition]}"
            )
        expected[record.partition] = max(expected[record.partition], record.offset + 1)
    return found


def out_of_order(events: Iterable[Event]) -> list[str]:
    """While a member owns a partition, each offset is followed by the next one."""
    found = []
    newest: dict[tuple[str, int, int], int] = {}
    for record in records_of(events):
        owner = (record.member, record.partition, record.run)
        before = newest.get(owner)
        if before is not None and record.offset != before + 1:
            found.append(
                f"{record.member} processed {record.partition}@{record.offset} after @{before} "
                f"without a rebalance"
            )
        newest[owner] = record.offset
    return found


def unordered_values(events: Iterable[Event]) -> list[str]:
    """The values of a partition have one order, whichever members processed them."""
    values: dict[int, dict[int, str]] = defaultdict(dict)
    found = []
    for record in records_of(events):
        known = values[record.partition].setdefault(record.offset, record.value)
        if known != record.value:
            found.append(f"{record.partition}@{record.offset} was {known}, then {record.value}")
    for partition, by_offset in values.items():
        numbers = [int(by_offset[offset]) for offset in sorted(by_offset)]
        found += [
            f"in partition {partition} {second} comes after {first}"
            for first, second in itertools.pairwise(numbers)
            if second <= first
        ]
    return found


def owned_twice(events: Sequence[Event], killed: Mapping[str, float]) -> list[str]:
    """A partition is revoked from one member before another member gets it.

    There are two exceptions. A member that lost its membership (`lost`) learns of it too late. A
    member that was `killed` (name, moment) never does.
    """
    given_up = {
        (event.member, partition): event.at_s
        for event in events
        if event.word == "lost"
        for partition in event.partitions
    }
    owners: dict[int, dict[str, float]] = defaultdict(dict)
    found = []
    for event in events:
        for partition in event.partitions if event.word in CHANGES_OF_HANDS else ():
            if event.word != "assigned":
                owners[partition].pop(event.member, None)
                continue
            found += [
                f"{event.member} was assigned {partition} at {event.at_s:.3f}; {owner} has had it "
                f"since {since_s:.3f}"
                for owner, since_s in owners[partition].items()
                if killed.get(owner, event.at_s) >= event.at_s
                and given_up.get((owner, partition), 0.0) < event.at_s
            ]
            owners[partition][event.member] = event.at_s
    return found


def began_too_early(events: Sequence[Event], commits: Sequence[Commit]) -> list[str]:
    """A member begins where the group stood when the partition was assigned to it, or later.

    So only records are repeated that were not committed. `commits`: in order of time.
    """
    found = []
    assigned_s: dict[tuple[str, int], list[float]] = defaultdict(list)
    begun: set[tuple[str, int, int]] = set()
    for event in events:
        if event.word == "assigned":
            for partition in event.partitions:
                assigned_s[event.member, partition].append(event.at_s)
        elif event.word == "record":
            owner = (event.member, event.partition, event.run)
            if owner in begun:
                continue
            begun.add(owner)
            since_s = assigned_s[event.member, event.partition][event.run - 1]
            known = [
                commit.offset
                for commit in commits
                if commit.partition == event.partition and commit.at_s < since_s
            ]
            if known and event.offset < known[-1]:
                found.append(
                    f"{event.member} began at {event.partition}@{event.offset}, although "
                    f"@{known[-1]} was committed before"
                )
    return found


def committed_too_far(committed: Offsets, processed: Offsets) -> list[str]:
    """No offset is committed beyond the processed records."""
    return [
        f"{partition}@{offset} is committed, {partition}@{processed.get(partition, 0)} is not "
        f"processed"
        for partition, offset in sorted(committed.items())
        if offset > processed.get(partition, 0)
    ]


def went_back(before: Offsets, committed: Offsets) -> list[str]:
    """A committed offset never goes back."""
    return [
        f"{partition}@{before[partition]} was committed, now {partition}@{committed.get(partition)}"
        for partition in sorted(before)
        if committed.get(partition, -1) < before[partition]
    ]


def failures(events: Iterable[Event]) -> list[str]:
    """No call ends later than its bound, or with an unexpected error."""
    return [
        f"{event.member} at {event.at_s:.3f}: {event.word} {' '.join(event.details)}"
        for event in events
        if event.word in {"late", "busy", "failed"}
    ]


def all_complaints(events: Sequence[Event], killed: Mapping[str, float]) -> list[str]:
    """Return the complaints so far of all rules that need only the journals."""
    return [
        *failures(events),
        *skipped(events),
        *out_of_order(events),
        *unordered_values(events),
        *owned_twice(events, killed),
    ]


# The figures…


def seconds_to_resume(
    events: Iterable[Event], since_s: float, partitions: Iterable[int]
) -> float | None:
    """Return the seconds from `since_s` until a new record of each partition was processed.

    None if a partition had none.
    """
    newest = dict.fromkeys(partitions, -1)
    resumed: dict[int, float] = {}
    for record in records_of(events):
        if record.at_s <= since_s:
            newest[record.partition] = max(newest[record.partition], record.offset)
        elif record.offset > newest[record.partition]:
            resumed.setdefault(record.partition, record.at_s - since_s)
    return max(resumed.values()) if len(resumed) == len(newest) else None


def longest_pause(events: Iterable[Event]) -> float:
    """Return the longest time in which a partition made no progress."""
    newest: dict[int, tuple[int, float]] = {}
    longest = 0.0
    for record in records_of(events):
        offset, at_s = newest.get(record.partition, (-1, record.at_s))
        if record.offset > offset:
            longest = max(longest, record.at_s - at_s)
            newest[record.partition] = (record.offset, record.at_s)
    return longest
