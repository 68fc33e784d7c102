"""What `help()` and editors show of the public names: whole, and without what users do not have."""

import inspect
import re
from collections.abc import Iterator

import pytest

import aiokafka_lite
from tests.support.documents import RULES

RULE = re.compile(r"</a>([\w'.-]+) \|")


def documented() -> Iterator[tuple[str, str]]:
    """Yield the public names, those of their members, and their docstrings."""
    for name in aiokafka_lite.__all__:
        public = getattr(aiokafka_lite, name)
        if not isinstance(public, type):
            continue
        yield name, inspect.getdoc(public) or ""
        for member, value in vars(public).items():
            if not member.startswith("_"):
                yield f"{name}.{member}", inspect.getdoc(value) or ""


def test_no_docstring_names_a_rule_by_its_number() -> None:
    """docs/rules.md is for those who change the package."""
    rules = set(RULE.findall(RULES.read_text()))
    assert len(rules) > 50
    for name, text in documented():
        assert rules.isdisjoint(re.findall(r"\(([\w'.-]+)\)", text)), name


@pytest.mark.parametrize("words", ["as there.", "as above", "see above", "TODO"])
def test_no_docstring_points_where_a_hover_shows_nothing(words: str) -> None:
    for name, text in documented():
        assert words not in text, name


def test_every_public_method_has_a_docstring() -> None:
    """Of what a program calls: the fields of values have their class's."""
    clients = [name for name in aiokafka_lite.__all__ if name.startswith("AIOKafka")]
    assert len(clients) == 5
    for name, text in documented():
        if name.split(".")[0] in clients:
            assert text, name
