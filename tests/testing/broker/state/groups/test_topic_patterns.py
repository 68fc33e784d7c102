"""Patterns in RE2's language."""

import pytest

from aiokafka_lite.errors import InvalidRegularExpressionError
from aiokafka_lite.testing.broker.state.groups.topic_patterns import check_pattern, matching


@pytest.mark.parametrize("pattern", ["(?!a)b", "(?<=a)b", r"(a)\1", "a++", "(?>a)", "[", "a{2}+"])
def test_what_re2_does_not_know_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidRegularExpressionError, match="is not a valid regular expression"):
        check_pattern(pattern)


@pytest.mark.parametrize("pattern", ["a.*", r"a\++", "(?i)a", "(?P<x>a)", r"a\z", "[a-c]{2}"])
def test_what_both_know_is_taken(pattern: str) -> None:
    check_pattern(pattern)


def test_the_whole_name_matches() -> None:
    assert matching("ab?", ["a", "ab", "abc", "xa"]) == {"a", "ab"}
    assert matching(r"a\z", ["a", "ab"]) == {"a"}
