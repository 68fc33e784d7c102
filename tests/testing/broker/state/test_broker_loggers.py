"""Levels of loggers: set, followed, and refused."""

import pytest

from aiokafka_lite.errors import InvalidConfigurationError, InvalidRequestError
from aiokafka_lite.testing.broker.state.broker_loggers import BrokerLoggers, check_levels


def test_a_logger_without_a_level_follows_the_root() -> None:
    loggers = BrokerLoggers()
    assert loggers.levels(1) == {"root": "INFO", "kafka": "INFO", "org.apache.kafka": "INFO"}
    loggers.store(1, {"root": "WARN", "kafka": "TRACE"})
    assert loggers.levels(1) == {"root": "WARN", "kafka": "TRACE", "org.apache.kafka": "WARN"}
    assert loggers.levels(2)["root"] == "INFO"


def test_what_is_refused() -> None:
    check_levels({"root": "WARN", "kafka": "FATAL"}, ["kafka"])
    check_levels({"root": "WARN"}, ["kafka"])
    for given, name in (({"nothing": "INFO"}, "nothing"), ({"kafka": "info"}, "kafka")):
        with pytest.raises(InvalidConfigurationError, match=name):
            check_levels(given, [name])
    with pytest.raises(InvalidRequestError, match="root logger is not allowed"):
        check_levels({}, ["root"])
