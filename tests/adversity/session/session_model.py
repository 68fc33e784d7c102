"""What may be in the output of sessions that copy exactly once, and where their group may stand.

The images of one input partition all go to one output partition, each naming where its record is
from. At any time those that count are the first of the input, each once, in its order: whoever
takes over a partition goes on only when the last transaction about it has ended. And when no
transaction is open, the group has committed just behind them.

Each rule that is broken is a sentence in `complaints`. Nothing here waits.
"""

from collections.abc import Callable, Mapping, Sequence

Image = tuple[int, int]
"""Input partition and offset."""


class SessionModel:
    """The input, and what came of it."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.complaints: list[str] = []
        self.story: list[str] = []
        """What happened, for people who read a failure."""
        self.ends: dict[int, int] = {}
        """Where each input partition ends."""
        self.copied: dict[int, int] = {}
        """How many records of each input partition have an image that counts."""
        self._now = now

    def tell(self, sentence: str) -> None:
        """Add to the story."""
        self.story.append(f"{self._now():9.3f} {sentence}")

    def complain(self, sentence: str) -> None:
        """A rule is broken."""
        self.tell(f"WRONG: {sentence}")
        self.complaints.append(sentence)

    def __str__(self) -> str:
        return "\n".join(self.story)

    def wrote(self, partition: int, count: int) -> None:
        """The input has got so many records more."""
        self.ends[partition] = self.ends.get(partition, 0) + count

    def seen(
        self,
        images: Sequence[Image],
        committed: Mapping[int, int],
        *,
        is_settled: bool,
    ) -> None:
        """`images`: all that count now, in the order of their partitions. `committed`: where the
        group stands. `is_settled`: no transaction is open."""
        self.copied = dict.fromkeys(self.ends, 0)
        for partition, offset in images:
            expected = self.copied[partition]
            if offset < expected:
                self.complain(f"in-{partition}@{offset} counts again; @{expected} is next")
                return
            if offset > expected:
                self.complain(f"in-{partition}@{offset} counts, and @{expected} does not")
                return
            self.copied[partition] += 1
        for partition, count in self.copied.items():
            stands = committed.get(partition, 0)
            if is_settled and stands != count:
                self.complain(f"in-{partition}@{stands} is committed, and @{count} is copied")

    def is_done(self) -> bool:
        """Whether all of the input was copied."""
        return self.copied == self.ends


__all__ = ["Image", "SessionModel"]
