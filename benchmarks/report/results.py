"""Evaluates figures: spread, ratios to ours, targets; as text, Markdown, and plain values for JSON.

Measures nothing. Every figure is a cost. Less is better, and a ratio above 1 means that the client
costs more than ours.
"""

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

OURS = "aiokafka-lite"


@dataclass(frozen=True, slots=True)
class Figure:
    """The cost of one client in one row of a table; a sample per round."""

    row: str
    client: str
    samples: Sequence[float]
    note: str = ""

    @property
    def median(self) -> float:
        """The figure that is shown."""
        return statistics.median(self.samples)

    @property
    def spread(self) -> str:
        """The figure with its minimum and maximum."""
        if len(self.samples) == 1:
            return number(self.median)
        return f"{number(self.median)} ({number(min(self.samples))}-{number(max(self.samples))})"


@dataclass(frozen=True, slots=True)
class Table:
    """The figures of one subject, in one unit."""

    name: str
    title: str
    unit: str
    conditions: str
    """How it was measured, and what differs between the clients."""
    figures: Sequence[Figure]
    targets: dict[tuple[str, str], float] = field(default_factory=dict)
    """By row and client: the least ratio to ours."""
    limits: dict[str, float] = field(default_factory=dict)
    """By row: the most that ours may cost."""

    def rows(self) -> list[str]:
        """The rows in order."""
        return list(dict.fromkeys(figure.row for figure in self.figures))

    def lines(self) -> list["Line"]:
        """The table, row by row, ours first."""
        found = []
        for row in self.rows():
            of_row = [figure for figure in self.figures if figure.row == row]
            ours = next((figure for figure in of_row if figure.client == OURS), None)
            of_row.sort(key=lambda figure: figure.client != OURS)
            found += [self._line(figure, ours) for figure in of_row]
        return found

    def _line(self, figure: Figure, ours: Figure | None) -> "Line":
        if figure is ours:
            limit = self.limits.get(figure.row)
            is_met = None if limit is None else figure.median <= limit
            return Line(figure, None, None, limit, is_met)
        target = self.targets.get((figure.row, figure.client))
        if ours is None or ours.median <= 0:
            return Line(figure, None, None, None, None)
        ratio = figure.median / ours.median
        worst = min(figure.samples) / max(ours.samples)
        return Line(figure, ratio, worst, target, None if target is None else ratio >= target)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a table."""

    figure: Figure
    ratio: float | None
    """The ratio of the medians to ours."""
    worst_ratio: float | None
    """The ratio of the client's best round to our worst."""
    target: float | None
    is_met: bool | None

    def brief(self) -> str:
        """The line as one cell."""
        marks = {None: "", True: " ✓", False: " ✗"}
        aim = "" if self.target is None else f", {self._sign}{number(self.target)}"
        if self.ratio is None or self.worst_ratio is None:
            return f"{self.figure.spread}{aim}{marks[self.is_met]}"
        return f"{number(self.ratio)}x ({number(self.worst_ratio)}x){aim}{marks[self.is_met]}"

    @property
    def _sign(self) -> str:
        return "≤ " if self.ratio is None else "≥ "

    def cells(self) -> list[str]:
        """The line as text."""
        return [
            self.figure.row,
            self.figure.client,
            self.figure.spread,
            self.figure.note,
            "" if self.ratio is None else f"{number(self.ratio)}x",
            "" if self.worst_ratio is None else f"{number(self.worst_ratio)}x",
            "" if self.target is None else f"{self._sign}{number(self.target)}",
            "" if self.is_met is None else ("met" if self.is_met else "MISSED"),
        ]


def number(value: float) -> str:
    """Return a figure with three significant digits."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def headings(table: Table) -> list[str]:
    """The first line of a table."""
    return [
        "path",
        "client",
        f"{table.unit} (least-most)",
        "note",
        "ratio to ours",
        "worst case",
        "target",
        "",
    ]


def as_text(table: Table) -> str:
    """The table in columns."""
    grid = _without_empty_columns([headings(table), *(line.cells() for line in table.lines())])
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in grid
    ]
    return "\n".join([f"{table.title}", table.conditions, "", *lines, ""])


def as_markdown(table: Table) -> str:
    """Return the table for a README: a line per row, a column per client with its ratio to ours.

    A cell has the ratio of the medians, the ratio of the worst case in brackets, and the target
    with a mark. Without a ratio it has the figure. A table without our client has figures only.
    """
    lines = table.lines()
    columns = sorted(
        dict.fromkeys(line.figure.client for line in lines), key=lambda client: client != OURS
    )
    corner = "" if OURS in columns else table.unit
    titles = [f"{OURS}, {table.unit}" if client == OURS else client for client in columns]
    cells = {(line.figure.row, line.figure.client): line.brief() for line in lines}
    rows = [
        [corner, *titles],
        ["---"] * (len(columns) + 1),
        *([row, *(cells.get((row, client), "") for client in columns)] for row in table.rows()),
    ]
    told = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([f"**{table.title}.** {table.conditions}", "", *told, ""])


def as_values(table: Table) -> dict[str, Any]:
    """The table for JSON."""
    return {
        "name": table.name,
        "title": table.title,
        "unit": table.unit,
        "conditions": table.conditions,
        "lines": [
            {
                "path": line.figure.row,
                "client": line.figure.client,
                "median": line.figure.median,
                "samples": list(line.figure.samples),
                "note": line.figure.note,
                "ratio_to_ours": line.ratio,
                "worst_ratio_to_ours": line.worst_ratio,
                "target": line.target,
                "is_met": line.is_met,
            }
            for line in table.lines()
        ],
    }


def facts_line(facts: dict[str, str]) -> str:
    """The facts as one line."""
    return ", ".join(f"{name} {value}" for name, value in facts.items())


def collect(
    samples: Iterable[tuple[str, str, float]], note: Callable[[str, str], str] | None = None
) -> list[Figure]:
    """Make figures of samples (row, client, value), in the order in which rows first came."""
    taken: dict[tuple[str, str], list[float]] = {}
    for row, client, value in samples:
        taken.setdefault((row, client), []).append(value)
    return [
        Figure(row, client, values, note(row, client) if note else "")
        for (row, client), values in taken.items()
    ]


def _without_empty_columns(grid: list[list[str]]) -> list[list[str]]:
    used = [any(column[1:]) for column in zip(*grid, strict=True)]
    return [[cell for cell, keep in zip(row, used, strict=True) if keep] for row in grid]
