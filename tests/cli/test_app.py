"""All commands hang together under one name."""

import pytest

from tests.cli.conftest import Invoke


@pytest.mark.parametrize("command", ["demo", "broker", "produce", "consume", "topics", "info"])
def test_every_command_explains_itself(invoke: Invoke, command: str) -> None:
    shown = invoke(command, "--help")
    assert shown.exit_code == 0
    assert "Usage" in shown.stdout


def test_an_unknown_command_is_wrong_usage(invoke: Invoke) -> None:
    assert invoke("reproduce").exit_code == 2
