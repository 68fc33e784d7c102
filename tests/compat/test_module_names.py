"""The list of modules names modules of aiokafka, and modules that exist."""

import importlib
import importlib.metadata

import pytest

from aiokafka_lite.compat.module_names import API_VERSION, STANDS_FOR


@pytest.mark.parametrize("path", STANDS_FOR)
def test_each_module_exists_on_both_sides(path: str) -> None:
    """What a module of aiokafka offers, the modules that stand for it have."""
    theirs = importlib.import_module(f"aiokafka.{path}".rstrip("."))
    ours = [
        importlib.import_module(f"aiokafka_lite.{each}".rstrip(".")) for each in STANDS_FOR[path]
    ]
    offered = set(getattr(theirs, "__all__", ())) - {"NO_EXTENSIONS"}
    assert not {name for name in offered if not any(hasattr(each, name) for each in ours)}


def test_the_version_is_that_of_the_aiokafka_that_the_tests_compare_with() -> None:
    assert importlib.metadata.version("aiokafka") == API_VERSION
