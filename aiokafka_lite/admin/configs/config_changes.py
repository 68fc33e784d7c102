"""What a call about configurations asks for: the node, and the changes in Kafka's form.

Does not wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aiokafka_lite.admin.config_resource import AlterConfigOp, ConfigResource, ConfigResourceType
from aiokafka_lite.checks.item_lists import list_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.setting_text import setting_text
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.protocol.messages import alter_configs as replacing
from aiokafka_lite.protocol.messages import incremental_alter_configs as incremental

_OF_ONE_BROKER = (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER)


def node_of(resource: ConfigResource) -> int | None:
    """Return the broker that has to be asked; None: any node answers."""
    if resource.resource_type in _OF_ONE_BROKER and resource.name.isdecimal():
        return int(resource.name)
    return None


def subject_of(resource: ConfigResource) -> str:
    """Return the resource in words, such as "topic 'orders'"."""
    return f"{resource.resource_type.name.lower().replace('_', ' ')} {quoted(resource.name)}"


def check_each_once(resources: Iterable[ConfigResource]) -> list[ConfigResource]:
    """Return the resources. Raises: IllegalArgumentError if one is named twice, and for
    anything but a list of them."""
    seen: set[ConfigResource] = set()
    listed = list_of("config_resources", resources, ConfigResource)
    for resource in listed:
        if resource in seen:
            raise IllegalArgumentError(
                f"{subject_of(resource)} is named twice; put its settings into one ConfigResource"
            )
        seen.add(resource)
    return listed


def replacement(resource: ConfigResource) -> replacing.AlterConfigsResource:
    """Return the settings that shall replace those of `resource`.

    Raises: IllegalArgumentError unless its configs are {name: value}.
    """
    return replacing.AlterConfigsResource(
        resource_type=resource.resource_type,
        resource_name=resource.name,
        configs=[
            replacing.AlterableConfig(
                name=name, value=setting_text(name, value, subject_of(resource))
            )
            for name, value in _entries(resource)
        ],
    )


def single_changes(resource: ConfigResource) -> incremental.AlterConfigsResource:
    """Return the changes of single settings of `resource`.

    Raises: IllegalArgumentError unless its configs are {name: (AlterConfigOp, value)} or {name:
    value}.
    """
    return incremental.AlterConfigsResource(
        resource_type=resource.resource_type,
        resource_name=resource.name,
        configs=[_single_change(resource, name, value) for name, value in _entries(resource)],
    )


def _single_change(
    resource: ConfigResource, name: str, change: object
) -> incremental.AlterableConfig:
    operation: Any = AlterConfigOp.SET
    if isinstance(change, tuple) and len(change) == 2:
        operation, change = change
    try:
        operation = AlterConfigOp(operation)
    except ValueError:
        raise IllegalArgumentError(
            f"{name}={quoted(operation)} of {subject_of(resource)} is no AlterConfigOp; name one "
            f"of {', '.join(each.name for each in AlterConfigOp)}"
        ) from None
    is_delete = operation is AlterConfigOp.DELETE
    return incremental.AlterableConfig(
        name=name,
        config_operation=operation,
        value=None if is_delete else setting_text(name, change, subject_of(resource)),
    )


def _entries(resource: ConfigResource) -> Iterator[tuple[str, Any]]:
    if not isinstance(resource.configs, Mapping):
        raise IllegalArgumentError(
            f"configs={quoted(resource.configs)} of {subject_of(resource)} has no values; name "
            "them as {name: value}"
        )
    yield from resource.configs.items()


def asked_names(resource: ConfigResource) -> list[str] | None:
    """Return the settings that `configs` chooses for a description; None: all.

    Raises: IllegalArgumentError for anything but names.
    """
    if not resource.configs:
        return None
    return list_of(f"configs of {subject_of(resource)}", resource.configs, str)


__all__ = [
    "asked_names",
    "check_each_once",
    "node_of",
    "replacement",
    "single_changes",
    "subject_of",
]
