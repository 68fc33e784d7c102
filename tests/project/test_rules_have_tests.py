"""Every rule that code or a test cites is in `docs/rules.md`, and a test cites every rule there."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.documents import ROOT, RULES

TESTS: Final = Path(__file__).parents[1]
NUMBER: Final = r"(?:[A-H]\d{1,2}(?:\.\d)?|2[a-h]'?-\d{1,2})"
CITATION: Final = re.compile(rf"(?<![\w./#'-]){NUMBER}(?!\w|\.\d|-\d)")
IN_NAME: Final = re.compile(r"_((?:[a-h]\d{1,2}(?:_\d)?|2[a-h]_\d{1,2}))(?=_|$)")
ROW: Final = re.compile(rf'^\| <a id="([^"]*)"></a>({NUMBER}) \| (.+) \| (.+) \|$', re.MULTILINE)
LINK: Final = re.compile(r"rules\.md#([\w-]+)")
BARE: Final = re.compile(rf"(?:\W|to|and|{NUMBER}|(?:KIP|KAFKA)-\d+)*")

PAGE: Final = ROW.findall(RULES.read_text(encoding="utf-8"))
NUMBERS: Final = [number for _, number, _, _ in PAGE]

PYTHON: Final = [
    path
    for folder in ("aiokafka_lite", "benchmarks", "examples", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if path != Path(__file__)
]
CYTHON: Final = sorted((ROOT / "aiokafka_lite").rglob("*.p[yx][xd]"))
PAGES: Final = [ROOT / "DESIGN.md", ROOT / "README.md", *(ROOT / "docs").glob("*.md")]


def prose(path: Path, text: str) -> str:
    """Return what a file says in words: comments and docstrings of Python, else all of it."""
    if path.suffix != ".py":
        return text
    words = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    ]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            words.append(str(node.value.value))
    return "\n".join(words)


def every_test() -> Iterator[tuple[str, str]]:
    """Yield the place and the docstring of each test function."""
    for path in PYTHON:
        if not path.name.startswith("test_"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if node.name.startswith("test_"):
                yield f"{path.relative_to(ROOT)}::{node.name}", ast.get_docstring(node) or ""


@pytest.fixture(scope="module")
def functions() -> list[tuple[str, str]]:
    return list(every_test())


@pytest.fixture(scope="module")
def cited(functions: list[tuple[str, str]]) -> set[str]:
    """The numbers that tests cite, once as docstrings and once as names have them."""
    return {number for place, docstring in functions for number in citations(place, docstring)}


def citations(place: str, docstring: str) -> Iterator[str]:
    """Yield the numbers in a docstring as they stand, and those in a test's name as it has them."""
    yield from CITATION.findall(docstring)
    yield from IN_NAME.findall(place.rpartition("::test")[2])


def in_name(rule: str) -> str:
    return re.sub(r"[.'-]+", "_", rule.lower())


def is_bare(docstring: str) -> bool:
    """Say whether a docstring is a number or begins with one, instead of being a sentence."""
    return bool(CITATION.match(docstring) or BARE.fullmatch(docstring))


def anchor_of(rule: str) -> str:
    return rule.lower().replace("'", "-prime").replace(".", "-")


def test_numbers_that_are_cited_are_on_the_page() -> None:
    unknown = {
        str(path.relative_to(ROOT)): numbers
        for path in [*PYTHON, *CYTHON, *PAGES]
        if (numbers := unknown_numbers(path))
    }
    assert unknown == {}, "add them to docs/rules.md"


def unknown_numbers(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    if set(CITATION.findall(text)) <= set(NUMBERS):
        return set()  # most files; it costs much to tell prose from code
    return set(CITATION.findall(prose(path, text))) - set(NUMBERS)


def test_each_rule_is_cited_by_a_test(cited: set[str]) -> None:
    assert [rule for rule in NUMBERS if not cited & {rule, in_name(rule)}] == []


def test_a_number_stands_once_on_the_page_under_its_own_anchor() -> None:
    assert len(NUMBERS) > 100
    assert sorted(NUMBERS) == sorted(set(NUMBERS))
    assert {number: anchor for anchor, number, _, _ in PAGE} == {
        number: anchor_of(number) for number in NUMBERS
    }


def test_links_to_a_rule_have_an_anchor_on_the_page() -> None:
    anchors = {anchor for anchor, _, _, _ in PAGE}
    for path in PAGES:
        assert set(LINK.findall(path.read_text(encoding="utf-8"))) <= anchors, path


def test_a_rule_is_two_sentences_at_most() -> None:
    long = [rule for _, rule, text, _ in PAGE if len(re.split(r"(?<=\.)\s+(?=[A-Z`])", text)) > 2]
    assert long == []


def test_no_docstring_of_a_test_begins_with_a_number(functions: list[tuple[str, str]]) -> None:
    bare = [place for place, docstring in functions if docstring and is_bare(docstring)]
    assert not bare, "say what the rule is, the number in brackets after it"


@pytest.mark.parametrize(
    ("place", "docstring", "rule", "is_cited"),
    [
        ("x.py::test_a1_holds", "", "A1", True),
        ("x.py::test_a11_holds", "", "A1", False),
        ("x.py::test_it_holds_a1", "", "A1", True),
        ("a1_x.py::test_it_holds", "", "A1", False),
        ("x.py::test_b4_2_holds", "", "B4.2", True),
        ("x.py::test_2a_5_holds", "", "2a-5", True),
        ("x.py::test_it_holds", "As A5, B4.2 and A11.", "B4.2", True),
        ("x.py::test_it_holds", "As A5, B4.2 and A11.", "A11", True),
        ("x.py::test_it_holds", "As A5, B4.2 and A11.", "A1", False),
        ("x.py::test_it_holds", "As B4.2.", "B4", False),
        ("x.py::test_it_holds", "It holds (2d'-4).", "2d'-4", True),
        ("x.py::test_it_holds", "It holds (2d'-4).", "2d-4", False),
        ("x.py::test_it_holds", "It holds (2d-14).", "2d-1", False),
    ],
)
def test_a_citation_is_the_whole_number(
    place: str, docstring: str, rule: str, is_cited: bool
) -> None:
    found = set(citations(place, docstring))
    assert bool(found & {rule, in_name(rule)}) is is_cited


@pytest.mark.parametrize(
    ("docstring", "expected"),
    [
        ("A7", True),
        ("KIP-951, 2d-4.", True),
        ("2d'-1 to 2d'-8", True),
        ("2d-5: it sticks", True),
        ("A buffered partition is not fetched (A7).", False),
        ("A partition is not fetched while it is buffered (A7).", False),
        ("2 records are one batch.", False),
    ],
)
def test_a_sentence_is_told_from_a_number(docstring: str, expected: bool) -> None:
    assert is_bare(docstring) is expected
