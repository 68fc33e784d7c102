"""The list of modules names modules of aiokafka, and modules that exist."""

import importlib
import importlib.metadata

import pytest

from aiokafka_lite.compat.inside_table import module_paths
from aiokafka_lite.compat.installation import found
from aiokafka_lite.compat.module_names import API_VERSION, CLIENTS, STANDS_FOR


@pytest.mark.parametrize("path", STANDS_FOR)
def test_each_module_exists_on_both_sides(path: str) -> None:
    """What a module of aiokafka offers, the modules that stand for it have (`test_inside`)."""
    assert path in module_paths()
    for each in STANDS_FOR[path]:
        importlib.import_module(f"aiokafka_lite.{each}".rstrip("."))


def test_each_client_is_where_the_list_says() -> None:
    for name, path in CLIENTS.items():
        assert hasattr(importlib.import_module(f"aiokafka_lite.{path}"), name)


def test_a_request_of_this_package_does_not_stand_for_one_of_aiokafka() -> None:
    """Its client module has a MetadataRequest, too, with other fields."""
    for path, name in (("client", "MetadataRequest"), ("admin.client", "Response")):
        home = getattr(importlib.import_module(f"aiokafka.{path}"), name).__module__
        assert found(path, name) is found(home.partition(".")[2], name)


def test_the_version_is_that_of_the_aiokafka_that_the_tests_compare_with() -> None:
    assert importlib.metadata.version("aiokafka") == API_VERSION
