"""All commands hang together under one name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aiokafka_lite.cli.app import COMMANDS
from aiokafka_lite.version import __version__
from tests.cli.conftest import Invoke


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(invoke: Invoke, command: str) -> None:
    shown = invoke(command, "--help")
    assert shown.exit_code == 0
    assert "Usage" in shown.stdout
    assert "--install-completion" not in shown.stdout


def test_an_unknown_command_is_wrong_usage(invoke: Invoke) -> None:
    assert invoke("reproduce").exit_code == 2


def test_a_name_that_is_nearly_right_is_proposed(invoke: Invoke) -> None:
    assert "Did you mean 'topics'? (see" in invoke("topic", "list").stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--nope",), "No such option: --nope (see {} -h)"),
        (("topics", "nope"), "No such command 'nope' (see {} topics -h)"),
        (("topics", "create"), "Missing argument 'name' (see {} topics create -h)"),
        (("consume",), "Missing option '--topic' / '-t' (see {} consume -h)"),
    ],
)
def test_wrong_usage_is_told_in_one_line(
    invoke: Invoke, arguments: tuple[str, ...], told: str
) -> None:
    done = invoke(*arguments)
    assert done.exit_code == 2
    assert (done.stdout, done.stderr) == ("", f"error: {told.format('aiokafka-lite')}\n")


def test_a_long_text_is_not_broken(invoke: Invoke) -> None:
    told = invoke("consume", "-t", "orders", "-o", "12x").stderr
    assert told.startswith("error: Invalid value: offset '12x' is unknown; use start, end, N, -N")
    assert told.endswith("s with 10 digits (see aiokafka-lite consume -h)\n")
    assert told.count("\n") == 1


def test_without_a_command_the_help_is_shown(invoke: Invoke) -> None:
    for arguments in ((), ("topics",)):
        shown = invoke(*arguments)
        assert shown.exit_code == 2
        assert "Usage: " in shown.stdout + shown.stderr
        assert "error" not in shown.stdout + shown.stderr


def test_version_and_the_short_form_of_help(invoke: Invoke) -> None:
    assert invoke("--version").stdout == f"aiokafka-lite {__version__}\n"
    for arguments in (("-h",), ("topics", "-h"), ("topics", "list", "-h")):
        assert "Usage" in invoke(*arguments).stdout


def test_help_imports_no_client_and_no_broker() -> None:
    program = """
import sys
from aiokafka_lite.__main__ import main
sys.argv[1:] = ["--help"]
try:
    main()
finally:
    heavy = ("asyncio", "aiokafka_lite.producer", "aiokafka_lite.consumer", "aiokafka_lite.testing")
    print(sorted(set(heavy) & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert "produce" in done.stdout
    assert done.stderr == "[]\n"


def test_a_full_disk_is_told_in_one_line() -> None:
    environment = {name: os.environ[name] for name in os.environ if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "aiokafka_lite", "info"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            env=environment,
            check=False,
        )
    assert (done.returncode, done.stderr) == (1, b"error: [Errno 28] No space left on device\n")


def test_the_shell_completes_names_of_commands() -> None:
    environment = {
        **os.environ,
        "_AIOKAFKA_LITE_COMPLETE": "complete_bash",
        "COMP_WORDS": "aiokafka-lite to",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "aiokafka_lite"],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )
    assert done.stdout.split() == ["topics"]
