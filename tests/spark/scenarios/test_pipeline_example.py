"""The example with the flights: what it computes by itself, and one run of it with Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyspark", reason=NO_SPARK)

from aiokafka_lite.cli.flights_dataset import DatasetError, flights
from aiokafka_lite.spark.jobs.aggregate import AggregateConfig
from examples.pipeline import __main__ as program
from examples.pipeline.departures import (
    Departures,
    Flight,
    Route,
    closing_time,
    counted,
    day_of,
    differences,
    flights_in_order,
    read_back,
)
from examples.pipeline.flight_stream import FLIGHT, SESSION, STATEMENT, WATERMARK, StreamFacts
from examples.pipeline.pipeline import PipelineResult
from examples.pipeline.report import totals_by_day

ROOT = Path(__file__).parents[3]
ROUTE = Route("2013-02-08", "EWR", "UA")


def flight(hour: str, delay_min: int | None) -> Flight:
    return Flight(hour, "EWR", "UA", delay_min, b"1", b"{}")


@pytest.fixture
def _flights() -> None:
    """Skips where they are not installed."""
    try:
        flights()
    except DatasetError as error:
        pytest.skip(str(error))


def test_a_day_is_one_of_new_york_in_winter() -> None:
    assert day_of("2013-02-08T05:00:00Z") == day_of("2013-02-09T04:00:00Z") == "2013-02-08"
    last = flight("2013-02-09T04:00:00Z", 0)
    closing = closing_time([flight("2013-02-07T12:00:00Z", 0), last], timedelta(days=2))
    assert closing == datetime(2013, 2, 11, 5, tzinfo=UTC)


def test_cancelled_flights_have_no_delay() -> None:
    hour = "2013-02-08T12:00:00Z"
    told = counted([flight(hour, -3), flight(hour, None), flight(hour, 5), flight(hour, None)])
    assert told == {ROUTE: Departures(4, 2, 1.0)}
    assert counted([flight(hour, None)]) == {ROUTE: Departures(1, 1, None)}
    written = b'{"day":"2013-02-08","origin":"EWR","carrier":"UA","flights":1,"cancelled":1}'
    assert read_back(written) == (ROUTE, Departures(1, 1, None))


def test_totals_weigh_the_airlines_by_their_flights() -> None:
    results = {
        ROUTE: Departures(3, 1, 4.0),
        Route("2013-02-08", "EWR", "B6"): Departures(4, 0, 1.0),
        Route("2013-02-08", "JFK", "B6"): Departures(1, 1, None),
    }
    total = totals_by_day(results)["EWR", "2013-02-08"]
    assert (total.flights, total.cancelled, total.mean_delay_min) == (7, 1, 2.0)


def test_what_is_missing_or_wrong_or_late_is_told() -> None:
    right = Departures(1, 0, 2.0)
    other = Route("2013-02-09", "EWR", "UA")
    assert differences({ROUTE: right}, {ROUTE: right}) == []
    (wrong,) = differences({ROUTE: right}, {ROUTE: Departures(1, 0, 2.5)})
    assert "2013-02-08" in wrong
    assert "2.5" in wrong
    assert len(differences({ROUTE: right}, {other: right})) == 2
    late = PipelineResult({ROUTE: right}, {ROUTE: right}, 0, StreamFacts(1, 1, 3))
    assert late.problems() == ["3 flights came behind the watermark, and were left out"]


def test_the_job_of_the_example_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    folder = ROOT / "examples" / "pipeline"
    config = AggregateConfig.from_toml((folder / "departures.toml").read_text())
    assert config.statement() == STATEMENT.strip()
    assert (config.event_schema, config.watermark) == (FLIGHT, f"{WATERMARK.days} days")
    assert {f"spark.{name}" for name in config.spark} <= set(SESSION)


def test_a_wrong_result_is_exit_code_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def wrong(*_: Any, **__: Any) -> PipelineResult:
        return PipelineResult({ROUTE: Departures(1, 0, 2.0)}, {}, 0, StreamFacts(1, 1, 0))

    @contextmanager
    def no_session(*_: Any) -> Iterator[None]:
        yield

    monkeypatch.setattr(program, "run_pipeline", wrong)
    monkeypatch.setattr(program, "session", no_session)
    monkeypatch.setattr(program, "flights_in_order", lambda _: [flight("2013-02-08T12:00:00Z", 2)])
    assert program.main(["--broker", "nowhere:1"]) == 1
    assert "1 differences" in capsys.readouterr().err


def test_a_failure_is_told_without_its_stack(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any) -> None:
        raise ExceptionGroup("unhandled", [ValueError("the disk is full\n\tat org.apache.X")])

    monkeypatch.setattr(program, "flights_in_order", fails)
    assert program.main([]) == 1
    assert capsys.readouterr().err == "error: the disk is full\n"


@pytest.mark.usefixtures("_flights")
def test_the_flights_come_in_order_of_time() -> None:
    january = flights_in_order(3000)
    hours = [each.hour for each in january]
    assert hours == sorted(hours)
    assert [hours[0], day_of(hours[-1])] == ["2013-01-01T10:00:00Z", "2013-01-04"]
    assert sum(each.delay_min is None for each in january) == 22


@pytest.mark.usefixtures("_flights")
def test_flights_through_kafka_and_spark_equal_those_of_the_file(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--flights", "4000"]
    picture = tmp_path / "departures.svg"
    if find_spec("matplotlib"):
        options += ["--plot", str(picture)]
    assert program.main(options) == 0
    printed = capsys.readouterr().out
    assert "every result equals the one computed from the file" in printed
    assert "4,000 flights became" in printed
    assert picture.exists() == ("--plot" in options)
