"""Settings of groups: their defaults are good, and brokers limit them."""

import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import ConfigResource, ConfigResourceType, ConfigSource
from aiokafka_lite.errors import InvalidConfigurationError
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.settings.group_settings import (
    GROUP_SETTINGS,
    check_group_settings,
)


def test_every_default_is_a_good_value() -> None:
    check_group_settings({name: each.default or "" for name, each in GROUP_SETTINGS.items()})


@pytest.mark.parametrize(
    "reset", ["earliest", "latest", "by_duration:P1DT2H", "by_duration:PT0.5S"]
)
def test_where_a_share_group_begins(reset: str) -> None:
    check_group_settings({"share.auto.offset.reset": reset})


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("consumer.session.timeout.ms", "1", "must be in the range 45000 to 60000 inclusive"),
        ("share.delivery.count.limit", "11", "must be in the range 2 to 10 inclusive"),
        ("streams.num.standby.replicas", "3", "must be less than or equal to 2"),
        ("share.auto.offset.reset", "by_duration:P", "must be either 'earliest', 'latest'"),
        ("share.assignor.offload.enable", "x", "Expected value to be either true or false"),
        ("streams.task.offset.interval.ms", "0", "Value must be at least 1"),
        ("nothing", "1", "Unknown group config name: nothing"),
    ],
)
def test_what_is_refused(name: str, value: str, text: str) -> None:
    with pytest.raises(InvalidConfigurationError, match=text):
        check_group_settings({name: value})


async def test_an_internal_setting_is_described_once_it_is_altered() -> None:
    """As on Kafka 4.4, which takes it and does not document it."""
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        group = ConfigResource(ConfigResourceType.GROUP, "g")
        internal = {name for name, each in GROUP_SETTINGS.items() if each.is_internal}
        assert len(internal) == 6
        before = (await admin.get_configs([group])).succeeded[group]
        assert internal.isdisjoint(before)
        name = "streams.num.warmup.replicas"
        altered = ConfigResource(ConfigResourceType.GROUP, "g", {name: "3"})
        (await admin.incremental_alter_configs([altered])).raise_first()
        after = (await admin.get_configs([group])).succeeded[group]
        assert after.keys() - before.keys() == {name}
        assert (after[name].value, after[name].source) == ("3", ConfigSource.GROUP_CONFIG)
