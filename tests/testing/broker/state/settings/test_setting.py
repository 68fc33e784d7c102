"""Values are read and refused as Kafka does."""

import pytest

from aiokafka_lite.errors import InvalidConfigurationError
from aiokafka_lite.testing.broker.state.settings.setting import (
    Check,
    Setting,
    SettingSource,
    SettingType,
    ValuePlace,
    at_least,
    between,
    between_or,
    by_name,
    described,
    one_of,
    parse_all,
)


def setting(kind: SettingType, check: Check | None = None, default: str | None = None) -> Setting:
    return Setting("name", kind, default, check, "What it does.")


@pytest.mark.parametrize(
    ("kind", "text", "value", "shown"),
    [
        (SettingType.INT, " 7 ", 7, "7"),
        (SettingType.LONG, "-9223372036854775808", -(2**63), "-9223372036854775808"),
        (SettingType.DOUBLE, "2", 2.0, "2.0"),
        (SettingType.BOOLEAN, "TRUE", True, "true"),
        (SettingType.LIST, " a, b", ["a", "b"], "a,b"),
        (SettingType.LIST, "", [], ""),
        (SettingType.STRING, " a ", "a", "a"),
    ],
)
def test_values_are_read_and_shown(kind: SettingType, text: str, value: object, shown: str) -> None:
    assert setting(kind).parse(text) == value
    assert setting(kind).shown(text) == shown


@pytest.mark.parametrize(
    ("kind", "check", "text", "why"),
    [
        (SettingType.INT, None, "2147483648", "Not a number of type INT"),
        (SettingType.LONG, None, "soon", "Not a number of type LONG"),
        (SettingType.DOUBLE, None, "x", "Not a number of type DOUBLE"),
        (SettingType.BOOLEAN, None, "1", "Expected value to be either true or false"),
        (SettingType.INT, at_least(3), "2", "Value must be at least 3"),
        (SettingType.INT, between(3, 5), "2", "Value must be at least 3"),
        (SettingType.INT, between(3, 5), "6", "Value must be no more than 5"),
        (SettingType.INT, between_or(1, 9, -1), "0", "Value must be between 1 and 9 or equal to"),
        (SettingType.STRING, one_of("a", "b"), "c", "String must be one of: a, b"),
        (SettingType.LIST, one_of("a", "b"), "a,c", "String must be one of: a, b"),
    ],
)
def test_bad_values_are_refused(
    kind: SettingType, check: Check | None, text: str, why: str
) -> None:
    with pytest.raises(InvalidConfigurationError, match=f"for configuration name: {why}"):
        setting(kind, check).parse(text)


def test_good_values_pass_the_checks() -> None:
    assert setting(SettingType.INT, between_or(1, 9, -1)).parse("-1") == -1
    assert setting(SettingType.LIST, one_of("a", "b")).parse("b,a") == ["b", "a"]


def test_the_first_place_gives_the_value_unless_it_is_a_default() -> None:
    of_broker = ValuePlace("other", "8", SettingSource.DYNAMIC_BROKER_CONFIG)
    in_hours = ValuePlace("hours", "168", SettingSource.DEFAULT_CONFIG)
    own = setting(SettingType.INT, default="604800000")
    assert described(own, [of_broker, in_hours]).value == "8"
    by_default = described(own, [in_hours])
    assert (by_default.value, by_default.source) == ("604800000", SettingSource.DEFAULT_CONFIG)
    assert by_default.places == (in_hours,)
    assert described(setting(SettingType.INT), []).value is None


def test_unknown_names_are_refused() -> None:
    known = by_name(setting(SettingType.INT))
    assert parse_all(known, {"name": "7"}, "topic") == {"name": 7}
    with pytest.raises(InvalidConfigurationError, match="Unknown topic config name: nope"):
        parse_all(known, {"name": "7", "nope": "1"}, "topic")
