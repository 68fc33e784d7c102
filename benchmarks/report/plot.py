"""Draws the tables as one picture: each client's cost as a multiple of ours."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import LogLocator, NullFormatter

from benchmarks.processes.harness import CLIENTS, NOTHING
from benchmarks.report.results import OURS, Line, Table, number

BAR_HEIGHT = 0.8
ROW_INCHES = 0.42
WIDTH_INCHES = 9.0
COLORS = {
    "aiokafka": "#d95f02",
    "confluent-kafka": "#1b9e77",
    "confluent-kafka AIO": "#7570b3",
    "kafka-python": "#e7298a",
    "Java": "#666666",
}
mpl.rcParams["svg.hashsalt"] = "aiokafka-lite"  # equal figures make equal files
mpl.rcParams["svg.fonttype"] = "none"  # text stays text: a tenth of the size


def plot(tables: Sequence[Table], file: Path, caption: str) -> None:
    """Write the ratios to ours of all tables; the suffix of `file` sets the format."""
    tables = [table for table in tables if any(line.ratio for line in table.lines())]
    if not tables:
        raise SystemExit("there is nothing to plot: measure our client and a peer")
    rows = [len(table.rows()) for table in tables]
    canvas = Canvas(figsize=(WIDTH_INCHES, 1.2 + ROW_INCHES * sum(rows) + 0.8 * len(rows)))
    panels = canvas.subplots(len(tables), 1, height_ratios=rows, squeeze=False)
    for table, (axes,) in zip(tables, panels, strict=True):
        _draw(axes, table)
    canvas.suptitle(
        f"How many times more than {OURS} the others pay (black marks: what is aimed at)",
        fontsize=11,
    )
    canvas.text(0.01, 0.002, caption, fontsize=5, wrap=True)
    canvas.tight_layout(rect=(0, 0.03, 1, 0.99))
    canvas.savefig(file, dpi=130, metadata=None if file.suffix != ".svg" else {"Date": None})


def _draw(axes, table: Table) -> None:  # type: ignore[no-untyped-def]  # matplotlib is untyped here
    nothing = CLIENTS[NOTHING]
    lines = [line for line in table.lines() if line.ratio and line.figure.client != nothing]
    rows = list(dict.fromkeys(line.figure.row for line in lines))
    clients = list(dict.fromkeys(line.figure.client for line in lines))
    thickness = BAR_HEIGHT / max(1, len(clients))
    for index, client in enumerate(clients):
        own = [line for line in lines if line.figure.client == client]
        places = [rows.index(line.figure.row) + (index + 0.5) * thickness for line in own]
        ratios = [line.ratio or 0.0 for line in own]
        lengths = [ratio - 1 for ratio in ratios]
        axes.barh(places, lengths, thickness, left=1, color=COLORS.get(client), label=client)
        for place, line in zip(places, own, strict=True):
            end = max(1.0, line.ratio or 0.0)
            axes.text(end, place, f" {number(line.ratio or 0.0)}x", va="center", fontsize=6)
            _draw_target(axes, line, place, thickness)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:g}x")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks([at + BAR_HEIGHT / 2 for at in range(len(rows))], rows, fontsize=8)
    axes.set_ylim(len(rows), BAR_HEIGHT - 1)
    axes.set_title(f"{table.title}, {table.unit}", fontsize=9, loc="left")
    axes.legend(fontsize=6, loc="best")


def _draw_target(axes, line: Line, place: float, thickness: float) -> None:  # type: ignore[no-untyped-def]
    """Mark the target ratio."""
    if line.target is not None:
        half = thickness / 2
        axes.plot([line.target] * 2, [place - half, place + half], color="black", linewidth=1.5)
