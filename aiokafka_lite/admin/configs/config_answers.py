"""The answers of `describe_configs` and `alter_configs`, in aiokafka's rows. Does not wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from aiokafka_lite.admin.calls.outcomes import Outcomes
from aiokafka_lite.admin.calls.raw_answer import RawAnswer, code_and_text
from aiokafka_lite.admin.config_resource import ConfigResource
from aiokafka_lite.admin.configs.config_changes import node_of
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.protocol.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)

V = TypeVar("V")


class ConfigSynonymRow(NamedTuple):
    """A place that gives a value to a setting."""

    config_name: str
    config_value: str | None
    config_source: int


class ConfigRow(NamedTuple):
    """One setting; `config_names` is its one name, as aiokafka calls it."""

    config_names: str
    config_value: str | None
    read_only: bool
    config_source: int
    is_sensitive: bool
    config_synonyms: list[ConfigSynonymRow]


class DescribedResource(NamedTuple):
    """The settings of one resource."""

    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str
    config_entries: list[ConfigRow]


class AlteredResource(NamedTuple):
    """The result of one resource."""

    error_code: int
    error_message: str | None
    resource_type: int
    resource_name: str


@dataclass(frozen=True)
class DescribeConfigsAnswer(RawAnswer):
    """The settings of a broker, or of all that is no broker."""

    resources: list[DescribedResource]
    """One row for each resource, also for those with an error."""


@dataclass(frozen=True)
class AlterConfigsAnswer(RawAnswer):
    """What `alter_configs` did to a broker, or to all that is no broker."""

    resources: list[AlteredResource]
    """One row for each resource, also for those without an error (error_code 0)."""

    configs: Outcomes[ConfigResource, None]
    """The same by resource, with exceptions."""


def described_answers(
    outcomes: Outcomes[ConfigResource, DescribeConfigsResult],
) -> list[DescribeConfigsAnswer]:
    """Return one answer for each broker, then one for the other resources, if there are any."""
    parts = _by_node(outcomes)
    others = parts.pop(None)
    return [
        DescribeConfigsAnswer(0, [_described(key, told) for key, told in part.items()])
        for part in (*parts.values(), *([others] if others else []))
    ]


def altered_answers(outcomes: Outcomes[ConfigResource, None]) -> list[AlterConfigsAnswer]:
    """Return one answer for what is no broker, also if it is empty, then one for each broker."""
    return [
        AlterConfigsAnswer(
            0,
            [
                AlteredResource(*code_and_text(told), key.resource_type, key.name)
                for key, told in part.items()
            ],
            part,
        )
        for part in _by_node(outcomes).values()
    ]


def _by_node(
    outcomes: Outcomes[ConfigResource, V],
) -> dict[int | None, Outcomes[ConfigResource, V]]:
    parts: dict[int | None, Outcomes[ConfigResource, V]] = {None: Outcomes()}
    for key, told in outcomes.items():
        parts.setdefault(node_of(key), Outcomes())[key] = told
    return parts


def _described(key: ConfigResource, told: DescribeConfigsResult | KafkaError) -> DescribedResource:
    entries = [] if isinstance(told, KafkaError) else list(_rows(told.configs))
    return DescribedResource(*code_and_text(told), key.resource_type, key.name, entries)


def _rows(configs: list[DescribeConfigsResourceResult]) -> Iterator[ConfigRow]:
    for each in configs:
        synonyms = [
            ConfigSynonymRow(other.name, other.value, other.source) for other in each.synonyms
        ]
        yield ConfigRow(
            each.name, each.value, each.read_only, each.config_source, each.is_sensitive, synonyms
        )


__all__ = [
    "AlterConfigsAnswer",
    "AlteredResource",
    "ConfigRow",
    "ConfigSynonymRow",
    "DescribeConfigsAnswer",
    "DescribedResource",
    "altered_answers",
    "described_answers",
]
