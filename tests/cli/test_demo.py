"""The main job: every record comes back, and a record that does not is seen."""

import json
from pathlib import Path

from aiokafka_lite.cli.demo import DemoResult, KeyLedger
from tests.cli.conftest import Invoke


def ledger(*values: bytes) -> KeyLedger:
    made = KeyLedger()
    for value in values:
        made.add(value)
    return made


def test_the_demo_on_the_embedded_broker(invoke: Invoke) -> None:
    result = invoke("demo", "--limit", "3000", "--output", "json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    assert sum(row["records"] for row in rows) > 2000
    assert "every record came back, in order for each key" in result.stderr


def test_the_demo_on_a_broker_of_ones_own_with_a_file(
    invoke: Invoke, tmp_path: Path, broker: object
) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("who,what\n" + "".join(f"w{n % 3},{n}\n" for n in range(50)))
    address = broker.bootstrap_servers  # type: ignore[attr-defined]
    result = invoke("demo", "--broker", address, "--file", str(file), "--key", "who")
    assert result.exit_code == 0, result.stderr
    assert "50 records" in result.stdout
    assert "nothing lost" in result.stdout
    assert invoke("topics", "list", "--output", "json").stdout.strip() == "[]"


def test_a_wrong_column_is_one_line_and_exit_code_1(invoke: Invoke) -> None:
    result = invoke("demo", "--key", "airline")
    assert result.exit_code == 1
    assert "no column 'airline'" in result.stderr


def test_loss_order_and_duplicates_are_told_apart() -> None:
    sent = {b"a": ledger(b"1", b"2"), b"b": ledger(b"1", b"2"), b"c": ledger(b"1")}
    received = {b"a": ledger(b"2", b"1"), b"b": ledger(b"1"), b"d": ledger(b"1")}
    assert DemoResult("t", sent, received, 1.0, 1.0).problems() == [
        "key b'a': 2 records came back in another order",
        "key b'b': 2 sent, 1 received",
        "key b'c': 1 sent, 0 received",
        "key b'd': 0 sent, 1 received",
    ]
    assert DemoResult("t", sent, sent, 1.0, 1.0).problems() == []
