"""What aiokafka promises, compat keeps: each promise runs on both, on embedded and real brokers."""

import re

import pytest

from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.compat.run_program import PROGRAMS, run, run_on_this_package
from tests.support.documents import MOVING

NAME = "aiokafka_promises.py"
NAMES = re.findall(r"^@promise\nasync def (\w+)", (PROGRAMS / NAME).read_text(), re.M)
ON_A_REAL_KAFKA_ONLY = {"internal_topics_can_be_subscribed"}
"""The embedded broker keeps offsets in no topic."""
OTHERWISE = {
    "a_cancelled_commit_goes_on": "a cancelled `commit_transaction()`",
    "a_lost_record_breaks_the_sequence": "aiokafka's inside",
    "what_send_returns_is_a_future": "the result of `send`",
}
"""What compat does not keep -> the row of docs/moving.md that says so."""


@pytest.fixture(scope="module")
def said() -> str:
    """What the program has printed; one process for all promises."""
    with EmbeddedBroker.threaded(num_partitions=2) as broker:
        return run_on_this_package(NAME, broker.bootstrap_servers)


@pytest.mark.parametrize("name", sorted({*NAMES} - ON_A_REAL_KAFKA_ONLY - {*OTHERWISE}))
def test_a_promise_is_kept(said: str, name: str) -> None:
    assert f"{name} kept\n" in said, said


@pytest.mark.parametrize("name", OTHERWISE)
def test_what_is_not_kept_is_a_row_of_the_table(said: str, name: str) -> None:
    assert f"{name} kept\n" not in said
    table = MOVING.read_text().partition("\n## Every difference to aiokafka\n")[2]
    assert f"\n| {OTHERWISE[name]} |" in table


@pytest.mark.real_kafka
@pytest.mark.soak
def test_aiokafka_itself_keeps_each_promise(apache_kafka: ApacheKafka) -> None:
    said = run(str(PROGRAMS / NAME), apache_kafka.bootstrap_servers)
    assert {name for name in NAMES if f"{name} kept\n" not in said} == set(), said


@pytest.mark.real_kafka
@pytest.mark.soak
def test_each_promise_is_kept_on_a_real_kafka(apache_kafka: ApacheKafka) -> None:
    said = run_on_this_package(NAME, apache_kafka.bootstrap_servers)
    assert {name for name in NAMES if f"{name} kept\n" not in said} == {*OTHERWISE}, said
