"""`aiokafka-lite users`: SCRAM passwords are set, listed and deleted; no password is shown."""

import json
import logging
from collections.abc import Iterator

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke

ADMIN = (
    *("--security", "SASL_PLAINTEXT", "-X", "sasl_mechanism=PLAIN"),
    *("-X", "sasl_plain_username=root", "-X", "sasl_plain_password=toor"),
)
SCRAM = ("--security", "SASL_PLAINTEXT", "-X", "sasl_mechanism=SCRAM-SHA-512")


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    options = {"security": "SASL_PLAINTEXT", "mechanisms": ["PLAIN", "SCRAM-SHA-512"]}
    with EmbeddedBroker.threaded(**options, users={"root": "toor"}) as broker:  # type: ignore[arg-type]
        yield broker


def listed(invoke: Invoke, *names: str) -> list[tuple[str, str, int]]:
    shown = invoke("users", "list", *names, "--output", "json", *ADMIN)
    assert shown.exit_code == 0, shown.stderr
    return [(row["user"], row["mechanism"], row["iterations"]) for row in json.loads(shown.stdout)]


def test_a_password_is_set_used_and_deleted(
    invoke: Invoke, broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    done = invoke("users", "set", "alice", *ADMIN, stdin="open sesame\n")
    assert (done.exit_code, done.stdout) == (0, "set the SCRAM-SHA-512 password of alice\n")
    assert listed(invoke, "alice") == [("alice", "SCRAM-SHA-512", 8192)]
    logs_in = (*SCRAM, "-X", "sasl_plain_username=alice", "-X")
    assert invoke("topics", "list", *logs_in, "sasl_plain_password=open sesame").exit_code == 0
    assert invoke("topics", "list", *logs_in, "sasl_plain_password=other").exit_code == 1

    planned = invoke("users", "delete", "alice", "--dry-run", *ADMIN)
    assert planned.stdout == "would delete the SCRAM-SHA-512 password of alice\n"
    assert listed(invoke, "alice") != []
    deleted = invoke("users", "delete", "alice", *ADMIN)
    assert deleted.stdout == "deleted the SCRAM-SHA-512 password of alice\n"
    assert invoke("users", "list", "alice", *ADMIN).exit_code == 1
    assert "sesame" not in caplog.text
    assert "sesame" not in repr([each.request for each in broker.requests])


def test_both_mechanisms_of_a_user(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOBS_PASSWORD", "open sesame")
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        chosen = ("--mechanism", mechanism, "--iterations", "4096")
        done = invoke("users", "set", "bob", "--password", "env:BOBS_PASSWORD", *chosen, *ADMIN)
        assert done.exit_code == 0, done.stderr
    assert listed(invoke, "bob") == [
        ("bob", "SCRAM-SHA-256", 4096),
        ("bob", "SCRAM-SHA-512", 4096),
    ]
    one = invoke("users", "delete", "bob", "--mechanism", "SCRAM-SHA-256", *ADMIN)
    assert one.exit_code == 0
    assert [mechanism for _, mechanism, _ in listed(invoke, "bob")] == ["SCRAM-SHA-512"]


def test_refusals(invoke: Invoke) -> None:
    refused = invoke("users", "set", "alice", "--password", "hunter2", *ADMIN)
    assert refused.exit_code == 2
    assert "hunter2" not in refused.stderr
    few = invoke("users", "set", "alice", "--iterations", "5", *ADMIN, stdin="open sesame\n")
    assert few.exit_code == 1
    assert "sesame" not in few.stderr
    unknown = invoke("users", "delete", "nobody", *ADMIN)
    assert unknown.exit_code == 1
    assert "nobody" in unknown.stderr
