"""A life goes along its table; any other step raises the subclass's error and changes nothing."""

from enum import Enum

import pytest

from aiokafka_lite.concurrency.life import Life


class Lamp(Enum):
    NEW = "new"
    ON = "on"
    BROKEN = "broken"


class LampLife(Life[Lamp]):
    def __init__(self) -> None:
        super().__init__(
            {
                Lamp.NEW: frozenset({Lamp.ON}),
                Lamp.ON: frozenset({Lamp.ON, Lamp.BROKEN}),
                Lamp.BROKEN: frozenset(),
            },
            Lamp.NEW,
        )

    def refusal(self, state: Lamp, /) -> Exception:
        return LookupError(f"from {self._state.value} to {state.value}")


def test_a_life_goes_along_its_table() -> None:
    life = LampLife()
    seen = [life.state]
    for state in (Lamp.ON, Lamp.ON, Lamp.BROKEN):
        life.to(state)
        seen.append(life.state)
    assert seen == [Lamp.NEW, Lamp.ON, Lamp.ON, Lamp.BROKEN]


def test_a_step_that_the_table_lacks_raises_the_refusal_and_changes_nothing() -> None:
    life = LampLife()
    with pytest.raises(LookupError, match="from new to broken"):
        life.to(Lamp.BROKEN)
    assert life.state is Lamp.NEW
