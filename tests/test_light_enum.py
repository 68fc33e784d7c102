"""Enumerations of the clients' states behave as standard ones, for all that is asked of them."""

import copy
import enum
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite import light_enum
from aiokafka_lite.net.connection_state import ConnectionState


class Ours(light_enum.Enum):
    """The states of a door."""

    OPEN = "open"
    SHUT = "shut"

    @property
    def label(self) -> str:
        return self.value.upper()

    def differs(self, other: object) -> bool:
        return self is not other


class Theirs(enum.Enum):
    """The states of a door."""

    OPEN = "open"
    SHUT = "shut"

    @property
    def label(self) -> str:
        return self.value.upper()

    def differs(self, other: object) -> bool:
        return self is not other


def outcome(action: Callable[[], object]) -> object:
    try:
        return str(action()).replace("Theirs", "Ours")
    except (KeyError, ValueError) as error:
        return type(error), str(error).replace("Theirs", "Ours")
    except (AttributeError, TypeError) as error:
        return type(error)


USES: list[Callable[[Any], object]] = [
    lambda cls: cls.OPEN,
    lambda cls: repr(cls.OPEN),
    lambda cls: f"{cls.OPEN} {cls.SHUT:>19}".split(),
    lambda cls: (cls.OPEN.name, cls.OPEN.value, cls.SHUT.label),
    list,
    len,
    lambda cls: cls("shut") is cls.SHUT,
    lambda cls: cls(cls.SHUT) is cls.SHUT,
    lambda cls: cls("ajar"),
    lambda cls: cls([]),
    lambda cls: cls["OPEN"] is cls.OPEN,
    lambda cls: cls["AJAR"],
    lambda cls: cls.AJAR,
    lambda cls: dict(cls.__members__),
    lambda cls: cls.OPEN in cls,
    lambda cls: isinstance(cls.OPEN, cls),
    lambda cls: (cls.OPEN == cls.OPEN, cls.OPEN == cls.SHUT, cls.OPEN == "open"),
    lambda cls: {cls.OPEN: 1}[cls("open")],
    lambda cls: len({cls.OPEN, cls.SHUT, cls("open")}),
    lambda cls: setattr(cls, "OPEN", 1),
    lambda cls: setattr(cls.OPEN, "value", 1),
    lambda cls: cls.OPEN.differs(cls.SHUT),
    lambda cls: cls.OPEN < cls.SHUT,
    lambda cls: bool(cls.OPEN),
    lambda cls: cls.__doc__,
]


@pytest.mark.parametrize("use", USES, ids=range(len(USES)))
def test_used_like_the_standard_one(use: Callable[[Any], object]) -> None:
    assert outcome(lambda: use(Ours)) == outcome(lambda: use(Theirs))


def test_copies_and_pickles_are_the_member_itself() -> None:
    state = ConnectionState.READY
    assert copy.copy(state) is state
    assert copy.deepcopy({state: 1}) == {state: 1}
    assert pickle.loads(pickle.dumps(state)) is state


def test_two_members_of_the_same_value_are_refused() -> None:
    with pytest.raises(TypeError, match="Twice has two members of the same value"):

        class Twice(light_enum.Enum):
            ONE = 1
            AGAIN = ONE


def test_members_with_a_constructor_are_refused() -> None:
    with pytest.raises(TypeError, match="members of Made have a constructor"):

        class Made(light_enum.Enum):
            ONE = 1

            def __init__(self, value: int) -> None:
                self.double = 2 * value
