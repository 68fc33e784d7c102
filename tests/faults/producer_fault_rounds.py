"""Prints the figures of a producer's fault tests: a line of JSON for each passed round, and a table
of all rounds.
"""

import dataclasses
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.faults.producer_oracle import Tally

_COLUMNS = (
    "rounds",
    "longest ack gap",
    "back after",
    "slowest stop()",
    *(each.name for each in dataclasses.fields(Tally)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round: a fault that was played once, without a broken rule. Times are in seconds."""

    kafka: str
    fault: str
    number: int
    loop: str
    took_s: float
    tally: Tally
    longest_gap_s: float = 0.0
    """The longest time in which some partition had no ack."""
    back_after_s: float = 0.0
    """The longest time from the fault until every partition had an ack of a later record. For
    copies of a topic: until every copier had a later commit."""
    slowest_stop_s: float = 0.0
    figures: dict[str, float] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def as_json(self) -> str:
        """Return the round as a line of JSON."""
        return json.dumps(dataclasses.asdict(self), default=list)


def table(rounds: Iterable[Round]) -> Iterator[str]:
    """Return the lines of a table: a row for each Kafka and fault, each with its longest times and
    the sums of its records.
    """
    ordered = sorted(rounds, key=_subject)
    lines: list[tuple[str, ...]] = [("", *_COLUMNS)]
    for subject, played in itertools.groupby(ordered, _subject):
        lines.append((subject, *_row(list(played))))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for subject, *cells in lines:
        aligned = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield "  ".join([subject.ljust(widths[0]), *aligned])


def _subject(played: Round) -> str:
    return f"{played.kafka} {played.fault}"


def _row(rounds: Sequence[Round]) -> list[str]:
    seconds = (
        max(each.longest_gap_s for each in rounds),
        max(each.back_after_s for each in rounds),
        max(each.slowest_stop_s for each in rounds),
    )
    tally = sum((each.tally for each in rounds), Tally())
    return [
        str(len(rounds)),
        *(f"{each:.2f} s" if each else "-" for each in seconds),
        *map(str, dataclasses.astuple(tally)),
    ]
