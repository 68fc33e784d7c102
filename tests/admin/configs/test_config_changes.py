"""What a call asks for, and what it refuses before anything is sent."""

import re
from typing import Any

import pytest

from aiokafka_lite.admin import AlterConfigOp, ConfigResource
from aiokafka_lite.admin.configs.config_changes import (
    check_each_once,
    node_of,
    replacement,
    single_changes,
    subject_of,
)
from aiokafka_lite.errors import IllegalArgumentError


@pytest.mark.parametrize(
    ("kind", "name", "node_id"),
    [
        ("BROKER", "7", 7),
        ("BROKER_LOGGER", "7", 7),
        ("BROKER", "", None),
        ("BROKER", "seven", None),
        ("TOPIC", "7", None),
    ],
)
def test_only_a_broker_has_to_be_asked_itself(kind: str, name: str, node_id: int | None) -> None:
    assert node_of(ConfigResource(kind, name)) == node_id


def test_values_become_text() -> None:
    resource = ConfigResource(
        "TOPIC", "t", {"a": True, "b": 7, "c": 0.5, "d": ["x", "y"], "e": "z"}
    )
    wanted = {each.name: each.value for each in replacement(resource).configs}
    assert wanted == {"a": "true", "b": "7", "c": "0.5", "d": "x,y", "e": "z"}


def test_a_change_names_what_is_done() -> None:
    resource = ConfigResource(
        "TOPIC", "t", {"a": (AlterConfigOp.DELETE, "kept?"), "b": (2, "x"), "c": "1"}
    )
    changes = [
        (each.name, each.config_operation, each.value) for each in single_changes(resource).configs
    ]
    assert changes == [("a", 1, None), ("b", 2, "x"), ("c", 0, "1")]


@pytest.mark.parametrize(
    ("configs", "text"),
    [
        (None, "configs=None of topic 't' has no values"),
        (["a"], "has no values"),
        ({"a": (9, "1")}, "a=9 of topic 't' is no AlterConfigOp; name one of SET, DELETE"),
        ({"a": None}, "a=None of topic 't' is no value of a setting"),
        ({"a": (0, object)}, "is no value of a setting"),
    ],
)
def test_what_is_no_change_is_refused(configs: Any, text: str) -> None:
    with pytest.raises(IllegalArgumentError, match=re.escape(text)):
        single_changes(ConfigResource("TOPIC", "t", configs))


def test_a_resource_is_named_once_and_is_one() -> None:
    with pytest.raises(IllegalArgumentError, match="client metrics 'm' is named twice"):
        check_each_once([ConfigResource("CLIENT_METRICS", "m"), ConfigResource(16, "m")])
    with pytest.raises(IllegalArgumentError, match="'t', which is no ConfigResource"):
        check_each_once(["t"])  # type: ignore[list-item]
    assert subject_of(ConfigResource("BROKER_LOGGER", "1")) == "broker logger '1'"
