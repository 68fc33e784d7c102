"""Each shell line of the pages names what exists: a command with its options, a target of make, a
module, an extra. The lines of docs/command-line.md run, too: tests/cli/test_command_line_page.py.
"""

import importlib.util
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from aiokafka_lite.cli.app import app
from tests.support.documents import ROOT
from tools.docs_site import errors_page

PAGES = [
    *(ROOT / each for each in ("README.md", "CONTRIBUTING.md", "DESIGN.md")),
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
FENCED = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ {4}(\S.*)$", re.MULTILINE)
OTHER_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"`aiokafka-lite ([a-z][\w-]*)(?: ([a-z][\w-]*))?")
# They make the package, are part of another one, or do nothing.
NOT_FOR_USERS = {
    *("bench", "dev", "docs", "test", "test-spark"),
    *("decode", "schema-registry"),
    *("lz4", "snappy", "zstd"),
}
COMMAND: Any = typer.main.get_command(app)


def shell_lines(text: str) -> list[str]:
    """Return the shell lines of a page, without prompts and comments."""
    blocks = FENCED.findall(text) + INDENTED.findall(OTHER_CODE.sub("", text))
    lines = (line.removeprefix("$ ") for block in blocks for line in block.splitlines())
    return [re.sub(r"\s+# .*", "", line) for line in lines if not line.startswith("#")]


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of each command of a page, without the variables before it."""
    for line in shell_lines(page.read_text(encoding="utf-8")):
        for part in line.split(" | "):
            if re.match(r"(?:[A-Z_]+=\S+ )*(?:aiokafka-lite|make|python|pip) ", part):
                words = shlex.split(part)
                while "=" in words[0]:
                    words.pop(0)
                yield words


def parse(words: list[str]) -> None:
    """Parse the arguments of `aiokafka-lite` as it does, and run nothing."""
    command, name = COMMAND, "aiokafka-lite"
    while True:
        context = command.make_context(name, list(words))
        if not hasattr(command, "commands"):
            found = getattr(context.command, "commands", None)
            if found is None:
                return
            command = context.command
        name, *words = list[str](context._protected_args) + context.args
        command = command.get_command(context, name) or pytest.fail(f"there is no {name}")


def targets_of_make() -> set[str]:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z][\w%.-]*):", text, re.MULTILINE))


def check_make(words: list[str]) -> None:
    known = targets_of_make()
    for word in words:
        if "=" not in word:
            assert word in known or any(
                re.fullmatch(target.replace("%", ".+"), word) for target in known if "%" in target
            ), f"make has no target {word}"


def extras() -> set[str]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return {*tomllib.load(file)["project"]["optional-dependencies"]}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_line_names_what_exists(page: Path) -> None:
    for program, *words in commands(page):
        if program == "aiokafka-lite":
            parse(words)
        elif program == "make":
            check_make(words)
        elif words[0] == "-m":
            assert importlib.util.find_spec(words[1]) is not None, words[1]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_extra_that_is_named_exists(page: Path) -> None:
    """In `aiokafka-lite[...]`, and in `.[...]` for a checkout."""
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"(?:aiokafka-lite|'\.)\[([a-z][\w,-]*)\]", text)
    assert {name for each in named for name in each.split(",")} <= extras()


def test_the_quick_start_lists_the_extras_for_users() -> None:
    text = (ROOT / "docs" / "guides" / "quickstart.md").read_text(encoding="utf-8")
    table = text.partition("| extra | brings |")[2].partition("\n\n")[0]
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = {name for cell in first for name in re.findall(r"`([\w-]+)`", cell)}
    assert listed == extras() - NOT_FOR_USERS


def test_the_pages_have_such_lines() -> None:
    programs = [words[0] for page in PAGES for words in commands(page)]
    for program in ("aiokafka-lite", "make", "pip", "python"):
        assert programs.count(program) > 3, program


def test_each_command_in_a_sentence_exists() -> None:
    """Such as `aiokafka-lite groups list`, also in the remedies of the page of errors."""
    texts = [*(page.read_text(encoding="utf-8") for page in PAGES), errors_page()]
    named = {names for text in texts for names in NAMED.findall(text)}
    assert len(named) > 5
    for name, below in named:
        group = COMMAND.commands[name].make_context(name, ["x"], resilient_parsing=True).command
        inside = getattr(group, "commands", None)
        assert inside is None or not below or below in inside, f"{name} {below}"
