"""What has settings in the cluster: topics, brokers, groups, subscriptions of client metrics.

Each kind knows its settings, checks new ones and stores them. Does not wait.
Source: ConfigHelper, ConfigAdminManager, ConfigurationControlManager.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Protocol

from aiokafka_lite.checks.topic_name import check_topic_name
from aiokafka_lite.errors import InvalidRequestError, UnknownTopicOrPartitionError
from aiokafka_lite.testing.broker.state.broker_loggers import BrokerLoggers, check_levels
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.broker_settings import (
    ALL_BROKERS,
    default_of,
    is_list,
)
from aiokafka_lite.testing.broker.state.cluster_state import (
    BrokerNode,
    ClusterState,
    TopicState,
)
from aiokafka_lite.testing.broker.state.settings.client_metrics_settings import (
    CLIENT_METRICS_SETTINGS,
    check_client_metrics_settings,
)
from aiokafka_lite.testing.broker.state.settings.effects import (
    ACTING_BROKER_SETTINGS,
    ACTING_GROUP_SETTINGS,
    ACTING_TOPIC_SETTINGS,
    tell_stored,
)
from aiokafka_lite.testing.broker.state.settings.group_settings import (
    GROUP_SETTINGS,
    check_group_settings,
)
from aiokafka_lite.testing.broker.state.settings.setting import (
    DescribedSetting,
    Setting,
    SettingSource,
    SettingType,
    ValuePlace,
    described,
)
from aiokafka_lite.testing.broker.state.settings.topic_settings import (
    RETENTION_MS,
    TOPIC_SETTINGS,
    UNLIMITED,
)

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
"""Kinds of resources, by Kafka's numbers."""


class SettingsOwner(Protocol):
    """One thing with settings."""

    def current(self) -> Mapping[str, str]:
        """Return what was altered."""

    def describe(self) -> list[DescribedSetting]:
        """Return all settings."""

    def check(self, given: Mapping[str, str], changed: Collection[str]) -> None:
        """Raise a BrokerResponseError unless these may be its settings; `changed` are those that
        the request names."""

    def store(self, given: Mapping[str, str]) -> None:
        """Make these its settings."""

    def list_default(self, name: str, what: str) -> str | None:
        """Return the default of a list; None for a setting that is no list.

        `what` is done to the list, for an error about it.
        """


def resource_of(
    cluster: ClusterState, node: BrokerNode, kind: int, name: str, *, is_altered: bool = False
) -> SettingsOwner:
    """Return what has settings. `is_altered`: for a request that changes it, whose errors differ.

    Raises: InvalidRequestError for another broker, an empty name or an unknown kind;
    InvalidTopicError; UnknownTopicOrPartitionError.
    """
    if kind == TOPIC:
        topic = cluster.topic_by_name(_existing_topic(cluster, name, is_altered))
        return _TopicResource(cluster, node, topic)
    if kind == BROKER:
        return _BrokerResource(cluster, node, _own_broker(node, name, is_altered))
    if kind == GROUP:
        if not name:
            raise InvalidRequestError(
                "Default group resources are not allowed."
                if is_altered
                else "Group name must not be empty"
            )
        return _StoredResource(
            cluster.group_settings, name, GROUP_SETTINGS, SettingSource.GROUP_CONFIG,
            check_group_settings, cluster.note_change, cluster.options,
        )  # fmt: skip
    if kind == CLIENT_METRICS:
        if not name:
            raise InvalidRequestError(
                "Subscription name can't be empty"
                if is_altered
                else "Client metrics subscription name must not be empty"
            )
        return _StoredResource(
            cluster.client_metrics_settings, name, CLIENT_METRICS_SETTINGS,
            SettingSource.CLIENT_METRICS_CONFIG, check_client_metrics_settings,
            cluster.note_change,
        )  # fmt: skip
    if kind == BROKER_LOGGER:
        return _LoggerResource(cluster.loggers, _logging_broker(node, name, is_altered))
    raise InvalidRequestError(f"Unknown resource type {kind}")


def _existing_topic(cluster: ClusterState, name: str, is_altered: bool) -> str:
    if not name and is_altered:
        raise InvalidRequestError("Default topic resources are not allowed.")
    check_topic_name(name)
    if name not in cluster.topics:
        raise UnknownTopicOrPartitionError(f"The topic '{name}' does not exist.")
    return name


def _own_broker(node: BrokerNode, name: str, is_altered: bool) -> str:
    if name == ALL_BROKERS:
        return name
    if not name.isdecimal():
        what = "Node" if is_altered else "Broker"
        raise InvalidRequestError(f"{what} id must be an integer, but it is: {name}")
    if int(name) != node.node_id:
        other = "" if is_altered else " or empty string"
        raise InvalidRequestError(
            f"Unexpected broker id, expected {node.node_id}{other}, but received {name}"
        )
    return name


def _logging_broker(node: BrokerNode, name: str, is_altered: bool) -> int:
    what = "Node" if is_altered else "Broker"
    if not name and not is_altered:
        raise InvalidRequestError("Broker id must not be empty")
    if not name.isdecimal():
        raise InvalidRequestError(f"{what} id must be an integer, but it is: {name}")
    if int(name) != node.node_id:
        raise InvalidRequestError(
            f"Unexpected node id. Expected {node.node_id}, but received {name}"
            if is_altered
            else f"Unexpected broker id, expected {node.node_id} but received {name}"
        )
    return node.node_id


def own_values(node: BrokerNode) -> dict[str, str]:
    """Return the settings that each node has for itself."""
    rack = {} if node.rack is None else {"broker.rack": node.rack}
    return {"node.id": str(node.node_id), "broker.id": str(node.node_id), **rack}


def describe_topic(
    cluster: ClusterState, node: BrokerNode, topic: TopicState
) -> list[DescribedSetting]:
    """Return the settings of a topic, which may not be part of the cluster yet."""
    return _TopicResource(cluster, node, topic).describe()


class _TopicResource:
    def __init__(self, cluster: ClusterState, node: BrokerNode, topic: TopicState) -> None:
        self._cluster = cluster
        self._node = node
        self._topic = topic

    def current(self) -> Mapping[str, str]:
        return self._topic.config.settings

    def describe(self) -> list[DescribedSetting]:
        return [self._described(setting) for setting in TOPIC_SETTINGS.values()]

    def _described(self, setting: Setting) -> DescribedSetting:
        told = described(setting, self._places(setting))
        is_unlimited = setting.name == RETENTION_MS and int(told.value or 0) < UNLIMITED
        return replace(told, value=str(UNLIMITED)) if is_unlimited else told

    def _places(self, setting: Setting) -> list[ValuePlace]:
        places = []
        if setting.name in self.current():
            text = self.current()[setting.name]
            places.append(ValuePlace(setting.name, text, SettingSource.TOPIC_CONFIG))
        if setting.synonym is not None:
            own, broker = own_values(self._node), str(self._node.node_id)
            places += self._cluster.broker_settings.places(setting.synonym, own, broker)
        return places

    def check(self, given: Mapping[str, str], changed: Collection[str]) -> None:  # noqa: ARG002
        self._cluster.check_topic_settings(given)

    def store(self, given: Mapping[str, str]) -> None:
        tell_stored("topic", given, ACTING_TOPIC_SETTINGS)
        self._cluster.alter_topic(self._topic, given)
        self._cluster.note_change()

    def list_default(self, name: str, what: str) -> str | None:  # noqa: ARG002
        setting = TOPIC_SETTINGS.get(name)
        return setting.default if setting and setting.type is SettingType.LIST else None


class _BrokerResource:
    def __init__(self, cluster: ClusterState, node: BrokerNode, name: str) -> None:
        self._cluster = cluster
        self._node = node
        self._name = name

    def current(self) -> Mapping[str, str]:
        return self._cluster.broker_settings.altered.get(self._name, {})

    def describe(self) -> list[DescribedSetting]:
        if self._name == ALL_BROKERS:
            return self._cluster.broker_settings.describe_all()
        return self._cluster.broker_settings.describe(own_values(self._node), self._name)

    def check(self, given: Mapping[str, str], changed: Collection[str]) -> None:
        own = own_values(self._node)
        self._cluster.broker_settings.check(given, changed, own, self._name)

    def store(self, given: Mapping[str, str]) -> None:
        acting = ACTING_BROKER_SETTINGS
        if self._name == ALL_BROKERS:
            acting |= {str(TOPIC_SETTINGS[name].synonym) for name in ACTING_TOPIC_SETTINGS}
        tell_stored("broker", given, acting)
        _keep(self._cluster.broker_settings.altered, self._name, given)
        self._cluster.broker_settings_changed()
        self._cluster.note_change()

    def list_default(self, name: str, what: str) -> str | None:  # noqa: ARG002
        return default_of(name) if is_list(name) else None


class _LoggerResource:
    def __init__(self, loggers: BrokerLoggers, node_id: int) -> None:
        self._loggers = loggers
        self._node_id = node_id

    def current(self) -> Mapping[str, str]:
        return self._loggers.set_on(self._node_id)

    def describe(self) -> list[DescribedSetting]:
        source, kind = SettingSource.DYNAMIC_BROKER_LOGGER_CONFIG, SettingType.UNKNOWN
        levels = self._loggers.levels(self._node_id)
        return [DescribedSetting(name, level, source, kind, "") for name, level in levels.items()]

    def check(self, given: Mapping[str, str], changed: Collection[str]) -> None:
        check_levels(given, changed)

    def store(self, given: Mapping[str, str]) -> None:
        self._loggers.store(self._node_id, given)

    def list_default(self, name: str, what: str) -> str | None:  # noqa: ARG002
        raise InvalidRequestError(f"{what} operation is not allowed for the BROKER_LOGGER resource")


class _StoredResource:
    """A group, or a subscription of client metrics: its settings are stored and described."""

    def __init__(
        self,
        stored: dict[str, dict[str, str]],
        name: str,
        settings: Mapping[str, Setting],
        source: SettingSource,
        check: Callable[[Mapping[str, str]], object],
        note_change: Callable[[], object],
        options: BrokerOptions | None = None,
    ) -> None:
        """`options` of the brokers give the defaults, where they have one of that name."""
        self._stored = stored
        self._name = name
        self._settings = settings
        self._source = source
        self._check = check
        self._note_change = note_change
        self._options = options

    def current(self) -> Mapping[str, str]:
        return self._stored.get(self._name, {})

    def describe(self) -> list[DescribedSetting]:
        return [
            described(each, self._places(each))
            for each in self._settings.values()
            if not each.is_internal or each.name in self.current()
        ]

    def _places(self, setting: Setting) -> list[ValuePlace]:
        places = []
        if setting.name in self.current():
            places.append(ValuePlace(setting.name, self.current()[setting.name], self._source))
        if setting.synonym is not None:
            default = SettingSource.DEFAULT_CONFIG
            static = getattr(self._options, setting.synonym.replace(".", "_"), None)
            if static is not None and str(static) != setting.default:
                source = SettingSource.STATIC_BROKER_CONFIG
                places.append(ValuePlace(setting.synonym, str(static), source))
            places.append(ValuePlace(setting.synonym, setting.default, default))
        return places

    def check(self, given: Mapping[str, str], changed: Collection[str]) -> None:  # noqa: ARG002
        self._check(given)

    def store(self, given: Mapping[str, str]) -> None:
        if self._source is SettingSource.GROUP_CONFIG:
            tell_stored("group", given, ACTING_GROUP_SETTINGS)
        _keep(self._stored, self._name, given)
        self._note_change()

    def list_default(self, name: str, what: str) -> str | None:  # noqa: ARG002
        # Kafka appends to no list of client metrics, and to those of groups.
        setting = self._settings.get(name)
        is_list = setting is not None and setting.type is SettingType.LIST
        is_refused = self._source is SettingSource.CLIENT_METRICS_CONFIG
        return setting.default if setting is not None and is_list and not is_refused else None


def _keep(stored: dict[str, dict[str, str]], name: str, given: Mapping[str, str]) -> None:
    if given:
        stored[name] = dict(given)
    else:
        stored.pop(name, None)


__all__ = [
    "BROKER",
    "BROKER_LOGGER",
    "CLIENT_METRICS",
    "GROUP",
    "TOPIC",
    "SettingsOwner",
    "describe_topic",
    "own_values",
    "resource_of",
]
