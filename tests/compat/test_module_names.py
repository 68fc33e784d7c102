"""The list of modules names modules of aiokafka, and modules that exist."""

import importlib
import importlib.metadata
import inspect

import pytest

from aiokafka_lite.compat.module_names import API_VERSION, STANDS_FOR

PUBLIC = (
    "abc",
    "admin",
    "client",
    "cluster",
    "coordinator.assignors.abstract",
    "coordinator.protocol",
    "errors",
    "helpers",
    "partitioner",
    "structs",
    "util",
)
"""The modules of aiokafka whose own names other modules of aiokafka show, too."""
INNER = {
    "NO_EXTENSIONS",
    "AIOKafkaConnection",
    "commit_structure_validate",
    "create_conn",
    "parse_kafka_version",
    "wait_for",
}
"""What belongs to the inside of aiokafka."""


def public_names(path: str) -> set[str]:
    """The public classes and functions of aiokafka that one of its modules has in it."""
    own = {f"aiokafka.{each}" for each in PUBLIC}
    return {
        name
        for name, value in vars(importlib.import_module(f"aiokafka.{path}".rstrip("."))).items()
        if inspect.isclass(value) or inspect.isfunction(value)
        if value.__module__ in own and not name.startswith("_")
    }


@pytest.mark.parametrize("path", STANDS_FOR)
def test_each_module_exists_on_both_sides(path: str) -> None:
    """What a module of aiokafka offers, the modules that stand for it have."""
    theirs = importlib.import_module(f"aiokafka.{path}".rstrip("."))
    ours = [
        importlib.import_module(f"aiokafka_lite.{each}".rstrip(".")) for each in STANDS_FOR[path]
    ]
    offered = (set(getattr(theirs, "__all__", ())) | public_names(path)) - INNER
    assert not {name for name in offered if not any(hasattr(each, name) for each in ours)}


def test_the_version_is_that_of_the_aiokafka_that_the_tests_compare_with() -> None:
    assert importlib.metadata.version("aiokafka") == API_VERSION
