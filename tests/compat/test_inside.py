"""Each name of aiokafka 0.14's modules exists, of the same kind. The wheel is the witness."""

import enum
import importlib
import inspect
import types
from types import ModuleType
from typing import Any

import pytest

from aiokafka_lite.compat import inside, inside_table
from aiokafka_lite.compat.installation import found

PATHS = sorted(inside_table.module_paths())
OF_THE_BUILD = {"NO_EXTENSIONS"}
"""Values that say how a package was built."""


def their_names(path: str) -> dict[str, Any]:
    """The names of a module of aiokafka, without the modules below it."""
    module = importlib.import_module(f"aiokafka.{path}".rstrip("."))
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("__")
        if not (isinstance(value, ModuleType) and value.__name__ == f"{module.__name__}.{name}")
    }


def may_be_derived_from(kind: Any) -> bool:
    try:
        types.new_class("Derived", (kind,))
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("path", PATHS)
def test_each_name_is_there_and_of_its_kind(path: str) -> None:
    for name, theirs in their_names(path).items():
        ours = found(path, name)
        assert found(path, name) is ours, name
        assert inspect.isclass(ours) == inspect.isclass(theirs), (name, ours)
        assert callable(ours) == callable(theirs), (name, ours)
        assert inspect.iscoroutinefunction(ours) == inspect.iscoroutinefunction(theirs), name
        if inspect.isclass(theirs):
            assert ours | None == None | ours  # an annotation
            assert may_be_derived_from(ours) or not may_be_derived_from(theirs), (name, ours)
        elif isinstance(theirs, int | str | bytes | tuple | dict) and name not in OF_THE_BUILD:
            assert ours == theirs or name == "kafka_errors", name


@pytest.mark.parametrize("path", PATHS)
def test_each_class_has_the_members_and_the_parents_of_its_namesake(path: str) -> None:
    for name, theirs in their_names(path).items():
        if not inspect.isclass(theirs) or theirs.__module__ != f"aiokafka.{path}":
            continue
        ours = found(path, name)
        if issubclass(theirs, enum.Enum):
            mine = {each.name: each.value for each in ours}
            assert mine.items() >= {each.name: each.value for each in theirs}.items()
        if inside_table.entries(path).get(name, ("", []))[0] == "class":
            members = {each for each in vars(theirs) if not each.startswith("_")}
            assert not {each for each in members if not hasattr(ours, each)}, name
        for parent in theirs.__mro__[1:]:
            home = parent.__module__.partition(".")[2]
            if parent.__module__.startswith("aiokafka.") and home not in ("errors", "abc"):
                if home.startswith("record") or name.startswith("ConsumerProtocol"):
                    continue  # ours have one class where aiokafka has several
                assert issubclass(ours, found(home, parent.__name__)), (name, parent)


def test_what_nothing_stands_for_raises_when_it_is_used_and_names_the_public_way() -> None:
    connection = found("conn", "AIOKafkaConnection")
    with pytest.raises(NotImplementedError, match="use AIOKafkaClient, whose ready"):
        connection("localhost", 9092)
    assert not isinstance(object(), connection)
    with pytest.raises(NotImplementedError, match=r"aiokafka\.producer\.sender\.InitPIDHandler"):
        found("producer.sender", "InitPIDHandler")(None)

    handler = found("producer.message_accumulator", "MessageBatch")

    class Own(handler):  # type: ignore[misc, valid-type]  # made when it is first used
        def __init__(self) -> None:
            self.made = True

    assert Own().made
    with pytest.raises(NotImplementedError, match="append"):
        Own().append(None)
    with pytest.raises(AttributeError, match="tp"):
        _ = Own().tp


async def test_a_coroutine_that_nothing_stands_for_raises_when_it_is_awaited() -> None:
    call = found("conn", "create_conn")("localhost", 9092)
    with pytest.raises(NotImplementedError, match="create_conn"):
        await call


def test_a_name_that_aiokafka_does_not_have_is_missed() -> None:
    with pytest.raises(KeyError):
        found("conn", "no_such_name")


def test_each_module_of_the_inside_has_a_public_way() -> None:
    for path in inside_table.module_paths():
        assert inside.public_way(path)


@pytest.mark.parametrize(
    ("path", "name", "arguments"),
    [
        ("structs", "TopicPartition", ("t", 1)),
        ("structs", "BrokerMetadata", (1, "host", 2, "rack")),
        ("structs", "PartitionMetadata", ("t", 0, 1, [1], [1], None)),
        ("structs", "OffsetAndMetadata", (1, "note")),
        ("structs", "OffsetAndTimestamp", (1, 2)),
        ("structs", "RecordMetadata", ("t", 0, ("t", 0), 1, 2, 0, 3)),
        ("structs", "ConsumerRecord", ("t", 0, 1, 2, 0, b"k", b"v", None, 1, 1, ())),
        ("admin", "NewTopic", ("t", 1, 2, None, {"a": "b"})),
        ("admin", "NewPartitions", (3, [[1]])),
        ("admin", "RecordsToDelete", (5,)),
        ("admin.config_resource", "ConfigResource", ("topic", "t", {"a": 1})),
        ("producer.transaction_manager", "PidAndEpoch", (1, 2)),
        ("coordinator.protocol", "ConsumerProtocolMemberMetadata", (0, ["t"], b"")),
        ("coordinator.protocol", "ConsumerProtocolMemberAssignment", (0, [("t", [1])], b"x")),
    ],
)
def test_a_value_is_made_and_read_as_in_aiokafka(
    path: str, name: str, arguments: tuple[Any, ...]
) -> None:
    theirs: Any = getattr(importlib.import_module(f"aiokafka.{path}"), name)(*arguments)
    ours = found(path, name)(*arguments)
    fields = getattr(theirs, "__dataclass_fields__", None) or getattr(theirs, "_fields", None)
    for field in fields or vars(theirs):
        assert str(getattr(ours, field)) == str(getattr(theirs, field)), field
    if hasattr(theirs, "encode"):
        assert ours.encode() == theirs.encode()
    if isinstance(theirs, tuple):
        assert tuple(ours) == tuple(theirs)
        names: Any = ours
        assert names._fields == fields


NOT_THERE = {
    "ASSIGNMENT_STRATEGIES",
    "DEFAULT_CONFIG",
    "PreviousAssignment",
    "SCHEMA",
    "abort_waiters",
    "begin_reassignment",
    "get_item",
    "listener",
    "register_fetch_waiters",
    "subscribe_from_pattern",
    # Of the sticky assignor, for the coordinator of aiokafka alone:
    "DEFAULT_GENERATION_ID",
    "generation",
    "member_assignment",
    "on_generation_assignment",
    "parse_member_metadata",
}
"""Members that only other classes of aiokafka's inside call."""


@pytest.mark.parametrize(
    "path", [each for each in PATHS if not each.startswith(("protocol", "record"))]
)
def test_each_class_has_the_public_members_of_its_namesake(path: str) -> None:
    for name, theirs in their_names(path).items():
        if not inspect.isclass(theirs) or theirs.__module__ != f"aiokafka.{path}":
            continue
        ours = found(path, name)
        members = {each for each in dir(theirs) if not each.startswith("_")} - NOT_THERE
        missing = {each for each in members if each not in dir(ours)}
        made_by_init = {"topics"} if name == "SubscriptionState" else set()
        assert missing <= made_by_init, name
