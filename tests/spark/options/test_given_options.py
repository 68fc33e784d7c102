"""Options are written as Spark writes them."""

import pytest

from aiokafka_lite.spark.options.given_options import duration_ms, interval_faults


@pytest.mark.parametrize(
    ("text", "expected"),
    [("15m", 900_000), ("30s", 30_000), ("500ms", 500), ("250", 250), ("2 h", 7_200_000)],
)
def test_times_are_written_as_spark_does(text: str, expected: int) -> None:
    assert duration_ms(text) == expected
    for bad in ("", "m", "5 weeks", "-1s"):
        with pytest.raises(ValueError, match="is not a time"):
            duration_ms(bad)


@pytest.mark.parametrize(
    "text",
    ["1 hour", "10 MINUTES", "interval 1 day 2 hours", "0.5 seconds", "INTERVAL '1' HOUR"],
)
def test_intervals_are_written_as_spark_does(text: str) -> None:
    assert list(interval_faults("within", text)) == []


@pytest.mark.parametrize("text", ["1 hou", "", "1", "hour", "10minutes", "-1 hour", "1 hour x"])
def test_an_interval_that_spark_would_refuse_is_a_fault(text: str) -> None:
    (fault,) = interval_faults("within", text)
    assert fault.startswith(f"within={text!r} is not an interval such as 10 minutes")
