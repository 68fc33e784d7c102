"""Settings of a broker that can be altered while it runs and are no default of a topic's setting.

They are checked, stored and described. Does not wait. Source: DynamicBrokerConfig.java,
DynamicThreadPool.java, SocketServerConfigs.java, ServerLogConfigs.java, CleanerConfig.java.
"""

from collections.abc import Mapping
from typing import Final

from aiokafka_lite.errors import InvalidRequestError
from aiokafka_lite.testing.broker.state.settings.setting import (
    Check,
    Setting,
    SettingType,
    at_least,
    by_name,
)

CORDONED: Final = "cordoned.log.dirs"
DEAD_LETTER_PREFIX: Final = "errors.deadletterqueue.topic.name.prefix"
CREATE_DEAD_LETTERS: Final = "errors.deadletterqueue.auto.create.topics.enable"
OF_ONE_BROKER: Final = (CORDONED, "listeners", "sasl.jaas.config")
"""What cannot be altered for all brokers at once."""
_CLEANER_THREADS: Final = "log.cleaner.threads"
_THREADS: Final[Mapping[str, str]] = {
    "num.io.threads": "8",
    "num.network.threads": "3",
    "num.recovery.threads.per.data.dir": "2",
    "background.threads": "10",
}


def _int(name: str, default: str, check: Check | None, documentation: str) -> Setting:
    return Setting(name, SettingType.INT, default, check, documentation)


def _rate(name: str) -> Setting:
    return Setting(name, SettingType.LONG, None, at_least(0), "Bytes of replication a second.")


DYNAMIC_BROKER_SETTINGS: Final = by_name(
    *(_int(name, count, at_least(1), "Threads of a pool.") for name, count in _THREADS.items()),
    _int(_CLEANER_THREADS, "1", at_least(0), "Threads that clean logs."),
    Setting(
        "log.cleaner.backoff.ms",
        SettingType.LONG,
        "15000",
        at_least(0),
        "Milliseconds that cleaning waits when there is nothing to clean.",
    ),
    Setting(
        "log.cleaner.io.buffer.load.factor",
        SettingType.DOUBLE,
        "0.9",
        None,
        "How full the buffer of cleaning may become.",
    ),
    _int("max.connections", "2147483647", at_least(0), "Connections of a broker."),
    _int("max.connections.per.ip", "2147483647", at_least(0), "Connections of an address."),
    _int("max.connection.creation.rate", "2147483647", at_least(0), "New connections a second."),
    _int(
        "producer.id.expiration.ms",
        "86400000",
        at_least(1),
        "Milliseconds after which a producer that writes nothing is forgotten.",
    ),
    Setting(
        "transaction.partition.verification.enable",
        SettingType.BOOLEAN,
        "true",
        None,
        "Whether a write in a transaction needs a partition that the coordinator knows.",
    ),
    Setting(
        DEAD_LETTER_PREFIX,
        SettingType.STRING,
        "dlq.",
        None,
        "How the name of a topic for dead letters of share groups begins.",
    ),
    Setting(
        CREATE_DEAD_LETTERS,
        SettingType.BOOLEAN,
        "false",
        None,
        "Whether a topic for dead letters is created when there is none.",
    ),
    Setting(CORDONED, SettingType.LIST, "", None, "Log directories that get no new replicas."),
    *(
        _rate(name)
        for name in (
            "leader.replication.throttled.rate",
            "follower.replication.throttled.rate",
            "replica.alter.log.dirs.io.max.bytes.per.second",
        )
    ),
)
NOT_DESCRIBED: Final = frozenset(
    name for name, setting in DYNAMIC_BROKER_SETTINGS.items() if setting.default is None
)
"""Kafka describes these only where they were altered."""


def check_threads(name: str, value: int, present: int) -> None:
    """Check that a number of threads is at most doubled or halved by one change.

    Raises: InvalidRequestError in Kafka's words.
    """
    if name not in _THREADS and name != _CLEANER_THREADS:
        return
    if name == _CLEANER_THREADS:
        what, few, many = (
            "Log cleaner threads",
            "cannot be reduced to less than half",
            "cannot be increased to more than double",
        )
    else:
        what, few, many = (
            f"Dynamic thread count update validation failed for {name}={value},",
            "value should be at least half",
            "value should not be greater than double",
        )
    if present // 2 <= value <= present * 2:
        return
    raise InvalidRequestError(
        "Invalid value org.apache.kafka.common.config.ConfigException: "
        f"{what} {few if value < present else many} the current value {present} for "
        "configuration Invalid dynamic configuration"
    )


__all__ = [
    "CORDONED",
    "CREATE_DEAD_LETTERS",
    "DEAD_LETTER_PREFIX",
    "DYNAMIC_BROKER_SETTINGS",
    "NOT_DESCRIBED",
    "OF_ONE_BROKER",
    "check_threads",
]
