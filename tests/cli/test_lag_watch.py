"""`groups lag --watch`: a live table at a terminal, columns again and again elsewhere."""

import os

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke
from tests.cli.support.commands import at_a_terminal


@pytest.fixture
def billing(broker: EmbeddedBroker, invoke: Invoke) -> EmbeddedBroker:
    broker.create_topic("orders")
    assert invoke("produce", "-t", "orders", stdin="a\nb\nc\n").exit_code == 0
    read = invoke("consume", "-t", "orders", "-G", "billing", "-o", "start", "-n", "1")
    assert read.exit_code == 0, read.stderr
    return broker


@pytest.mark.usefixtures("billing")
def test_off_a_terminal_each_look_is_printed(invoke: Invoke) -> None:
    watch = ("groups", "lag", "billing", "--watch", "--interval-ms", "1", "-n", "3")
    shown = invoke(*watch)
    assert shown.exit_code == 0, shown.stderr
    lines = [line.split() for line in shown.stdout.splitlines()]
    assert lines == 3 * [
        ["TOPIC", "PARTITION", "CURRENT", "END", "LAG"],
        ["orders", "0", "1", "3", "2"],
    ]
    unknown = invoke("groups", "lag", "nothing", "--watch", "-n", "1")
    assert unknown.exit_code == 1


def test_at_a_terminal_one_table_changes_in_place(billing: EmbeddedBroker) -> None:
    watch = ("groups", "lag", "billing", "--watch", "--interval-ms", "60000")
    with at_a_terminal(*watch, address=billing.bootstrap_servers) as (process, keyboard):
        shown = b""
        while b"orders" not in shown:
            shown += os.read(keyboard, 4096)
        os.write(keyboard, b"\x03")
        while b"\x1b[?25h" not in shown:  # the cursor is shown again
            shown += os.read(keyboard, 4096)
        assert process.wait(timeout=60) == 130
    assert b"Lag of billing" in shown
