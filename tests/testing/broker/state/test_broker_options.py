"""The options of an embedded broker: defaults, limits and where they come from."""

import pytest

from aiokafka_lite.errors import InvalidSessionTimeoutError
from aiokafka_lite.options.declared_options import declared_options
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions


def test_the_defaults_are_in_range() -> None:
    BrokerOptions().check(nodes=1)
    BrokerOptions(port=65_533, racks=["a", "b", "c"]).check(nodes=3)


def test_all_options_out_of_range_are_named_at_once() -> None:
    options = BrokerOptions(
        port=65_535,
        group_min_session_timeout_ms=9_000,
        group_max_session_timeout_ms=8_000,
        racks=["a"],
        transaction_version=3,
    )
    with pytest.raises(ValueError, match=r"^EmbeddedBroker: port must be 0 to 65534") as info:
        options.check(nodes=2)
    assert str(info.value).split("; ")[1:] == [
        "transaction_version must be 0 to 2, got 3",
        "group_max_session_timeout_ms must be 9000 or more, got 8000",
        "the number of racks must be 2 to 2, got 1",
    ]


def test_a_session_timeout_has_the_limits_of_its_options() -> None:
    options = BrokerOptions(group_min_session_timeout_ms=1, group_max_session_timeout_ms=10)
    options.check_session_timeout(10)
    with pytest.raises(InvalidSessionTimeoutError, match="must be 1 to 10 ms here, got 11"):
        options.check_session_timeout(11)


def test_every_option_is_described() -> None:
    for option in declared_options(BrokerOptions):
        assert option.text.endswith(".")
        assert option.java or option.origin == "Only here."
