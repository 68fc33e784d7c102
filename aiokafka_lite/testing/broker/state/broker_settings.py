"""The settings of a broker that the embedded one knows: its options, and the defaults of topics.

Does not wait. Source: AbstractKafkaConfig.java, DynamicBrokerConfig.java.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from aiokafka_lite.errors import InvalidConfigurationError, InvalidRequestError
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from aiokafka_lite.testing.broker.state.settings.dynamic_broker_settings import (
    CORDONED,
    DYNAMIC_BROKER_SETTINGS,
    NOT_DESCRIBED,
    OF_ONE_BROKER,
    check_threads,
)
from aiokafka_lite.testing.broker.state.settings.setting import (
    DescribedSetting,
    Setting,
    SettingSource,
    SettingType,
    ValuePlace,
    at_least,
    by_name,
    described,
)
from aiokafka_lite.testing.broker.state.settings.topic_settings import (
    RETENTION_MS,
    TOPIC_SETTINGS,
    UNLIMITED,
)

ALL_BROKERS: Final = ""
"""Kafka's name of the settings of all brokers."""
_MIN_IN_SYNC: Final = "min.insync.replicas"
"""A new cluster with eligible leader replicas (KIP-966) sets it for all brokers, and keeps it."""
_WITHOUT_DEFAULT: Final = {
    "log.retention.ms",
    "log.roll.ms",
    "log.roll.jitter.ms",
    "log.flush.interval.ms",
}
"""Their defaults are those of settings in other units, such as log.retention.hours."""


def _check_retention(name: str, value: int) -> None:
    """Refuse 0. Source: AbstractKafkaConfig.validateValues."""
    if not value:
        raise InvalidConfigurationError(
            f"requirement failed: {name} must be unlimited (-1) or, greater than or equal to 1"
        )


_DYNAMIC: Final[Mapping[str, Setting]] = by_name(
    *(
        Setting(
            each.synonym,
            each.type,
            None if each.synonym in _WITHOUT_DEFAULT else each.default,
            _check_retention if each.name == RETENTION_MS else each.check,
            each.documentation,
        )
        for each in TOPIC_SETTINGS.values()
        if each.synonym is not None
    ),
    *DYNAMIC_BROKER_SETTINGS.values(),
)
_FIXED: Final[Mapping[str, Setting]] = by_name(
    Setting("node.id", SettingType.INT, None, None, "Id of the node."),
    Setting("broker.id", SettingType.INT, "-1", None, "Id of the node."),
    Setting("broker.rack", SettingType.STRING, None, None, "Rack of the node."),
    Setting(
        "auto.create.topics.enable",
        SettingType.BOOLEAN,
        "true",
        None,
        "Whether a topic is created when a client asks for its metadata.",
    ),
    Setting("num.partitions", SettingType.INT, "1", at_least(1), "Partitions of a new topic."),
    Setting(
        "max.incremental.fetch.session.cache.slots",
        SettingType.INT,
        "1000",
        at_least(0),
        "Fetch sessions that a node keeps.",
    ),
    Setting(
        "group.initial.rebalance.delay.ms",
        SettingType.INT,
        "3000",
        None,
        "Milliseconds that a new group waits for more members.",
    ),
    Setting("group.max.size", SettingType.INT, "2147483647", at_least(1), "Members of a group."),
    Setting(
        "group.consumer.session.timeout.ms",
        SettingType.INT,
        "45000",
        at_least(1),
        "Session timeout of a consumer group.",
    ),
    Setting(
        "group.consumer.heartbeat.interval.ms",
        SettingType.INT,
        "5000",
        at_least(1),
        "Heartbeat interval of a consumer group.",
    ),
    Setting(
        "group.consumer.max.size",
        SettingType.INT,
        "2147483647",
        at_least(1),
        "Members of a consumer group.",
    ),
    Setting(
        "group.consumer.assignors",
        SettingType.LIST,
        "uniform,range",
        None,
        "The assignors of consumer groups.",
    ),
    Setting(
        "group.consumer.migration.policy",
        SettingType.STRING,
        "bidirectional",
        None,
        "Which groups with members may change their protocol.",
    ),
    Setting(
        "group.min.session.timeout.ms",
        SettingType.INT,
        "6000",
        None,
        "Shortest session timeout of a member.",
    ),
    Setting(
        "group.max.session.timeout.ms",
        SettingType.INT,
        "1800000",
        None,
        "Longest session timeout of a member.",
    ),
    Setting(
        "transaction.max.timeout.ms",
        SettingType.INT,
        "900000",
        at_least(1),
        "Longest timeout of a transaction.",
    ),
    Setting("group.share.max.size", SettingType.INT, "200", at_least(1), "Members of a group."),
    Setting("log.retention.hours", SettingType.INT, "168", None, "Hours that records are kept."),
)


class BrokerSettings:
    """The settings of all brokers of a cluster, and what was altered."""

    def __init__(self, options: BrokerOptions) -> None:
        self.altered: dict[str, dict[str, str]] = {ALL_BROKERS: {_MIN_IN_SYNC: "1"}}
        """Id of a broker as text -> its altered settings; "" stands for all brokers."""
        self._static = _static_values(options)
        self._log_dirs = tuple(options.log_dirs)

    def of_all(self, name: str) -> Any:
        """Return the value of a setting that all brokers have: the altered one, or the default."""
        setting = _DYNAMIC[name]
        return setting.parse(self.altered.get(ALL_BROKERS, {}).get(name, setting.default or ""))

    def topic_defaults(self) -> dict[str, Any]:
        """Return the values altered for all brokers that are defaults of topics, by their names."""
        altered = self.altered.get(ALL_BROKERS, {})
        values = {
            each.name: self.of_all(each.synonym)
            for each in TOPIC_SETTINGS.values()
            if each.synonym in altered
        }
        if RETENTION_MS in values:
            values[RETENTION_MS] = max(values[RETENTION_MS], UNLIMITED)
        return values

    def places(self, name: str, own: Mapping[str, str], broker: str) -> list[ValuePlace]:
        """Return where the value of a broker's setting is looked for, the first place first.

        `own` are the values that each node has for itself, such as its id.
        """
        found = [
            ValuePlace(name, self.altered[owner][name], source)
            for owner, source in (
                (broker, SettingSource.DYNAMIC_BROKER_CONFIG),
                (ALL_BROKERS, SettingSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            )
            if name in self.altered.get(owner, {})
        ]
        static = own.get(name, self._static.get(name))
        default = (_DYNAMIC.get(name) or _FIXED[name]).default
        if static is not None and static != default:
            found.append(ValuePlace(name, static, SettingSource.STATIC_BROKER_CONFIG))
        if default is not None:
            found.append(ValuePlace(name, default, SettingSource.DEFAULT_CONFIG))
        if name == "log.retention.ms" and found:  # as Kafka does: only after another place
            found += self.places("log.retention.hours", own, broker)
        return found

    def check(
        self,
        given: Mapping[str, str],
        changed: Collection[str],
        own: Mapping[str, str],
        broker: str,
    ) -> None:
        """Check the settings of a broker or of all. An unknown name is stored, as by Kafka.

        Raises: InvalidRequestError; InvalidConfigurationError without what cannot be removed.
        Source: DynamicBrokerConfig.validate.
        """
        if broker == ALL_BROKERS and _MIN_IN_SYNC not in given:
            raise InvalidConfigurationError(
                f"Cluster-level {_MIN_IN_SYNC} cannot be removed while ELR is enabled."
            )
        _check_names(changed, given, broker)
        for name, text in given.items():
            if name not in _DYNAMIC:
                continue
            value = _parsed(name, text)
            if name in changed and isinstance(value, int):
                places = self.places(name, own, own["node.id"])
                if places and places[0].value is not None:
                    check_threads(name, value, _parsed(name, places[0].value))
            if name == CORDONED:
                self._check_log_dirs(value)

    def _check_log_dirs(self, paths: list[str]) -> None:
        absent = [path for path in paths if path != "*" and path not in self._log_dirs]
        if absent:
            raise InvalidRequestError(
                f"requirement failed: All entries in {CORDONED} must be present in log.dirs or "
                f"log.dir. Missing entries : {', '.join(absent)}"
            )

    def cordoned(self, node_id: int) -> set[str]:
        """Return the log directories of a node that get no new replicas; "*" stands for all."""
        text = self.altered.get(str(node_id), {}).get(CORDONED, "")
        return set(_DYNAMIC[CORDONED].parse(text))

    def describe(self, own: Mapping[str, str], broker: str) -> list[DescribedSetting]:
        """Return the settings of one broker."""
        known = [
            described(setting, self.places(setting.name, own, broker))
            for setting in (*_FIXED.values(), *_DYNAMIC.values())
            if setting.name not in NOT_DESCRIBED or self.places(setting.name, own, broker)
        ]
        sources = {
            **dict.fromkeys(
                self.altered.get(ALL_BROKERS, {}), SettingSource.DYNAMIC_DEFAULT_BROKER_CONFIG
            ),
            **dict.fromkeys(self.altered.get(broker, {}), SettingSource.DYNAMIC_BROKER_CONFIG),
        }
        unknown = [_unknown(*each) for each in sources.items() if each[0] not in _DYNAMIC]
        return [*(_read_only(each) for each in known), *unknown]

    def describe_all(self) -> list[DescribedSetting]:
        """Return what was altered for all brokers."""
        source = SettingSource.DYNAMIC_DEFAULT_BROKER_CONFIG
        return [
            described(_DYNAMIC[name], [ValuePlace(name, value, source)])
            if name in _DYNAMIC
            else _unknown(name, source)
            for name, value in self.altered.get(ALL_BROKERS, {}).items()
        ]


def _unknown(name: str, source: SettingSource) -> DescribedSetting:
    return DescribedSetting(
        name,
        None,
        source,
        SettingType.UNKNOWN,
        None,
        (ValuePlace(name, None, source),),
        is_read_only=True,
        is_sensitive=True,  # as Kafka hides what it does not know
    )


def _check_names(changed: Iterable[str], given: Collection[str], broker: str) -> None:
    fixed = [name for name in sorted(changed) if name in _FIXED and name in given]
    if fixed:
        raise InvalidRequestError(f"Cannot update these configs dynamically: [{', '.join(fixed)}]")
    single = [name for name in sorted(given) if name in OF_ONE_BROKER]
    if single and broker == ALL_BROKERS:
        raise InvalidRequestError(
            "Cannot update these configs at default cluster level, broker id must be specified: "
            f"[{', '.join(single)}]"
        )


def _parsed(name: str, text: str) -> Any:
    try:
        return _DYNAMIC[name].parse(text)
    except InvalidConfigurationError as error:
        raise InvalidRequestError(str(error.args[0])) from None


def is_list(name: str) -> bool:
    """Return whether a broker's setting is a list."""
    return name in _DYNAMIC and _DYNAMIC[name].type is SettingType.LIST


def default_of(name: str) -> str | None:
    """Return the default of a broker's setting that can be altered."""
    return _DYNAMIC[name].default if name in _DYNAMIC else None


def _read_only(told: DescribedSetting) -> DescribedSetting:
    if told.name not in _FIXED:
        return told
    return DescribedSetting(
        told.name,
        told.value,
        told.source,
        told.type,
        told.documentation,
        told.places,
        is_read_only=True,
    )


def _static_values(options: BrokerOptions) -> dict[str, str]:
    return {
        "auto.create.topics.enable": str(options.auto_create_topics).lower(),
        "num.partitions": str(options.num_partitions),
        "message.max.bytes": str(options.max_message_bytes),
        "log.retention.bytes": str(options.log_retention_bytes),
        "max.incremental.fetch.session.cache.slots": str(options.fetch_session_slots),
        "group.initial.rebalance.delay.ms": str(options.group_initial_rebalance_delay_ms),
        "group.max.size": str(options.group_max_size),
        "group.consumer.session.timeout.ms": str(options.group_consumer_session_timeout_ms),
        "group.consumer.heartbeat.interval.ms": str(options.group_consumer_heartbeat_interval_ms),
        "group.consumer.max.size": str(options.group_consumer_max_size),
        "group.consumer.assignors": ",".join(options.group_consumer_assignors),
        "group.consumer.migration.policy": options.group_consumer_migration_policy,
        "group.min.session.timeout.ms": str(options.group_min_session_timeout_ms),
        "group.max.session.timeout.ms": str(options.group_max_session_timeout_ms),
        "group.share.max.size": str(options.group_share_max_size),
        "transaction.max.timeout.ms": str(options.transaction_max_timeout_ms),
    }


__all__ = ["ALL_BROKERS", "BrokerSettings", "default_of", "is_list"]
