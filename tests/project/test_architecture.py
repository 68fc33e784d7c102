"""The rules of the architecture, which DESIGN.md draws and this file checks.

First come the tables: floors, rooms, plain files, and the files that may do what others may not.
Then come the rules, one test each: imports lead down, plain files do not wait, tasks and clocks
have one place, and each source file has its docstring, its `__all__` and its test.

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
    "light_enum": 0,
    "light_named_tuple": 0,
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
# Inside a piece, from its top down: a file or folder imports from those below it, and from itself.
ROOMS: dict[str, list[set[str]]] = {
    "cluster": [
        {"coordinator_cache", "shared_options"},
        {"kafka_client"},
        {"cluster_metadata"},
        {"metadata"},
        {"bootstrap", "telemetry"},
        {"network_client"},
        {"direct_requests", "node_wait"},
        {"guest_connections"},
        {"connection_pool"},
        {"client_config", "client_options", "error_actions", "node_states"},
        {"sasl_options"},
        {"lane", "tls_options"},
    ],
    "admin": [
        {"admin_client"},
        {"groups"},
        {"cluster", "configs", "partitions", "security", "topics", "transactions"},
        {"config_resource"},
        {"calls"},
        {"admin_config", "admin_options"},
    ],
    "admin/calls": [
        {"admin_family", "every_broker"},
        {"admin_requests"},
        {"pending_items", "request_routes"},
        {"missing_rights", "outcomes", "outer_call", "raw_answer"},
    ],
    "record": [
        {"batch_builder", "batch_reader"},
        {"_batch_builder_py", "_batch_reader_py"},
        {"cursor"},
        {"control_record", "memory_records"},
        {"batch_header"},
        {"varint"},
    ],
    "producer": [
        {"producer"},
        {"send_explanation"},
        {"producer_engine", "producer_options"},
        {"append", "send"},
        {"transaction", "partition"},
        {"accumulator"},
        {"batch"},
        {"key_hash", "producer_config", "producer_life"},
    ],
    "producer/append": [
        {"arrow", "bulk_send", "transactional_path"},
        {"bulk_ack", "producer_interceptors"},
        {"append_path"},
        {"new_batches", "waiting_serializers"},
        {"route_finder"},
        {"appending", "manual_batch", "send_order"},
    ],
    "consumer": [
        {"consumer"},
        {"consumer_life", "fetch_explanation"},
        {"consumer_engine"},
        {"offset_calls"},
        {"record_poller"},
        {"poll_steps"},
        {"group"},
        {"fetch"},
        {"position"},
        {"consumer_arguments", "consumer_options"},
        {"consumer_config", "listed_topics", "matched_topics"},
        {"offset_reset", "poll_signal", "revision", "stop_bounds"},
        {"assignors"},
    ],
    "consumer/group": [
        {"consumer_group"},
        {"offsets"},
        {"classic", "consumer_rebalance"},
        {"departure", "membership_protocol"},
        {"assignment_handover"},
        {"poll_watch", "processing_hold", "rebalance_listener"},
        {"group_errors", "loop_watch"},
    ],
    "share": [
        {"share_consumer"},
        {"share_explanation", "share_life"},
        {"share_engine"},
        {"held_locks", "share_poller"},
        {"share_fetcher", "share_membership"},
        {"acquired_fetch", "commit_call", "share_answers", "share_coordinator", "share_requests"},
        {"pending_acknowledgements"},
        {"held_records", "share_deserializer", "share_options", "share_session"},
        {"share_config"},
    ],
    "spark": [
        {"__main__"},
        {"jobs"},
        {"registration", "prometheus"},
        {"source"},
        {"sink", "listener", "range_copy"},
        {"read", "write"},
        {"decode"},
        {"process"},
        {"options"},
        {"offsets", "compat", "batch_report"},
    ],
    "spark/jobs": [
        {"program"},
        {"job_registry"},
        {"audit", "replay"},
        {"aggregate", "archive", "decode", "dedupe", "mirror"},
        {"archived_ranges", "offset_levels", "stream"},
        {"job"},
        {"job_config"},
    ],
    "workers": [
        {"keyed_workers", "share"},
        {"workers_engine", "workers_run", "workers_statistics"},
        {"partition_handover", "pool_tasks", "record_intake"},
        {"offset_commits", "worker_pool"},
        {"record_outcomes"},
        {"dead_letter_topic", "idle_workers", "partition_pauses", "stop_request"},
        {"flow_bounds", "handler_watch", "retry_plan"},
        {"work_queues"},
        {"offset_tracker"},
        {"connect_headers", "finished_note", "pool_item", "workers_config"},
    ],
    "workers/share": [
        {"share_workers"},
        {"share_workers_engine", "share_workers_statistics"},
        {"share_intake"},
        {"share_outcomes"},
        {"share_queue", "share_workers_config"},
    ],
    "testing/broker/state": [
        {"transactions"},
        {"groups", "log_dirs", "reassignments"},
        {"config_changes"},
        {"config_resources"},
        {"cluster_state"},
        {"broker_settings"},
        {"broker_options"},
        {
            "broker_loggers",
            "client_telemetry",
            "cluster_features",
            "log",
            "replica_assignments",
            "topic_config",
        },
        {"settings"},
    ],
}
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
PLAIN_FILES = {
    "kafka_error",
    "errors",
    "broker_errors",
    "broker_response_error",
    "rare_broker_errors",
    "model",
    "light_dataclass",
    "light_enum",
    "light_named_tuple",
    "native",
    "secret",
    "exactly_once_batch",
    "serialization",
    "version",
    "concurrency/backoff",
    "concurrency/life",
    "metrics/counters",
    "metrics/observed_client",
    "metrics/explanation",
    "metrics/observer",
    "metrics/statistics",
    "observe/histogram_exporter",
    "observe/messaging_conventions",
    "observe/opentelemetry",
    "observe/otlp_metrics",
    "observe/prometheus",
    "observe/pushed_metrics",
    "observe/standard_set",
    "observe/trace_headers",
    "net/connection_errors",
    "net/connection_state",
    "net/endpoint",
    "net/frame_buffer_pool",
    "net/handshake",
    "net/in_flight_requests",
    "net/sasl/authentication",
    "net/sasl/mechanism",
    "net/sasl/plain",
    "net/security",
    "net/tls/certificate_facts",
    "net/tls/tls_failures",
    "net/tls/tls_name",
    "net/tls/tls_settings",
    "admin/admin_config",
    "admin/admin_options",
    "admin/calls/admin_family",
    "admin/calls/missing_rights",
    "admin/calls/outcomes",
    "admin/calls/pending_items",
    "admin/calls/raw_answer",
    "admin/cluster/cluster_values",
    "admin/config_resource",
    "admin/topics/new_partitions",
    "admin/configs/config_answers",
    "admin/configs/config_changes",
    "admin/configs/config_entry",
    "admin/groups/group_descriptions",
    "admin/groups/group_offset_messages",
    "admin/groups/group_values",
    "admin/groups/offset_reset_plan",
    "admin/groups/raw_groups",
    "admin/topics/new_topic",
    "admin/transactions/hanging_transactions",
    "admin/transactions/transaction_answers",
    "admin/topics/records_to_delete",
    "admin/topics/topic_description",
    "admin/topics/topic_rows",
    "cluster/client_config",
    "cluster/client_options",
    "cluster/sasl_options",
    "cluster/lane",
    "cluster/error_actions",
    "cluster/cluster_metadata",
    "cluster/metadata/leader_updates",
    "cluster/metadata/metadata_snapshot",
    "cluster/node_states",
    "cluster/metadata/refresh_failures",
    "cluster/metadata/refresh_schedule",
    "cluster/telemetry/telemetry_state",
    "cluster/tls_options",
    "cluster/metadata/topic_interest",
    "producer/append/appending",
    "producer/append/arrow/arrow_column_faults",
    "producer/append/arrow/arrow_rows",
    "producer/batch/batch_split",
    "producer/batch/compression_ratios",
    "producer/append/manual_batch",
    "producer/transaction/transaction_errors",
    "producer/transaction/transaction_requests",
    "producer/transaction/transaction_scope",
    "producer/transaction/transaction_state",
    "producer/partition/partition_loads",
    "producer/key_hash/murmur2",
    "producer/partition/named_partitioners",
    "producer/partition/partitioner",
    "producer/producer_config",
    "producer/accumulator/batch_sizes",
    "producer/accumulator/incomplete_batches",
    "producer/accumulator/node_pace",
    "producer/accumulator/partition_queue",
    "producer/accumulator/record_accumulator",
    "producer/accumulator/sequence_numbers",
    "producer/partition/topic_routes",
    "producer/send_explanation",
    "consumer/consumer_config",
    "consumer/consumer_arguments",
    "consumer/fetch/completed_fetch",
    "consumer/group/offsets/commit_answer",
    "consumer/group/group_errors",
    "consumer/fetch_explanation",
    "consumer/group/classic/heartbeat_timer",
    "consumer/group/classic/join_explanation",
    "consumer/group/classic/member",
    "consumer/group/classic/next_step",
    "consumer/group/offsets/offset_exchange",
    "consumer/group/classic/rebalance",
    "consumer/group/consumer_rebalance/epoch_member",
    "consumer/group/consumer_rebalance/heartbeat_fields",
    "consumer/group/consumer_rebalance/heartbeat_pace",
    "consumer/group/consumer_rebalance/membership_explanation",
    "consumer/group/consumer_rebalance/target_names",
    "consumer/fetch/fetch_planner",
    "consumer/fetch/fetch_session",
    "consumer/position/epoch_questions",
    "consumer/position/offset_questions",
    "consumer/offset_reset",
    "consumer/position/partition_state",
    "consumer/position/subscription_state",
    "consumer/stop_bounds",
    "compat/module_names",
    "schema_registry/libraries",
    "schema_registry/registered_schema",
    "schema_registry/registry_address",
    "schema_registry/registry_errors",
    "schema_registry/subject_names",
    "schema_registry/wire_format",
    "share/held_locks",
    "share/held_records",
    "share/pending_acknowledgements",
    "share/share_config",
    "share/share_deserializer",
    "share/share_explanation",
    "share/share_options",
    "share/share_requests",
    "share/share_session",
    "spark/read/arrow",
    "spark/decode/avro_types",
    "spark/decode/dead_letters",
    "spark/read/data_loss",
    "spark/options/kafka_keys",
    "spark/options/local_files",
    "spark/options/secret_reference",
    "spark/options/token_options",
    "spark/offsets",
    "spark/options/given_options",
    "spark/write/row_fingerprint",
    "spark/options/sink_options",
    "spark/write/task_place",
    "spark/write/transactional_marker",
    "spark/options/source_options",
    "spark/read/pushdown",
    "workers/connect_headers",
    "workers/finished_note",
    "workers/flow_bounds",
    "workers/handler_watch",
    "workers/offset_tracker",
    "workers/partition_pauses",
    "workers/retry_plan",
    "workers/share/share_queue",
    "workers/share/share_workers_config",
    "workers/share/share_workers_statistics",
    "workers/work_queues",
    "workers/workers_config",
    "workers/workers_statistics",
}

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

# Files whose `__all__` is made otherwise, with the reason.
OFFERED_OTHERWISE = {
    "admin/__init__": "every name is imported when it is first used",
    "cluster/__init__": "the name is imported when it is first used",
    "consumer/__init__": "the name is imported when it is first used",
    "producer/__init__": "the name is imported when it is first used",
    "__init__": "every name is imported when it is first used",
    "errors": "has those of `broker_errors`, too",
}

# Source files whose test is not at the same path, with the reason.
TESTED_ELSEWHERE = {
    "version": "a constant, read by the build",
}
TESTED_ELSEWHERE_FOLDERS = {
    "protocol/messages/": "declarations: tests/conformance/ compares each with Apache's own JSON",
    "coordinator/": "aiokafka's addresses: tests/test_structs.py imports each of them",
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


@pytest.mark.parametrize("path", PATHS)
def test_every_file_stands_on_a_floor(path: str) -> None:
    assert unit(path) in FLOORS, f"{path} belongs to no floor of the drawing"


@pytest.mark.parametrize("path", PATHS)
def test_imports_lead_down(path: str) -> None:
    me = unit(path)
    wrong = []
    for target in own_imports(path):
        other = unit(target)
        if other == me or (me, other) in ROOF_DOORS:
            continue
        ground = FLOORS[me] == FLOORS[other] == 0
        tools = other in ONLY_FROM_ABOVE and FLOORS[me] < 7
        if tools or not (ground or FLOORS[other] < FLOORS[me]):
            wrong.append(target)
    assert not wrong, f"{path} (floor {FLOORS[me]}) must not import {wrong}"


def test_every_name_of_the_drawing_exists() -> None:
    drawn = [*FLOORS, *ROOMS, *(f"{room}/{name}" for room in ROOMS for name in rooms_of(room))]
    missing = {
        name for name in drawn if name not in sources() and f"{name}/__init__" not in sources()
    }
    assert missing == {""}


@pytest.mark.parametrize("room", ROOMS)
def test_imports_inside_a_room_lead_down(room: str) -> None:
    floor_of = rooms_of(room)
    wrong = []
    for path in PATHS:
        if not path.startswith(f"{room}/") or path == f"{room}/__init__":
            continue
        me = path.removeprefix(f"{room}/").split("/")[0]
        assert me in floor_of, f"{path} belongs to no floor of {room}"
        for target in own_imports(path):
            if target.startswith(f"{room}/"):
                other = target.removeprefix(f"{room}/").split("/")[0]
                if other != me and floor_of[other] <= floor_of[me]:
                    wrong.append(f"{path} -> {target}")
    assert not wrong


def test_the_design_page_draws_the_same_rooms() -> None:
    text = (ROOT.parent / "DESIGN.md").read_text(encoding="utf-8")
    lines = re.findall(r"^    ([a-z/]+)  +(.*>.*(?:\n {20,}>.*)*)$", text, re.M)
    drawn = {room: [set(floor.split()) for floor in floors.split(">")] for room, floors in lines}
    assert drawn == ROOMS


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
    """A traceback or a search that names a class means one of them."""
    by_side: dict[bool, set[str]] = {True: set(), False: set()}
    for path, tree in sources().items():
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        by_side[path.startswith("testing/")] |= names
    assert not by_side[True] & by_side[False]


@pytest.mark.parametrize(
    "path", [p for p in PATHS if p in PLAIN_FILES or p.startswith(PLAIN_FOLDERS)]
)
def test_plain_file_does_not_wait(path: str) -> None:
    roots = {name.split(".")[0] for name in imported_names(sources()[path])}
    assert not roots & {"asyncio", "anyio", "uvloop", "threading"}
    coroutines = [n for n in ast.walk(sources()[path]) if isinstance(n, ast.AsyncFunctionDef)]
    assert not coroutines, f"{path} decides; waiting belongs into the thin file around it"


def test_list_of_plain_files_is_up_to_date() -> None:
    assert not {path for path in PLAIN_FILES if path not in sources()}


@pytest.mark.parametrize("path", MODULE_PATHS)
def test_only_concurrency_starts_tasks(path: str) -> None:
    if unit(path) == "concurrency":
        return
    starts = {c for c in calls(sources()[path]) if c.split(".")[-1] in TASK_STARTERS}
    assert not starts, f"{path} calls {starts}; children belong to a TaskOwner"


@pytest.mark.parametrize("path", MODULE_PATHS)
def test_time_and_chance_come_in_through_the_door(path: str) -> None:
    tree = sources()[path]
    used = {ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    used |= set(imported_names(tree))
    clocks = {f"time.{function}" for function in CLOCK_FUNCTIONS} & used
    assert not clocks or path in CLOCK_READERS, f"{path} uses {clocks}; take a Clock"
    chance = {
        name
        for name in used
        if name.startswith("random.") and name.split(".")[1] not in RANDOM_CLASSES
    }
    assert not chance, f"{path} uses {chance}; take a random.Random"


def test_file_names_are_addresses() -> None:
    """One stem, one file on floors 0-6, so that a line of a traceback says where it is."""
    homes = defaultdict(list)
    for path in MODULE_PATHS:
        if FLOORS[unit(path)] <= 6 and not path.startswith("testing/"):
            homes[path.split("/")[-1]].append(path)
    twice = {stem: paths for stem, paths in homes.items() if len(paths) > 1}
    assert not twice


@pytest.mark.parametrize("path", [p for p in PATHS if p.endswith("/__init__")])
def test_inner_init_holds_no_code(path: str) -> None:
    code = [node for node in sources()[path].body if not is_docstring(node)]
    if path in SECOND_DOORS:
        code = [node for node in code if not isinstance(node, ast.ImportFrom | ast.Assign)]
    if path in OFFERED_OTHERWISE:
        code = [node for node in code if not is_for_a_first_use(node)]
    assert not code


def is_for_a_first_use(node: ast.stmt) -> bool:
    """Whether it imports names for type checkers, or when they are first used (PEP 562)."""
    if isinstance(node, ast.If):
        return ast.unparse(node.test) == "TYPE_CHECKING"
    return isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__dir__")


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@pytest.mark.parametrize("path", MODULE_PATHS)
def test_file_opens_with_what_it_owns(path: str) -> None:
    assert ast.get_docstring(sources()[path]), f"{path} does not say what it is for"


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


def offered_by(body: list[ast.stmt]) -> Iterator[str]:
    """Names of the functions and classes of a file that do not begin with an underscore."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not node.name.startswith("_"):
                yield node.name
        elif isinstance(node, ast.If | ast.Try):
            yield from offered_by([*node.body, *node.orelse])


@functools.cache
def imported_by_others() -> dict[str, set[str]]:
    """Path -> names that other files of the package import from there."""
    found: dict[str, set[str]] = defaultdict(set)
    for tree in sources().values():
        for name in imported_names(tree):
            owner, _, imported = name.rpartition(".")
            if owner in modules() and name not in modules() and imported[0] not in "_*":
                found[modules()[owner]].add(imported)
    return found


@pytest.mark.parametrize("path", [p for p in PATHS if p not in OFFERED_OTHERWISE])
def test_file_ends_with_the_list_of_what_it_offers(path: str) -> None:
    """`__all__` has every function and class, and each other name that another file imports."""
    offered = {*offered_by(sources()[path].body), *imported_by_others().get(path, ())}
    if not offered or path.endswith("_py"):
        return
    last = sources()[path].body[-1]
    assert isinstance(last, ast.Assign), f"{path} does not end with __all__"
    assert ast.unparse(last.targets[0]) == "__all__"
    missing = offered - set(ast.literal_eval(last.value))
    assert not missing, f"{path} offers {sorted(missing)}, which its __all__ does not have"


@pytest.mark.parametrize("path", MODULE_PATHS)
def test_source_file_has_its_own_test_file(path: str) -> None:
    if path in TESTED_ELSEWHERE or path.startswith(tuple(TESTED_ELSEWHERE_FOLDERS)):
        return
    folder, _, stem = path.rpartition("/")
    # Twins of one leaf share the test of the file that chooses between them.
    stem = stem.removeprefix("_").removesuffix("_py") if stem.endswith("_py") else stem.strip("_")
    test = TESTS / folder / f"test_{stem}.py"
    assert test.exists(), f"{path} has no {test.relative_to(TESTS.parent)}"


def test_lists_of_exceptions_are_up_to_date() -> None:
    listed = (
        TESTED_ELSEWHERE.keys() | CLOCK_READERS.keys() | NEED_PYSPARK | OFFERED_OTHERWISE.keys()
    )
    assert not listed - sources().keys()


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
