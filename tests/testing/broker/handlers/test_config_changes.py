"""What AlterConfigs and IncrementalAlterConfigs do alike for each resource."""

from types import ModuleType
from typing import Any

import pytest

from aiokafka_lite.errors import (
    InvalidRequestError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages import alter_configs as replacing
from aiokafka_lite.protocol.messages import incremental_alter_configs as changing
from aiokafka_lite.testing.broker.handler import Handler
from aiokafka_lite.testing.broker.handlers import alter_configs, incremental_alter_configs
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION, Session
from tests.testing.broker.bench import Bench

TOPIC = 2
BOTH = pytest.mark.parametrize(
    ("messages", "handler"),
    [(replacing, alter_configs.HANDLER), (changing, incremental_alter_configs.HANDLER)],
    ids=["replacing", "changing"],
)


def ask(
    bench: Bench,
    messages: ModuleType,
    handler: Handler,
    *topics: str,
    session: Session = OPEN_SESSION,
) -> list[tuple[str, int]]:
    """Set retention.ms of topics; return each topic with its error code."""
    version = handler.versions.max
    configs = [messages.AlterableConfig(name="retention.ms", value="7")]
    resources = [
        messages.AlterConfigsResource(resource_type=TOPIC, resource_name=name, configs=configs)
        for name in topics
    ]
    request_type: Any = handler.request_type
    answer = bench.ask(handler, request_type(resources=resources), version, session=session)
    return [(each.resource_name, each.error_code) for each in answer.responses]


@BOTH
def test_a_resource_that_fails_leaves_the_others(messages: ModuleType, handler: Handler) -> None:
    bench = Bench()
    known = bench.topic("t")
    missing = UnknownTopicOrPartitionError.errno
    assert ask(bench, messages, handler, "missing", "t") == [("missing", missing), ("t", 0)]
    assert known.config.settings == {"retention.ms": "7"}


@BOTH
def test_a_resource_that_stands_twice_is_refused(messages: ModuleType, handler: Handler) -> None:
    bench = Bench()
    twice, once = bench.topic("twice"), bench.topic("once")
    refused = ("twice", InvalidRequestError.errno)
    assert ask(bench, messages, handler, "twice", "once", "twice") == [
        refused,
        ("once", 0),
        refused,
    ]
    assert (twice.config.settings, once.config.settings) == ({}, {"retention.ms": "7"})


@BOTH
def test_each_resource_needs_its_right(messages: ModuleType, handler: Handler) -> None:
    bench = Bench()
    mine, theirs = bench.topic("mine"), bench.topic("theirs")
    acls = [Acl.allow("me", "ALTER_CONFIGS", topic="mine")]
    session = Session("User:me", authorizer=Authorizer(acls, (), allows_without_acl=False))
    assert ask(bench, messages, handler, "theirs", "mine", session=session) == [
        ("theirs", TopicAuthorizationFailedError.errno),
        ("mine", 0),
    ]
    assert (mine.config.settings, theirs.config.settings) == ({"retention.ms": "7"}, {})
