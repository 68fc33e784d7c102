"""Every example of docs/command-line.md runs and prints what the page shows.

The commands of the page run one after the other against one broker. A line `...` stands for any
output.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import typer.main

from aiokafka_lite.cli.app import COMMANDS
from aiokafka_lite.cli.connection import connection
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke
from tests.support.documents import COMMAND_LINE

SHOWN_ELSEWHERE = {"broker", "demo"}  # they run in the foreground: test_broker, test_demo_command


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker.threaded(acls=[], super_users=["ANONYMOUS"]) as broker:
        yield broker


def examples() -> list[tuple[str, str]]:
    """Return (command, what it prints) of each example of the page, in order."""
    blocks = re.findall(r"```console\n(.*?)```", COMMAND_LINE.read_text(), re.DOTALL)
    found = []
    for block in blocks:
        for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = example.partition("\n")
            found.append((command, output))
    return found


def names_in(command: str) -> Iterator[str]:
    """Yield the names of the commands in an example: "produce", "topics list"."""
    for part in command.split(" | "):
        first, *words = shlex.split(part)
        if first == "aiokafka-lite":
            yield " ".join(words[: 1 if words[1].startswith("-") else 2]) if words[1:] else words[0]


def every_name() -> set[str]:
    names = set()
    for name, (module, _) in COMMANDS.items():
        command = typer.main.get_command(import_module(f"aiokafka_lite.cli.{module}").app)
        names |= {f"{name} {each}" for each in getattr(command, "commands", {})} or {name}
    return names


def test_every_command_has_an_example() -> None:
    shown = {name for command, _ in examples() for name in names_in(command)}
    assert shown == every_name() - SHOWN_ELSEWHERE


def test_the_examples_print_what_the_page_shows(invoke: Invoke) -> None:
    for command, expected in examples():
        piped, told = "", ""
        for part in command.split(" | "):
            first, *words = shlex.split(part)
            if first == "printf":
                piped = words[0].encode().decode("unicode_escape")
                continue
            done = invoke(*words, stdin=piped)
            piped, told = done.stdout, done.stderr
        if expected != "...\n":
            assert piped + told == expected, command


def test_the_profiles_of_the_page_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (profiles,) = re.findall(r"```toml\n(.*?)```", COMMAND_LINE.read_text(), re.DOTALL)
    monkeypatch.setattr("platformdirs.user_config_path", lambda: tmp_path)
    (tmp_path / "aiokafka-lite.toml").write_text(profiles)
    used = {}
    for name in (None, *tomllib.loads(profiles)["profiles"]):
        config = ClientConfig(**connection(profile=name).options())
        used[name] = (config.bootstrap_servers, config.security_protocol)
    assert used == {
        None: ("localhost:9092", "PLAINTEXT"),
        "local": ("localhost:9092", "PLAINTEXT"),
        "production": ("kafka-1:9093,kafka-2:9093", "SASL_SSL"),
    }
