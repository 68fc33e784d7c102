"""Shows the pipeline to a person: progress, a table of the year's worst days, a picture."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from examples.pipeline.departures import Departures, Route

WORST_DAYS = 8
COLORS = {"EWR": "#1b9e77", "JFK": "#7570b3", "LGA": "#d95f02"}


class Bars:
    """Progress bars on stderr for both ends; silent without a terminal."""

    def __init__(self, flights: int, results: int) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description:>18}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._produced = self._progress.add_task("flights produced", total=flights)
        self._received = self._progress.add_task("results received", total=results)

    def produced(self, flights: int) -> None:
        self._progress.update(self._produced, completed=flights)

    def received(self, results: int) -> None:
        self._progress.update(self._received, completed=results)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()


@dataclass(slots=True)
class Total:
    """The sum of several departures."""

    flights: int = 0
    cancelled: int = 0
    delay_min: float = 0.0

    def add(self, departures: Departures) -> None:
        self.flights += departures.flights
        self.cancelled += departures.cancelled
        left = departures.flights - departures.cancelled
        self.delay_min += left * (departures.mean_delay_min or 0.0)

    @property
    def cancelled_percent(self) -> float:
        return 100 * self.cancelled / self.flights

    @property
    def mean_delay_min(self) -> float:
        """NaN, which is drawn as a gap, if no flight left."""
        left = self.flights - self.cancelled
        return self.delay_min / left if left else float("nan")


def totals_by_day(results: Mapping[Route, Departures]) -> dict[tuple[str, str], Total]:
    """Return the totals of all airlines, by (airport, day)."""
    totals: dict[tuple[str, str], Total] = defaultdict(Total)
    for route, departures in results.items():
        totals[route.origin, route.day].add(departures)
    return totals


def show_worst_days(results: Mapping[Route, Departures]) -> None:
    """Print the days and airports with the largest share of cancelled flights."""
    totals = totals_by_day(results)
    worst = sorted(totals, key=lambda at: -totals[at].cancelled_percent)[:WORST_DAYS]
    table = Table(title="days with most flights cancelled", title_justify="left")
    table.add_column("day")
    table.add_column("airport")
    for name in ("flights", "cancelled", "cancelled %", "mean delay, min"):
        table.add_column(name, justify="right")
    for origin, day in worst:
        total = totals[origin, day]
        percent, delay = f"{total.cancelled_percent:.0f}", f"{total.mean_delay_min:.0f}"
        table.add_row(day, origin, str(total.flights), str(total.cancelled), percent, delay)
    Console().print(table)


def draw(results: Mapping[Route, Departures], file: Path) -> None:
    """Write a picture of the days; the suffix of `file` sets the format. Needs matplotlib."""
    import matplotlib as mpl  # noqa: PLC0415 - it may be absent
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    mpl.rcParams["svg.hashsalt"] = "flights"  # equal figures make equal files
    mpl.rcParams["svg.fonttype"] = "none"
    canvas = Figure(figsize=(9, 5))
    cancelled, delay = canvas.subplots(2, 1, sharex=True)
    _lines(cancelled, results, lambda total: total.cancelled_percent)
    cancelled.set_title("flights cancelled, per cent", fontsize=9, loc="left")
    cancelled.legend(fontsize=7)
    _lines(delay, results, lambda total: total.mean_delay_min)
    delay.set_title("mean delay of the others at departure, minutes", fontsize=9, loc="left")
    canvas.suptitle("Departures from New York, 2013: out of Kafka, through Spark", fontsize=11)
    canvas.tight_layout()
    canvas.savefig(file, dpi=110, metadata=None if file.suffix != ".svg" else {"Date": None})


def _lines(axes: Any, results: Mapping[Route, Departures], figure: Any) -> None:
    import numpy as np  # noqa: PLC0415 - comes with matplotlib

    totals = totals_by_day(results)
    for origin in sorted({origin for origin, _ in totals}):
        days = sorted(day for airport, day in totals if airport == origin)
        values = [figure(totals[origin, day]) for day in days]
        axes.plot(
            np.array(days, dtype="datetime64[D]"),
            values,
            color=COLORS.get(origin),
            label=origin,
            linewidth=0.9,
        )
    axes.tick_params(labelsize=7)
    axes.grid(visible=True, linewidth=0.3)
