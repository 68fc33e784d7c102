"""Tells of waits that last: a warning after `TELL_AFTER_S`, then one each `TELL_AGAIN_S` (H8).

A loop that asks again until something succeeds runs inside `with waits.of(what, check) as wait:`,
and calls `wait.failed(error)` after each attempt. The rule of when to tell is here alone, and so is
the sentence, which `explain()` shows, too. There is one timer for all waits of a client, and none
while it waits for nothing.
"""

import asyncio
import logging
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

from aiokafka_lite.checks.quoted import cut, said
from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.kafka_error import KafkaError, reason_of

logger = logging.getLogger(__name__)

TELL_AFTER_S: Final = 10.0
"""Seconds after which a wait is told."""
TELL_AGAIN_S: Final = 60.0
"""Seconds between two warnings about the same wait."""
MOST_TOLD: Final = 5
"""Warnings at one moment; the other waits are counted."""
_MOST_SAID: Final = 1_000


class LongWait:
    """One wait. Use it by `with`, or call `end`."""

    __slots__ = (
        "_begun_s",
        "_now",
        "_waits",
        "attempts",
        "check",
        "is_told",
        "last",
        "since_s",
        "task",
        "tell_at_s",
        "what",
    )

    def __init__(
        self,
        waits: "LongWaits",
        what: str,
        check: str,
        now: Callable[[], str | None] | None,
        since_s: float,
        task: object,
        begun_s: Callable[[], float | None] | None = None,
    ) -> None:
        self.what = what
        self.check = check
        self.since_s = since_s
        self.task = task
        self.tell_at_s = since_s + TELL_AFTER_S
        self.attempts = 0
        """How many attempts have failed."""
        self.last = ""
        """Why the newest one failed."""
        self._waits = waits
        self._now = now
        self._begun_s = begun_s
        self.is_told = False

    def failed(self, error: object) -> None:
        """Note why the newest attempt failed."""
        self.attempts += 1
        if isinstance(error, KafkaError):
            self.last = reason_of(error)
        else:
            self.last = said(error) if isinstance(error, BaseException) else str(error)

    def end(self) -> None:
        """Note that the wait is over. May be repeated."""
        self._waits.end(self)

    def follow(self) -> bool:
        """Take over since when it waits, if it is for one thing after the other; say whether it
        waits for anything now.
        """
        if self._begun_s is None:
            return True
        since_s = self._begun_s()
        if self.is_told and since_s != self.since_s:
            self.is_told = False
            logger.info("%s: waits no longer for %s", self._waits.name, self.what)
        if since_s is not None and since_s != self.since_s:
            self.since_s = since_s
            self.tell_at_s = since_s + TELL_AFTER_S
        return since_s is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    def came_back(self) -> str:
        """Return what has come back by now."""
        present = None if self._now is None else self._now()
        said = cut(self.last, _MOST_SAID)
        if present == "":
            return ""
        if present is not None:
            present = cut(present, _MOST_SAID)
            return present if not said else f"{self._tries()} has failed: {said}; now {present}"
        return f"{self._tries()} has failed: {said}" if self.attempts else "nothing has come back"

    def _tries(self) -> str:
        return "one attempt" if self.attempts == 1 else f"the last of {self.attempts} attempts"


class LongWaits:
    """The open waits of one client, whose `name` begins each warning."""

    def __init__(self, clock: Clock, name: str, *, is_closed_later: bool = False) -> None:
        """`is_closed_later`: `close` ends the timer, so a wait that ends need not. The next wait
        finds it set: a timer for each commit cost it six percent of its instructions.
        """
        self._clock = clock
        self._keeps_timer = is_closed_later
        self.name = name
        """With what each warning begins."""
        self._open: dict[LongWait, None] = {}  # in the order of their beginning
        self._told_at_s: dict[str, float] = {}
        self._timer: TimerHandle | None = None
        self._timer_at_s = 0.0

    def of(
        self,
        what: str,
        check: str,
        now: Callable[[], str | None] | None = None,
        *,
        is_apart: bool = False,
        begun_s: Callable[[], float | None] | None = None,
    ) -> LongWait:
        """Begin a wait for `what`, such as "the coordinator of group 'g' (FindCoordinator)".

        `check` says what the user may look at. `now()` returns what stands in the way, and "" where
        another warning tells it; it may end the wait. A wait that begins inside another one of the
        same task is a part of that: it is told together with it. Not so with `is_apart`, for a wait
        that outlasts the task's call. With `begun_s` it stays open for one thing after the other,
        such as answers to fetches, and costs nothing for each. The function returns since when it
        waits for the oldest of them (monotonic), and None for nothing.
        """
        task = None if is_apart else asyncio.current_task()
        wait = LongWait(self, what, check, now, self._clock.monotonic(), task, begun_s)
        self._open[wait] = None
        if self._timer is None or self._timer_at_s > wait.tell_at_s:
            self._look_at(wait.tell_at_s)
        return wait

    def _look_at(self, at_s: float) -> None:
        if self._timer is not None:
            if self._timer_at_s <= at_s:
                return
            self._timer.cancel()
        self._timer_at_s = at_s
        self._timer = self._clock.call_at(at_s, self._look)

    def end(self, wait: LongWait) -> None:
        """Note that a wait is over. May be repeated."""
        if self._open.pop(wait, self) is self:
            return
        # What was told stays: the wait may begin again soon.
        told_s = self._told_at_s.get(wait.what) if self._told_at_s else None
        is_told = told_s is not None and told_s >= wait.since_s
        if is_told and all(each.what != wait.what for each in list(self._open)):
            lasted_s = self._clock.monotonic() - wait.since_s
            logger.info("%s: waits no longer for %s, after %.0f s", self.name, wait.what, lasted_s)
        if not (self._keeps_timer or self._open or self._timer is None):
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Forget all waits, for the client ends. Does not wait."""
        self._open.clear()
        self._told_at_s.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def lasting(self) -> list[str]:
        """Return a sentence for each wait of `TELL_AFTER_S` and more, the same as in the log."""
        now_s = self._clock.monotonic()
        texts = {
            wait.what: self._text(wait, now_s)
            for wait in self._outermost()
            if wait.follow() and now_s - wait.since_s >= TELL_AFTER_S
        }
        return [text for text in texts.values() if text]

    def _outermost(self) -> list[LongWait]:
        found: dict[object, LongWait] = {}
        for wait in list(self._open):
            found.setdefault(wait if wait.task is None else wait.task, wait)
        return list(found.values())

    def _text(self, wait: LongWait, now_s: float) -> str:
        """Return the sentence; an empty one if the wait has ended, or is told elsewhere."""
        said = wait.came_back()
        if not said or wait not in self._open:
            return ""
        inner = [
            each
            for each in list(self._open)
            if each is not wait and each.task is wait.task and each.task is not None
        ]
        lasting_s = now_s - wait.since_s
        text = f"has waited {lasting_s:.0f} s for {wait.what}"
        if not inner or wait.attempts:
            text += f": {said}"
        for each in inner[-1:]:
            text += f"; it waits for {each.what}: {each.came_back()}"
        return f"{text}; {(inner or [wait])[-1].check}"

    def _look(self) -> None:
        """Tell the waits that are due, and set the timer for the next one."""
        now_s = self._clock.monotonic()
        self._timer = None
        for what, told_s in self._told_at_s.copy().items():
            if now_s - told_s > TELL_AGAIN_S:
                del self._told_at_s[what]
        told = 0
        untold = 0
        due_s = now_s + TELL_AGAIN_S
        for wait in self._outermost():
            if not wait.follow():
                wait.tell_at_s = now_s + TELL_AFTER_S
                due_s = min(due_s, wait.tell_at_s)
                continue
            last_s = self._told_at_s.get(wait.what)
            if last_s is not None:
                wait.tell_at_s = max(wait.tell_at_s, last_s + TELL_AGAIN_S)
            if wait.tell_at_s <= now_s:
                wait.tell_at_s = now_s + TELL_AGAIN_S
                text = self._text(wait, now_s)
                if not text:
                    wait.tell_at_s = now_s + TELL_AFTER_S
                    due_s = min(due_s, wait.tell_at_s)
                    continue
                if told < MOST_TOLD:
                    told += 1
                    wait.is_told = True
                    self._told_at_s[wait.what] = now_s
                    logger.warning("%s: %s", self.name, text)
                else:
                    untold += 1
            due_s = min(due_s, wait.tell_at_s)
        if untold:
            logger.warning("%s: %d other calls wait as long", self.name, untold)
        if self._open:
            self._look_at(due_s)


class Sparing:
    """What was told within the last minute. What comes and goes is not told each time (H8)."""

    __slots__ = ("_told_at_s",)

    def __init__(self) -> None:
        self._told_at_s: dict[object, float] = {}

    def level(self, what: object, now_s: float) -> int:
        """Return WARNING if `what` was not told within a minute, and note that; else DEBUG."""
        last_s = self._told_at_s.get(what)
        if last_s is not None and now_s < last_s + TELL_AGAIN_S:
            return logging.DEBUG
        self._told_at_s[what] = now_s
        return logging.WARNING


__all__ = ["MOST_TOLD", "TELL_AFTER_S", "TELL_AGAIN_S", "LongWait", "LongWaits", "Sparing"]
