"""What an audit asks, what it makes of the counts, and what it calls a problem."""

from typing import Any

import pytest

from aiokafka_lite.record.control_record import ControlRecordType
from aiokafka_lite.spark.jobs.audit import (
    AuditConfig,
    Bounds,
    describe,
    find_bounds,
    problems,
    scans,
    table,
)
from aiokafka_lite.spark.jobs.job_config import JobConfigError
from aiokafka_lite.spark.jobs.offset_levels import COUNTS
from aiokafka_lite.spark.offsets import Offsets
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.topics import T0, T1, fill, fill_transaction

GIVEN: dict[str, Any] = {"bootstrap_servers": "h:1", "topics": ("t",)}
COMMITTED = {"Kafka.Isolation.Level": "read_committed"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"scan": False, "archive": "/a"}, "scan=false leaves nothing to do for archive"),
        ({"scan": False, "transactions": True}, "nothing to do for transactions"),
        ({"max_lag": -1, "group": "g"}, "max_lag=-1 must be at least 0"),
        ({"max_lag": 5}, "max_lag=5 needs checkpoint or group"),
        ({"starting_offsets": "latest"}, "the starting offset can't be latest"),
    ],
)
def test_wrong_keys_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(JobConfigError, match=said):
        AuditConfig(**{**GIVEN, **given})


def test_topics_are_read_as_their_archive_was_and_twice_to_count_the_aborted() -> None:
    assert scans(AuditConfig(**GIVEN, scan=False)) == {}
    everything = ["written", "committed", "expected"]
    assert scans(AuditConfig(**GIVEN)) == {"read_uncommitted": everything}
    assert scans(AuditConfig(**GIVEN, source=COMMITTED)) == {"read_committed": everything}
    assert scans(AuditConfig(**GIVEN, transactions=True)) == {
        "read_uncommitted": ["written", "expected"],
        "read_committed": ["committed"],
    }
    assert scans(AuditConfig(**GIVEN, transactions=True, source=COMMITTED)) == {
        "read_committed": ["committed", "expected"],
        "read_uncommitted": ["written"],
    }


def test_brokers_and_group_are_asked_where_they_stand(kafka_broker: EmbeddedBroker) -> None:
    kafka_broker.create_topic("t", partitions=2)
    fill(kafka_broker, T0, 10)
    fill(kafka_broker, T1, 4)
    fill_transaction(kafka_broker, T1, 3, ControlRecordType.COMMIT)
    fill_transaction(kafka_broker, T1, 2, None)
    kafka_broker.log(T0).delete_records(3)
    given = {**GIVEN, "bootstrap_servers": kafka_broker.bootstrap_servers, "group": "g"}
    found = find_bounds(None, AuditConfig(**given))
    assert found == Bounds(
        start=Offsets({T0: 3, T1: 0}),
        end=Offsets({T0: 10, T1: 10}),
        decided=Offsets({T0: 10, T1: 8}),
        group=Offsets(),
    )
    committed = find_bounds(None, AuditConfig(**given, source=COMMITTED))
    assert committed.end == committed.decided == {T0: 10, T1: 8}


BOUNDS = Bounds(
    start=Offsets({T0: 5}),
    end=Offsets({T0: 20}),
    decided=Offsets({T0: 18}),
    checkpoint=Offsets({T0: 12}),
    group=Offsets(),
)
FOUND = {**dict.fromkeys(COUNTS, 0), "records": 15, "first_missing": None, "first_duplicate": None}


def test_only_what_was_asked_for_is_told() -> None:
    only_ends = AuditConfig(**GIVEN, scan=False)
    bounds = Bounds(start=BOUNDS.start, end=BOUNDS.end, decided=BOUNDS.end)
    place = {"topic": "t", "partition": 0, "start": 5, "end": 20}
    assert describe(T0, only_ends, bounds, None) == place
    config = AuditConfig(**GIVEN, archive="/a", group="g", transactions=True)
    assert describe(T0, config, BOUNDS, FOUND) == {
        **place,
        "undecided": 2,
        **dict.fromkeys(COUNTS, 0),
        "records": 15,
        "checkpoint": 12,
        "lag": 8,
        "group": None,
        "group_lag": 15,
    }
    empty = describe(T0, AuditConfig(**GIVEN), bounds, None)  # a partition without any record
    assert "archived" not in empty
    assert (empty["records"], empty["holes"]) == (0, 0)


def said(each: dict[str, Any], lags: dict[str, int | None] | None = None) -> str:
    config = AuditConfig(**GIVEN, archive="/a", max_lag=5)
    partition = {"topic": "t", "partition": 0, "start": 5, "end": 20, **each}
    return "\n".join(problems([partition], config, lags or {}))


@pytest.mark.parametrize(
    ("each", "problem"),
    [
        ({"missing": 1234, "first_missing": 7}, "t-0: 1,234 records are not in the archive.* 7"),
        ({"duplicates": 2, "first_duplicate": 9}, "t-0: 2 records are in the archive again"),
        ({"beyond": 3}, "the archive has 3 records behind the end of the log, 20"),
        ({"checkpoint": 2}, "the checkpoint is at 2, and the log begins at 5: 3 offsets"),
        ({"group": 2}, "the group is at 2, and the log begins at 5"),
        ({"checkpoint": 21}, "the checkpoint is at 21, behind the end of the log, 20"),
    ],
)
def test_what_is_wrong_is_a_sentence(each: dict[str, Any], problem: str) -> None:
    import re

    assert re.search(problem, said(each))


def test_holes_pending_and_a_lag_within_its_limit_are_no_problem() -> None:
    each = {"holes": 5, "pending": 4, "compacted": 3, "expired": 2, "aborted": 1, "unknown": 1}
    assert said({**each, "checkpoint": 5, "group": None}, {"lag": 5, "group_lag": None}) == ""
    assert said({}, {"lag": 6, "group_lag": 7}) == (
        "the checkpoint is 6 offsets behind, more than max_lag=5\n"
        "the group is 7 offsets behind, more than max_lag=5"
    )


def test_the_table_has_the_columns_that_say_something() -> None:
    rows = [
        {"topic": "a", "partition": 0, "start": 0, "end": 12345, "holes": 0, "checkpoint": None},
        {"topic": "long", "partition": 10, "start": 5, "end": 7, "holes": 0, "checkpoint": 6},
    ]
    assert table(rows).splitlines() == [
        "topic  partition  start     end  checkpoint",
        "a              0      0  12,345           -",
        "long          10      5       7           6",
    ]
