"""Outcomes become aiokafka's answers: brokers apart from all others."""

from aiokafka_lite.admin import ConfigResource, Outcomes
from aiokafka_lite.admin.configs.config_answers import altered_answers, described_answers
from aiokafka_lite.errors import BrokerNotAvailableError, KafkaTimeoutError
from aiokafka_lite.protocol.messages.describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResult,
)

TOPIC, BROKER = ConfigResource("TOPIC", "t"), ConfigResource("BROKER", "1")


def test_descriptions_of_brokers_come_first() -> None:
    entry = DescribeConfigsResourceResult(name="a", value="1", documentation=None)
    told = DescribeConfigsResult(error_message=None, configs=[entry])
    first, second = described_answers(Outcomes({TOPIC: told, BROKER: KafkaTimeoutError("late")}))
    assert first.resources == [(-1, "KafkaTimeoutError: late", 4, "1", [])]
    assert second.resources == [(0, None, 2, "t", [("a", "1", False, -1, False, [])])]
    assert described_answers(Outcomes()) == []


def test_alterations_of_brokers_come_last() -> None:
    error = BrokerNotAvailableError("gone")
    first, second = altered_answers(Outcomes({BROKER: error, TOPIC: None}))
    assert (first.resources, first.configs) == ([(0, None, 2, "t")], {TOPIC: None})
    assert (second.resources, second.configs) == ([(8, "gone", 4, "1")], {BROKER: error})
    assert [answer.resources for answer in altered_answers(Outcomes())] == [[]]
