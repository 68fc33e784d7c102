"""A progress bar on stderr, so that stdout has nothing but tables."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


class Steps:
    """How far a benchmark has come."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=0)

    def expect(self, steps: int) -> None:
        """Say that so many more will come."""
        total = self._progress.tasks[0].total or 0
        self._progress.update(self._task, total=total + steps)

    def begin(self, what: str) -> None:
        """Name what is measured now."""
        self._progress.update(self._task, description=what)

    def done(self) -> None:
        """One step is over."""
        self._progress.advance(self._task)


@contextmanager
def progress() -> Iterator[Steps]:
    """Show a bar during the block; without a terminal nothing is shown."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        yield Steps(shown)
