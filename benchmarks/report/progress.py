"""A progress bar on stderr, so that stdout has only tables.

If stderr is not a terminal, a line appears now and then.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

LINE_EVERY = 20
"""Steps between two lines."""


class Steps:
    """The progress of a benchmark."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task = progress.add_task("", total=0)
        self._total = self._done = 0
        self._what = ""

    def expect(self, steps: int) -> None:
        """Announce further steps."""
        self._total += steps
        self._progress.update(self._task, total=self._total)

    def begin(self, what: str) -> None:
        """Name the present measurement."""
        self._what = what
        self._progress.update(self._task, description=what)

    def note(self, line: str) -> None:
        """Print a line beside the bar."""
        self._progress.console.print(line)

    def done(self) -> None:
        """Count a finished step."""
        self._done += 1
        self._progress.advance(self._task)
        if self._progress.disable and self._done % LINE_EVERY == 0:
            self._progress.console.print(f"{self._done} of {self._total}: {self._what}")


@contextmanager
def progress() -> Iterator[Steps]:
    """Show a bar during the block, or lines if stderr is not a terminal."""
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        yield Steps(shown)
