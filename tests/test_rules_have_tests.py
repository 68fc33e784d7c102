"""Each numbered rule of the clients is cited by a test: A7 in its docstring, or a7 in its name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

RULES = (
    *(f"A{number}" for number in range(1, 12)),
    *("B1", "B2", "B3", "B4", "B4.2", "B5", "B6", "B7", "B8"),
    *(f"C{number}" for number in range(1, 9)),
    *(f"D{number}" for number in range(1, 6)),
    *(f"E{number}" for number in range(1, 5)),
    *(f"F{number}" for number in range(1, 5)),
)

# The defects of aiokafka are numbered with a D as well, and cited all over.
SESSIONS = re.compile(r"consumer/fetch/|scenarios/test_consumer_(rules_|sessions)")


def every_test() -> Iterator[tuple[str, str]]:
    for path in sorted(TESTS.rglob("test_*.py")):
        if path == Path(__file__):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if node.name.startswith("test_"):
                place = f"{path.relative_to(TESTS)}::{node.name}"
                yield place, ast.get_docstring(node) or ""


@pytest.fixture(scope="module")
def functions() -> list[tuple[str, str]]:
    return list(every_test())


def cites(place: str, docstring: str, rule: str) -> bool:
    if rule.startswith("D") and not SESSIONS.match(place):
        return False
    in_name = re.escape(rule.lower().replace(".", "_"))
    in_docstring = rf"(?<![\w.-]){re.escape(rule)}(?!\w|\.\d)"
    name = place.rpartition("::test")[2]
    return bool(re.search(rf"_{in_name}(_|$)", name) or re.search(in_docstring, docstring))


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_is_cited_by_a_test(rule: str, functions: list[tuple[str, str]]) -> None:
    table = [place for place, docstring in functions if cites(place, docstring, rule)]
    assert table, f"no test cites {rule}"


@pytest.mark.parametrize(
    ("place", "docstring", "rule", "cited"),
    [
        ("x.py::test_a1_holds", "", "A1", True),
        ("x.py::test_a11_holds", "", "A1", False),
        ("x.py::test_it_holds_a1", "", "A1", True),
        ("a1_x.py::test_it_holds", "", "A1", False),
        ("x.py::test_b4_2_holds", "", "B4.2", True),
        ("x.py::test_it_holds", "As A5, B4.2 and A11.", "B4.2", True),
        ("x.py::test_it_holds", "As A5, B4.2 and A11.", "A11", True),
        ("x.py::test_it_holds", "As A5, B4.2 and A11.", "A1", False),
        ("x.py::test_it_holds", "As B4.2.", "B4", False),
        ("x.py::test_it_holds", "As D2.", "D2", False),
        ("consumer/fetch/x.py::test_it_holds", "As D2.", "D2", True),
    ],
)
def test_a_citation_is_the_whole_number(place: str, docstring: str, rule: str, cited: bool) -> None:
    assert cites(place, docstring, rule) is cited
