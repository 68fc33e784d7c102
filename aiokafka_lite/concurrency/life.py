"""Owns the state of something that starts, runs and stops. Does not wait.

A producer, a consumer and the client of a cluster each have a table: state -> the states that may
come next. DESIGN.md draws the tables. A step that the table lacks raises the error of the subclass.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Generic, TypeVar


class LifeState(Enum):
    """The states of a producer or a consumer."""

    NEW = "not started"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"


State = TypeVar("State", bound=Enum)


class Life(Generic[State]):
    """The present state, and the steps that may come next."""

    def __init__(self, may_follow: Mapping[State, frozenset[State]], first: State) -> None:
        self._may_follow = may_follow
        self._state = first

    @property
    def state(self) -> State:
        """The present state."""
        return self._state

    def to(self, state: State) -> None:
        """Go to `state`.

        Raises: the error of `refusal`, without a change, when the table lacks this step.
        """
        if state not in self._may_follow[self._state]:
            raise self.refusal(state)
        self._state = state

    def refusal(self, state: State, /) -> Exception:
        """Return the error of a step to `state` that the table lacks."""
        raise NotImplementedError


__all__ = ["Life", "LifeState"]
