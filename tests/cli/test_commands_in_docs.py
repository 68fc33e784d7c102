"""Every command line on the pages of docs/ names commands and options that there are."""

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import typer.main

from aiokafka_lite.cli.app import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"


def lines_of(text: str) -> Iterator[str]:
    """Yield the command lines of blocks: at the margin, indented, after "$" or after a pipe."""
    for line in re.findall(r"^(?: {4}|\$ |)(aiokafka-lite [a-z].*)$", text, re.MULTILINE):
        for part in line.split(" | "):
            if part.startswith("aiokafka-lite "):
                yield part


def shown() -> list[str]:
    pages = sorted(DOCS.rglob("*.md"))
    return sorted({line for page in pages for line in lines_of(page.read_text())})


def parse(line: str) -> None:
    """Parse a command line and run nothing. Raises: click's UsageError."""
    _, name, *words = shlex.split(line, comments=True)
    if "<" in words or ">" in words:  # the rest is of the shell
        words = words[: min(words.index(each) for each in "<>" if each in words)]
    command = typer.main.get_command(import_module(f"aiokafka_lite.cli.{COMMANDS[name][0]}").app)
    while hasattr(command, "resolve_command"):
        context = command.context_class(command, info_name=name)
        name, command, words = command.resolve_command(context, words)
    with command.make_context(name, list(words)):
        pass


@pytest.mark.parametrize("line", shown())
def test_a_command_on_a_page_can_be_called(line: str) -> None:
    parse(line)


def test_a_command_that_is_not_there_is_found() -> None:
    for line in ("groups reset billing", "topics create", "topics list --nonsense"):
        with pytest.raises(Exception, match=r"No such|Missing"):
            parse(f"aiokafka-lite {line}")
