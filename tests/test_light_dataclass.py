"""Classes that the light decorator makes, each beside what the standard one makes of it."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from aiokafka_lite import light_dataclass
from aiokafka_lite.light_dataclass import dataclass, fields_by_name, replace

OFTEN = 40
"""More instances than the generic constructor makes before a compiled one takes its place."""


@dataclass(frozen=True, slots=True)
class Place:
    name: str
    port: int = 9092
    tags: list[str] = field(default_factory=list, compare=False, repr=False)
    KIND: ClassVar[str] = "place"


@dataclass(slots=True, eq=False)
class Counter:
    count: int = 0

    def step(self) -> int:
        self.count += 1
        return self.count


@dataclass(frozen=True, kw_only=True, slots=True)
class Base:
    first: int = 1
    fixed: str = field(default="fixed", init=False)
    made: list[int] = field(default_factory=list, init=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Derived(Base):
    first: int = 2
    second: int

    def __post_init__(self) -> None:
        if self.second < 0:
            raise ValueError("second")


@dataclass(slots=True)
class Mutable:
    value: int


@dataclasses.dataclass(frozen=True)
class StandardPlace:
    name: str
    port: int = 9092
    tags: list[str] = field(default_factory=list, compare=False, repr=False)


MAKERS: list[Callable[[], Any]] = [
    lambda: Place("a"),
    lambda: Place("a", 1),
    lambda: Place(port=1, name="a", tags=["x"]),
]


@pytest.mark.parametrize("times", [1, OFTEN], ids=["first", "compiled"])
@pytest.mark.parametrize("make", MAKERS)
def test_instances_have_their_arguments_and_defaults(make: Callable[[], Any], times: int) -> None:
    made = [make() for _ in range(times)]
    assert all(each == made[0] and hash(each) == hash(made[0]) for each in made)
    assert (made[-1].name, made[-1].port) == ("a", made[0].port)
    assert len({id(each.tags) for each in made}) == times  # a list for each
    assert Place.KIND == "place"


def test_equality_hash_and_repr_are_those_of_a_standard_dataclass() -> None:
    ours, theirs = Place("a", 1, ["x"]), StandardPlace("a", 1, ["x"])
    assert repr(ours) == repr(theirs).replace("StandardPlace", "Place")
    assert hash(ours) == hash(theirs)
    assert ours == Place("a", 1, ["y"])
    assert ours != Place("b", 1, ["x"])
    assert ours != ("a", 1)
    assert Counter() != Counter()
    assert hash(Counter()) != 0
    with pytest.raises(TypeError, match="unhashable"):
        hash(Mutable(1))


def test_frozen_instances_refuse_assignments_and_others_take_them() -> None:
    place: Any = Place("a")
    with pytest.raises(FrozenInstanceError, match="'name'"):
        place.name = "b"
    with pytest.raises(FrozenInstanceError, match="'name'"):
        del place.name
    counter: Any = Counter()
    assert counter.step() == 1
    with pytest.raises(AttributeError):  # slots
        counter.other = 1


@pytest.mark.parametrize("times", [1, OFTEN], ids=["first", "compiled"])
def test_a_subclass_has_the_fields_of_its_base_and_its_own_defaults(times: int) -> None:
    made = [Derived(second=3) for _ in range(times)][-1]
    assert (made.first, made.second, made.fixed, made.made) == (2, 3, "fixed", [])
    assert (Base().first, Base().fixed) == (1, "fixed")
    assert Derived(second=3, first=7).first == 7
    assert Derived.__slots__ == ("second",)
    with pytest.raises(ValueError, match="second"):
        Derived(second=-1)


@pytest.mark.parametrize("times", [1, OFTEN], ids=["first", "compiled"])
@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), {}),
        (("a", 1, [], 4), {}),
        (("a",), {"name": "b"}),
        (("a",), {"prot": 1}),
    ],
    ids=["missing", "too many", "twice", "unknown"],
)
def test_wrong_arguments_are_a_type_error(
    arguments: tuple[Any, ...], named: dict[str, Any], times: int
) -> None:
    for _ in range(times):
        Place("a")
    unchecked: Any = Place
    with pytest.raises(TypeError):
        unchecked(*arguments, **named)
    unchecked = Derived
    with pytest.raises(TypeError):
        unchecked(second=1, fixed="other")
    with pytest.raises(TypeError):
        unchecked(1, 2)


def test_the_standard_librarys_functions_know_the_classes() -> None:
    place = Place("a", 1, ["x"])
    assert dataclasses.is_dataclass(Place)
    assert [each.name for each in dataclasses.fields(Place)] == ["name", "port", "tags"]
    assert dataclasses.replace(place, port=2) == Place("a", 2)
    assert dataclasses.asdict(place) == {"name": "a", "port": 1, "tags": ["x"]}
    assert dataclasses.replace(Derived(second=3), second=4).second == 4
    match place:
        case Place(name, port):
            assert (name, port) == ("a", 1)
        case _:
            raise AssertionError
    assert replace(place, port=2) == Place("a", 2)
    assert replace(place, port=2).tags is place.tags
    assert replace(Derived(second=3), second=4) == Derived(second=4)
    assert list(fields_by_name(Derived)) == ["first", "fixed", "made", "second"]
    assert list(fields_by_name(StandardPlace)) == ["name", "port", "tags"]


def test_a_standard_dataclass_may_derive_from_a_light_one() -> None:
    @dataclasses.dataclass(frozen=True)
    class Wide(Place):
        more: int = 3

    made = Wide("a", more=4)
    assert (made.name, made.port, made.more) == ("a", 9092, 4)


@pytest.mark.parametrize("value", [Place("a", 1, ["x"]), Mutable(3)], ids=["frozen", "mutable"])
def test_copies_and_pickles_are_equal(value: Any) -> None:
    assert copy.copy(value) == value
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value


def test_methods_in_the_body_are_kept() -> None:
    @dataclass(slots=True)
    class Own:
        value: int

        def __init__(self, text: str) -> None:
            self.value = int(text)

        def __repr__(self) -> str:
            return "own"

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

    made = Own("3")
    assert (made.value, repr(made), made == 4, hash(made)) == (3, "own", True, 7)


def test_a_class_without_slots_is_refused() -> None:
    with pytest.raises(TypeError, match="slots=False"):
        light_dataclass._light_dataclass(slots=False)
