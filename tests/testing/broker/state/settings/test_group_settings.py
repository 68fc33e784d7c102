"""Settings of groups: their defaults are good, and brokers limit them."""

import pytest

from aiokafka_lite.errors import InvalidConfigurationError
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
        ("nothing", "1", "Unknown group config name: nothing"),
    ],
)
def test_what_is_refused(name: str, value: str, text: str) -> None:
    with pytest.raises(InvalidConfigurationError, match=text):
        check_group_settings({name: value})
