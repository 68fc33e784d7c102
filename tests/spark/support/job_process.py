"""A job by its command line, in a session of its own. Its checkpoint tells how far it has come."""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.spark.support.own_session import OwnSession
from tests.support.documents import ROOT


class JobProcess(OwnSession):
    """A driver that runs a job, with all that it has started."""

    patience_s = 600.0

    def __init__(
        self,
        keys: Mapping[str, object],
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
    ) -> None:
        self._checkpoint = Path(str(keys["checkpoint"]))
        super().__init__(command, folder / "log", environment, folder)

    def commits(self) -> int:
        """How many batches Spark has noted as done."""
        return _newest(self._checkpoint / "commits")

    def is_in_batch(self) -> bool:
        """Whether a batch has begun, and has not ended."""
        return _newest(self._checkpoint / "offsets") > self.commits()

    def done_offsets(self) -> int:
        """Return how many offsets of all partitions are done, in topics that began at 0."""
        return self.done_ends().total()

    def done_ends(self) -> Counter[int]:
        """Return the end of the batches that are done, by partition of the only topic."""
        return self._ends(self.commits())

    def begun_ends(self) -> Counter[int]:
        """Return the end of the batches that have begun, by partition of the only topic."""
        return self._ends(_newest(self._checkpoint / "offsets"))

    def _ends(self, batches: int) -> Counter[int]:
        if not batches:
            return Counter()
        text = (self._checkpoint / "offsets" / str(batches - 1)).read_text()
        ends = json.loads(text.splitlines()[-1])  # ids of topics are entries without partitions
        return Counter({int(number): end for each in ends.values() for number, end in each.items()})

    def goes_on(self, batches: int = 2) -> None:
        """Wait for some more batches."""
        done = self.commits()
        self.wait_until(lambda: self.commits() >= done + batches)

    def summary(self) -> dict[str, Any]:
        """Wait for its end, and return the summary. Fails when it fails."""
        self.ends_well()
        lines = [line for line in self.log().splitlines() if line.startswith("{")]
        found: dict[str, Any] = json.loads(lines[-1])
        return found


def _newest(folder: Path) -> int:
    """Return the number of batches; Spark removes the files of early ones."""
    return max((int(each.name) + 1 for each in folder.glob("[0-9]*")), default=0)


def as_settings(keys: Mapping[str, object]) -> list[str]:
    """Return arguments of the command line for these keys."""
    given = (("--set", f"{name}={json.dumps(value)}") for name, value in keys.items())
    return [argument for pair in given for argument in pair]


@contextmanager
def by_command_line(job: str, keys: Mapping[str, object], folder: Path) -> Iterator[JobProcess]:
    """A job in Python, which makes its own session; it does not outlive the block."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "aiokafka_lite.spark", job, *as_settings(keys)]
    made = JobProcess(keys, command, {**os.environ, "PYTHONPATH": str(ROOT)}, folder)
    try:
        yield made
    finally:
        made.kill()
