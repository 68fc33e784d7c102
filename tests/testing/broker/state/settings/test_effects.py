"""What comes of a setting: the table of the guide, and what it says."""

import logging
from typing import Any

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.settings import effects
from aiokafka_lite.testing.broker.state.settings.effects import (
    ACTING_BROKER_SETTINGS,
    ACTING_GROUP_SETTINGS,
    ACTING_TOPIC_SETTINGS,
)
from aiokafka_lite.testing.broker.state.settings.group_settings import GROUP_SETTINGS
from aiokafka_lite.testing.broker.state.settings.topic_settings import TOPIC_SETTINGS
from aiokafka_lite.testing.broker.state.topic_config import parse_topic_config
from tests.support.documents import ROOT
from tools import settings_table

OTHER = {
    "cleanup.policy": "compact",
    "compression.type": "zstd",
    "message.timestamp.type": "LogAppendTime",
    "errors.deadletterqueue.group.enable": "true",
    "min.cleanable.dirty.ratio": "0.7",
    "unclean.leader.election.enable": "true",
    "preallocate": "true",
    "remote.storage.enable": "false",
    "remote.log.copy.disable": "true",
    "remote.log.delete.on.disable": "true",
    "leader.replication.throttled.replicas": "*",
    "follower.replication.throttled.replicas": "*",
    "segment.bytes": "2000000",
    "local.retention.ms": "7",
    "local.retention.bytes": "7",
}
"""Values that are not the default; 7 for all other settings."""


def parsed(**settings: str) -> Any:
    config = parse_topic_config(settings, max_message_bytes=1000, log_retention_bytes=1000)
    return {name: getattr(config, name) for name in config.__slots__ if name != "settings"}


@pytest.mark.parametrize("name", sorted(TOPIC_SETTINGS))
def test_a_setting_of_topics_acts_if_the_broker_reads_it(name: str) -> None:
    codec = name.split(".")[1] if name.startswith("compression.") else "type"
    base = {} if codec == "type" else {"compression.type": codec}
    changed = parsed(**base, **{name: OTHER.get(name, "7")}) != parsed(**base)
    assert changed == (name in ACTING_TOPIC_SETTINGS)


def test_the_table_of_the_guide_is_made_of_the_code() -> None:
    page = (ROOT / settings_table.PAGE).read_text(encoding="utf-8")
    assert page == settings_table.page(ROOT), "run `make options`"
    for name in (*TOPIC_SETTINGS, *GROUP_SETTINGS, *ACTING_BROKER_SETTINGS):
        assert f"`{name}`" in page
    assert GROUP_SETTINGS.keys() >= ACTING_GROUP_SETTINGS


def test_a_setting_that_does_nothing_says_so_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effects, "_told", set())
    broker = EmbeddedBroker()
    with caplog.at_level(logging.WARNING):
        for name in ("t", "u"):
            broker.create_topic(name, configs={"flush.ms": 5, "retention.ms": 5})
    assert [record.getMessage().split(" is ")[0] for record in caplog.records] == [
        "the setting flush.ms of a topic"
    ]
