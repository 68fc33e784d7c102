"""The rules of the architecture, one test for each rule. DESIGN.md draws what they hold.

Imports lead down, plain files do not wait, and tasks, clocks and chance come in through one door.
A failure lists every offender. The floors of the larger folders are read from DESIGN.md, and a
file is plain when its head says "Does not wait."

The rules read the source with `ast`, so lazy imports and those for type checkers count too.
"""

import ast
import functools
import importlib
import importlib.util
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import aiokafka_lite

ROOT = Path(aiokafka_lite.__file__).parent
TESTS = Path(__file__).parents[1]
PACKAGE = "aiokafka_lite"

# An arrow only ever points down; units of one floor do not see each other, except on the ground.
FLOORS: dict[str, float] = {
    "kafka_error": 0,
    "errors": 0,
    "broker_errors": 0,
    "broker_response_error": 0,
    "rare_broker_errors": 0,
    "model": 0,
    "light_dataclass": 0,
    "light_named_tuple": 0,
    "private_reads": 0,
    "consumer_record": 0,
    "native": 0,
    "options": 0,
    "secret": 0,
    "serialization": 0,
    "checks": 0,
    "clock": 0,
    "version": 0,
    "concurrency": 0,
    "metrics": 0,
    "codec": 1,
    "compression": 1,
    "schema": 2,
    "record": 2,
    "protocol": 3,
    "arrow": 3,
    "net": 4,
    "observe": 4,
    "cluster": 5,
    "helpers": 5,
    "client": 5.5,
    "schema_registry": 5,
    "java_config": 6,
    "producer": 6,
    "consumer": 6,
    "admin": 6,
    "spark": 8,
    "share": 6.5,
    "exactly_once_batch": 6.5,
    "exactly_once": 7,
    "workers": 7,
    "cli": 8,
    "abc": 8,
    "compat": 8,
    "coordinator": 8,
    "partitioner": 8,
    "structs": 8,
    "util": 8,
    "": 8,  # aiokafka_lite/__init__.py
    "__main__": 8,
    # The side tower stands on floors 0-3 and never sees net, cluster or the clients…
    "testing/broker": 3.5,
    "testing/fake_clock": 0.5,
    # What the partition of a key is, is Kafka's rule and no client's: the broker follows it, too.
    "producer/key_hash": 1,
    # …while what starts real brokers and hands out fixtures may see all but the roof.
    "testing": 7,
}
DRAWN_ROOM = re.compile(r"^    ([a-z_/]+)  +(.*>.*(?:\n {20,}>.*)*)$", re.M)


def drawn_rooms() -> dict[str, list[set[str]]]:
    """The lines of DESIGN.md: a folder, then its floors from the top down."""
    text = (ROOT.parent / "DESIGN.md").read_text(encoding="utf-8")
    return {
        room: [set(floor.split()) for floor in floors.split(">")]
        for room, floors in DRAWN_ROOM.findall(text)
    }


# Inside a piece, from its top down: a file or folder imports from those below it, and from itself.
ROOMS = drawn_rooms()
# The roof's own doors.
ROOF_DOORS = {("__main__", "cli"), ("cli", ""), ("spark", "")}
# What stands on a floor below must not lean on the test tools all the same.
ONLY_FROM_ABOVE = {"testing", "testing/broker", "testing/fake_clock"}

PLAIN_FOLDERS = (
    "checks/",
    "consumer_record/",
    "codec/",
    "compression/",
    "schema/",
    "record/",
    "protocol/",
    "arrow/",
    "consumer/assignors/",
    "options/",
    "testing/broker/state/",
)
PLAIN_HEAD = re.compile(r"\bDoes\s+not\s+wait[.:;]")
"""What the head of a plain file says."""
TOUCH_THE_LOOP = {
    "concurrency/coroutine_function": "tells coroutine functions apart",
    "concurrency/loop_network": "declares what a loop for tests offers",
    "concurrency/running_loop": "finds the loop",
    "consumer/position/committed_offset": "declares the call of another part",
    "net/frame_stream": "is called by the loop",
    "net/exchange": "makes the future of its caller",
    "spark/prometheus": "is called by Spark's thread",
    "testing/broker/security/listener_security": "names the type of a transport",
    "testing/broker/tls_transport": "is called by the loop",
}
"""Files that do not wait and name what belongs to a loop or a thread all the same."""

TASK_STARTERS = {"create_task", "ensure_future"}

# Functions of the standard library that ask the machine for the time, and who may.
CLOCK_FUNCTIONS = {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "sleep"}
CLOCK_READERS = {
    "clock": "the one door of time",
    "testing/kafka_container": "waits for containers, which know no fake time",
}
RANDOM_CLASSES = {"Random", "SystemRandom"}

# Inner __init__ files that users import from, with the reason; imports and __all__ only.
SECOND_DOORS = {
    "admin/__init__": "aiokafka's users import the admin client and its values from there",
    "compat/__init__": "so that `install` is all that a program has to know",
    "cluster/__init__": "aiokafka's users import ClusterMetadata from there",
    "consumer/__init__": "aiokafka's users import the consumer from there",
    "producer/__init__": "aiokafka's users import the producer from there",
    "testing/broker/__init__": "the embedded broker is a product of its own",
    "schema_registry/__init__": "a program imports what it needs of a registry from there",
    "spark/__init__": "so that `register` is all a Spark program has to know",
}

# Those of them whose names are imported when they are first used.
LAZY_DOORS = {
    "admin/__init__",
    "cluster/__init__",
    "consumer/__init__",
    "producer/__init__",
    "__init__",
}


@functools.cache
def sources() -> dict[str, ast.Module]:
    """Path below the package ("net/endpoint") -> syntax tree, __init__ files included."""
    trees = {}
    for file in sorted(ROOT.rglob("*.py")):
        path = file.relative_to(ROOT).with_suffix("").as_posix()
        trees[path] = ast.parse(file.read_text(encoding="utf-8"), str(file))
    return trees


def dotted(path: str) -> str:
    parts = [PACKAGE, *path.split("/")]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def unit(path: str) -> str:
    """The piece of the drawing a module belongs to."""
    if path == "__init__":
        return ""
    for name in ("testing/broker", "testing/fake_clock", "producer/key_hash"):
        if path == name or path.startswith(f"{name}/"):
            return name
    return path.split("/", maxsplit=1)[0]


@functools.cache
def modules() -> dict[str, str]:
    """Dotted name -> path, for everything that can be imported."""
    return {dotted(path): path for path in sources()}


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Dotted names of everything imported, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the floor they lead to"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@functools.cache
def own_imports(path: str) -> frozenset[str]:
    """Paths of our own modules that a module imports."""
    found = set()
    for name in imported_names(sources()[path]):
        if name.split(".")[0] == PACKAGE:
            # "a.b.Name" is a name inside module "a.b", unless it is a module itself.
            target = name if name in modules() else name.rpartition(".")[0]
            found.add(modules().get(target, target.removeprefix(f"{PACKAGE}.").replace(".", "/")))
    return frozenset(found - {path})


def calls(tree: ast.AST) -> Iterator[str]:
    """Texts of what is called, such as "asyncio.create_task"."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


# Modules that cannot be imported without PySpark, which not every machine with the tests has.
NEED_PYSPARK = {"spark/compat", "spark/listener", "spark/sink", "spark/source"}
HAS_PYSPARK = importlib.util.find_spec("pyspark") is not None

PATHS = sorted(path.relative_to(ROOT).with_suffix("").as_posix() for path in ROOT.rglob("*.py"))
MODULE_PATHS = [path for path in PATHS if not path.endswith("__init__")]
IMPORT_PARTS = 2
"""Over how many tests the first imports are spread: all of them take ten seconds."""


def test_every_file_stands_on_a_floor() -> None:
    assert [path for path in PATHS if unit(path) not in FLOORS] == []


def test_imports_lead_down() -> None:
    wrong = [f"{path} -> {target}" for path in PATHS for target in sorted(not_below(path))]
    assert wrong == []


def not_below(path: str) -> Iterator[str]:
    """Yield what a file imports from its own floor or above, and from the tools of tests."""
    me = unit(path)
    for target in own_imports(path):
        other = unit(target)
        if other == me or (me, other) in ROOF_DOORS:
            continue
        ground = FLOORS[me] == FLOORS[other] == 0
        tools = other in ONLY_FROM_ABOVE and FLOORS[me] < 7
        if tools or not (ground or FLOORS[other] < FLOORS[me]):
            yield target


def test_every_name_of_the_drawing_exists() -> None:
    assert len(ROOMS) > 10
    drawn = [*FLOORS, *ROOMS, *(f"{room}/{name}" for room in ROOMS for name in rooms_of(room))]
    missing = {
        name for name in drawn if name not in sources() and f"{name}/__init__" not in sources()
    }
    assert missing == {""}


def test_imports_inside_a_room_lead_down() -> None:
    """DESIGN.md has each file and folder of a room that it draws."""
    wrong = []
    for room in ROOMS:
        floor_of = rooms_of(room)
        for path in PATHS:
            if not path.startswith(f"{room}/") or path == f"{room}/__init__":
                continue
            me = path.removeprefix(f"{room}/").split("/")[0]
            if me not in floor_of:
                wrong.append(f"{path} belongs to no floor of {room}")
                continue
            for target in own_imports(path):
                if target.startswith(f"{room}/"):
                    other = target.removeprefix(f"{room}/").split("/")[0]
                    if other != me and floor_of.get(other, 0) <= floor_of[me]:
                        wrong.append(f"{path} -> {target}")
    assert wrong == []


def test_the_design_page_lists_the_rooms_of_the_tests() -> None:
    """Each folder of the tests is in the list, or has the name of a folder of the package."""
    text = (ROOT.parent / "DESIGN.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`tests/.*?) \|", text, re.M)
    listed = {name for row in rows for name in re.findall(r"`tests/(\w+)/`", row)}
    folders = {file.relative_to(TESTS).parts[0] for file in TESTS.glob("*/**/*.py")}
    assert listed == {name for name in folders if not (ROOT / name).is_dir()}


def rooms_of(room: str) -> dict[str, int]:
    """The files and folders of a room -> how far below its top they stand."""
    return {name: floor for floor, names in enumerate(ROOMS[room]) for name in names}


def test_no_import_cycle() -> None:
    done: set[str] = set()

    def walk(path: str, trail: tuple[str, ...]) -> None:
        assert path not in trail, " → ".join((*trail[trail.index(path) :], path))
        if path not in done:
            for target in sorted(own_imports(path) & sources().keys()):
                walk(target, (*trail, path))
            done.add(path)

    for path in PATHS:
        walk(path, ())


@pytest.mark.parametrize("part", range(IMPORT_PARTS))
def test_every_folder_can_be_the_first_import(part: int) -> None:
    """Each in a fresh package, with all its modules; no import may start a thread.

    Single modules are not tried: no chain of imports leads back to its start, as the test above
    shows, so the order of imports makes no difference to them.
    """
    program = """
import importlib, sys, threading
for names in sys.argv[1:]:
    for loaded in [key for key in sys.modules if key.split(".")[0] == "aiokafka_lite"]:
        del sys.modules[loaded]
    for name in names.split(","):
        try:
            importlib.import_module(name)
        except Exception as error:
            sys.exit(f"{name} alone: {error!r}")
        if threading.active_count() > 1:
            sys.exit(f"{name} starts a thread when it is imported")
"""
    unusable = {*NEED_PYSPARK, "spark/prometheus"}  # which imports one of them
    left_out = set() if HAS_PYSPARK else {dotted(path) for path in unusable}
    folders: dict[str, list[str]] = defaultdict(list)
    for name in sorted(modules()):
        if name not in left_out:
            folders[name.rpartition(".")[0]].append(name)
    groups = [",".join(names) for _, names in sorted(folders.items())]
    run = subprocess.run(
        [sys.executable, "-c", program, *groups[part::IMPORT_PARTS]],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_the_broker_has_no_class_of_the_name_of_a_clients_class() -> None:
    """A traceback or a search that names a class means one of them. The names in `compat` are those
    of aiokafka.
    """
    by_side: dict[bool, set[str]] = {True: set(), False: set()}
    for path, tree in sources().items():
        if path.startswith("compat/"):
            continue
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        by_side[path.startswith("testing/")] |= names
    assert not by_side[True] & by_side[False]


def test_a_file_that_says_so_does_not_wait() -> None:
    """Decisions are plain; waiting belongs into the thin file around them."""
    plain = {path for path in PATHS if path.startswith(PLAIN_FOLDERS) or says_it_is_plain(path)}
    assert len(plain) > 400
    assert {path for path in plain if touches_the_loop(path)} == TOUCH_THE_LOOP.keys()
    waiting = (ast.Await, ast.AsyncFor, ast.AsyncWith)
    waits = {path for path in plain if any(isinstance(n, waiting) for n in nodes(path))}
    assert waits == set()


def says_it_is_plain(path: str) -> bool:
    return PLAIN_HEAD.search(ast.get_docstring(sources()[path]) or "") is not None


def touches_the_loop(path: str) -> bool:
    roots = {name.split(".")[0] for name in imported_names(sources()[path])}
    loops = roots & {"asyncio", "anyio", "uvloop", "threading"}
    return bool(loops) or any(isinstance(node, ast.AsyncFunctionDef) for node in nodes(path))


def nodes(path: str) -> Iterator[ast.AST]:
    return ast.walk(sources()[path])


def test_only_concurrency_starts_tasks() -> None:
    """Children belong to a TaskOwner."""
    starts = [
        f"{path} calls {call}"
        for path in PATHS
        if unit(path) != "concurrency"
        for call in calls(sources()[path])
        if call.split(".")[-1] in TASK_STARTERS
    ]
    assert starts == []


def test_time_and_chance_come_in_through_the_door() -> None:
    """As a Clock, and as a random.Random."""
    wrong = []
    for path in PATHS:
        used = {ast.unparse(node) for node in nodes(path) if isinstance(node, ast.Attribute)}
        used |= set(imported_names(sources()[path]))
        if path not in CLOCK_READERS:
            wrong += [f"{path}: time.{name}" for name in CLOCK_FUNCTIONS if f"time.{name}" in used]
        wrong += [
            f"{path}: {name}"
            for name in used
            if name.startswith("random.") and name.split(".")[1] not in RANDOM_CLASSES
        ]
    assert wrong == []


def test_file_names_are_addresses() -> None:
    """One stem, one file on floors 0-6, so that a line of a traceback says where it is."""
    homes = defaultdict(list)
    for path in MODULE_PATHS:
        if FLOORS[unit(path)] <= 6 and not path.startswith("testing/"):
            homes[path.split("/")[-1]].append(path)
    twice = {stem: paths for stem, paths in homes.items() if len(paths) > 1}
    assert not twice


def test_inner_init_holds_no_code() -> None:
    with_code = [path for path in PATHS if path.endswith("/__init__") and has_code(path)]
    assert with_code == []


def has_code(path: str) -> bool:
    code = [node for node in sources()[path].body if not is_docstring(node)]
    if path in SECOND_DOORS:
        code = [node for node in code if not isinstance(node, ast.ImportFrom | ast.Assign)]
    if path in LAZY_DOORS:
        code = [node for node in code if not is_for_a_first_use(node)]
    return bool(code)


def is_for_a_first_use(node: ast.stmt) -> bool:
    """Whether it imports names for type checkers, or when they are first used (PEP 562)."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__dir__")


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def test_every_file_opens_with_what_it_owns() -> None:
    assert [path for path in MODULE_PATHS if not ast.get_docstring(sources()[path])] == []


def test_public_door_offers_what_it_lists() -> None:
    offered = {
        alias.asname or alias.name
        for node in ast.walk(sources()["__init__"])
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE)
        for alias in node.names
    }
    assert offered == set(aiokafka_lite.__all__)
    assert len(set(aiokafka_lite.__all__)) == len(aiokafka_lite.__all__)
    for name in aiokafka_lite.__all__:
        assert getattr(aiokafka_lite, name) is not None
    with pytest.raises(AttributeError):
        _ = importlib.import_module(PACKAGE).no_such_name


def test_every_room_has_tests() -> None:
    """A folder of the package is a folder of the tests, or is tested by the one above."""
    rooms = {path.split("/")[0] for path in MODULE_PATHS if "/" in path}
    without = {room for room in rooms if not any((TESTS / room).rglob("test_*.py"))}
    assert without == {"coordinator"}, "aiokafka's addresses: tests/test_structs.py imports them"


def test_lists_of_exceptions_are_up_to_date() -> None:
    listed = CLOCK_READERS.keys() | NEED_PYSPARK | LAZY_DOORS | SECOND_DOORS.keys()
    assert listed - sources().keys() == set()


def test_pyspark_is_imported_by_the_files_that_are_listed_for_it_only() -> None:
    """What decides, plans and reads is used and tested without PySpark."""
    importers = {
        path
        for path, tree in sources().items()
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Try)
        and any(name.split(".")[0] == "pyspark" for name in imported_names(node))
    }
    assert importers == NEED_PYSPARK
