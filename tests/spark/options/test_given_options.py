"""Options are written as Spark writes them."""

import pytest

from aiokafka_lite.spark.options.given_options import duration_ms


@pytest.mark.parametrize(
    ("text", "expected"),
    [("15m", 900_000), ("30s", 30_000), ("500ms", 500), ("250", 250), ("2 h", 7_200_000)],
)
def test_times_are_written_as_spark_does(text: str, expected: int) -> None:
    assert duration_ms(text) == expected
    for bad in ("", "m", "5 weeks", "-1s"):
        with pytest.raises(ValueError, match="is not a time"):
            duration_ms(bad)
