"""Draws costs that depend on a size: a panel per cost and kind, a curve per client.

Both axes are logarithmic, so a straight line of slope 1 grows as the size does.

A row is named by its kind and size: `consumer, partitions: 5,000`.
"""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import NullFormatter

from benchmarks.report.plot import COLORS
from benchmarks.report.results import OURS, Figure, Table

PANEL_INCHES = (3.0, 2.3)


def draw_curves(tables: Sequence[Table], file: Path, caption: str) -> None:
    """Write the curves of all tables whose rows have sizes; the suffix of `file` sets the format.

    Raises: SystemExit if there is none.
    """
    tables = [table for table in tables if table.rows() and all(map(has_size, table.rows()))]
    if not tables:
        raise SystemExit("there are no curves to draw: measure growth")
    kinds = list(dict.fromkeys(kind_and_size(row)[0] for each in tables for row in each.rows()))
    width, height = PANEL_INCHES
    canvas = Canvas(figsize=(width * len(kinds) + 0.4, height * len(tables) + 0.8))
    panels = canvas.subplots(len(tables), len(kinds), squeeze=False)
    for table, row_of_panels in zip(tables, panels, strict=True):
        for kind, axes in zip(kinds, row_of_panels, strict=True):
            _draw(axes, table, kind)
    for kind, axes in zip(kinds, panels[0], strict=True):
        axes.set_title(kind, fontsize=9)
    panels[0][0].legend(fontsize=7)
    canvas.text(0.01, 0.002, caption, fontsize=5, wrap=True)
    canvas.tight_layout(rect=(0, 0.02, 1, 1))
    canvas.savefig(file, dpi=130, metadata=None if file.suffix != ".svg" else {"Date": None})


def has_size(row: str) -> bool:
    """Whether the name of a row ends with a size."""
    return row.rpartition(": ")[2].replace(",", "").isdecimal()


def kind_and_size(row: str) -> tuple[str, int]:
    """Return the kind and the size that a row is named by."""
    kind, _, size = row.rpartition(": ")
    return kind, int(size.replace(",", ""))


def points(table: Table, kind: str) -> dict[str, list[tuple[int, float]]]:
    """Return size and median of each client, in order of the size."""
    found: dict[str, list[Figure]] = {}
    for figure in table.figures:
        if kind_and_size(figure.row)[0] == kind and figure.median > 0:
            found.setdefault(figure.client, []).append(figure)
    return {
        client: sorted((kind_and_size(each.row)[1], each.median) for each in figures)
        for client, figures in found.items()
    }


def _draw(axes, table: Table, kind: str) -> None:  # type: ignore[no-untyped-def]  # matplotlib is untyped here
    for client, curve in points(table, kind).items():
        sizes, costs = zip(*curve, strict=True)
        color = "black" if client == OURS else COLORS.get(client)
        axes.plot(sizes, costs, marker="o", markersize=3, linewidth=1, color=color, label=client)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.tick_params(labelsize=6)
    axes.grid(visible=True, linewidth=0.3)
    axes.set_ylabel(f"{table.title.partition(',')[0]}, {table.unit}", fontsize=5)
