"""Named tuples behave as those of the standard library, however few instances there are."""

import copy
import inspect
import pickle
import sys
import typing
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite import light_named_tuple


class Ours(light_named_tuple.NamedTuple):
    """A place."""

    topic: str
    partition: int
    rack: str | None = None
    size: int = 0

    def where(self) -> str:
        return f"{self.topic}-{self.partition}"


class Theirs(typing.NamedTuple):
    """A place."""

    topic: str
    partition: int
    rack: str | None = None
    size: int = 0

    def where(self) -> str:
        return f"{self.topic}-{self.partition}"


class One(light_named_tuple.NamedTuple):
    only: int


class Derived(Ours):
    def __new__(cls, topic: str) -> typing.Self:
        return super().__new__(cls, topic, 7)


def outcome(action: Callable[[], object]) -> object:
    try:
        return action()
    except (TypeError, ValueError, AttributeError) as error:
        return type(error), str(error).replace("Theirs", "Ours").replace("<lambda>", "__new__")


USES: list[Callable[[Any], object]] = [
    lambda cls: tuple(cls("a", 1)),
    lambda cls: tuple(cls("a", 1, "r", 9)),
    lambda cls: tuple(cls(partition=1, topic="a", size=3)),
    lambda cls: tuple(cls("a", rack="r", partition=2)),
    lambda cls: cls("a"),
    lambda cls: cls(),
    lambda cls: cls("a", 1, None, 0, 5),
    lambda cls: cls("a", 1, topic="b"),
    lambda cls: cls("a", 1, colour="red"),
    lambda cls: repr(cls("a", 1)).removeprefix(cls.__name__),
    lambda cls: cls("a", 1)._asdict(),
    lambda cls: tuple(cls("a", 1)._replace(topic="b")),
    lambda cls: cls("a", 1)._replace(colour="b"),
    lambda cls: tuple(cls._make(["a", 1, None, 2])),
    lambda cls: cls._make(["a"]),
    lambda cls: cls._fields,
    lambda cls: cls._field_defaults,
    lambda cls: cls.__match_args__,
    lambda cls: cls.__annotations__,
    lambda cls: cls.__bases__,
    lambda cls: cls.__doc__,
    lambda cls: str(inspect.signature(cls)),
    lambda cls: cls("a", 1).where(),
    lambda cls: cls("a", 1) == ("a", 1, None, 0),
    lambda cls: hash(cls("a", 1)) == hash(("a", 1, None, 0)),
    lambda cls: setattr(cls("a", 1), "topic", "b"),
    lambda cls: hasattr(cls("a", 1), "__dict__"),
    typing.get_type_hints,
]


@pytest.mark.parametrize("instances", [0, 50])
@pytest.mark.parametrize("use", USES, ids=range(len(USES)))
def test_used_like_the_standard_one(use: Callable[[Any], object], instances: int) -> None:
    for _ in range(instances):
        Ours("a", 1)
    assert outcome(lambda: use(Ours)) == outcome(lambda: use(Theirs))


def test_copies_pickles_and_patterns() -> None:
    made = Ours("a", 1, size=4)
    for twin in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert twin == made
        assert type(twin) is Ours
    match made:
        case Ours(topic, 1, size=size):
            assert (topic, size) == ("a", 4)
        case _:
            pytest.fail("no match")


def test_one_field_and_a_constructor_of_a_subclass() -> None:
    assert [tuple(One(each)) for each in range(30)] == [(each,) for each in range(30)]
    derived = [Derived("a") for _ in range(30)]
    assert set(derived) == {("a", 7, None, 0)}
    assert type(derived[0]) is type(derived[-1]) is Derived
    assert str(inspect.signature(Derived)).startswith("(topic: str)")


@pytest.mark.skipif(sys.version_info < (3, 13), reason="copy.replace")
def test_replace_of_the_copy_module() -> None:
    replace = vars(copy)["replace"]
    assert replace(Ours("a", 1), topic="b") == ("b", 1, None, 0)


def test_constructor_is_compiled_when_it_is_called_often() -> None:
    class Often(light_named_tuple.NamedTuple):
        value: int

    first = Often.__new__
    for each in range(19):
        Often(each)
    assert Often.__new__ is first
    Often(19)
    assert Often.__new__ is not first
    assert Often(20) == (20,)
