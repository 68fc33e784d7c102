"""Where to go without a position: an end of the log, or some time back from now (KIP-1106)."""

import pytest

from aiokafka_lite.consumer.offset_reset import (
    ByDuration,
    OffsetResetStrategy,
    parse_duration_ms,
)

HOUR_MS = 3_600_000


# The examples of java.time.Duration.parse's documentation, and its corners.
@pytest.mark.parametrize(
    ("text", "expected_ms"),
    [
        ("PT20.345S", 20_345),
        ("PT15M", 900_000),
        ("PT10H", 10 * HOUR_MS),
        ("P2D", 48 * HOUR_MS),
        ("P2DT3H4M", 51 * HOUR_MS + 240_000),
        ("-PT-6H+3M", 6 * HOUR_MS - 180_000),
        ("PT0S", 0),
        ("pt1h", HOUR_MS),
        ("PT1,5S", 1_500),
        ("PT0.0019S", 1),
        ("+PT+1M-30S", 30_000),
        ("-PT-0.5S", 500),
    ],
)
def test_durations_are_read_as_java_reads_them(text: str, expected_ms: int) -> None:
    assert parse_duration_ms(text) == expected_ms


@pytest.mark.parametrize(
    "text",
    ["", "P", "PT", "P1DT", "1H", "PT1", "P1Y", "P1M", "PT1.5H", "P\N{ARABIC-INDIC DIGIT ONE}D"],
)
def test_what_is_no_duration_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(ValueError, match="write days, hours"):
        parse_duration_ms(text)


@pytest.mark.parametrize("text", ["-PT1H", "PT-1S", "PT-0.001S", "P-1DT1H"])
def test_a_negative_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="negative duration"):
        parse_duration_ms(text)


def test_options_name_an_end_of_the_log_a_duration_or_nothing() -> None:
    from_option = OffsetResetStrategy.from_option
    assert from_option("earliest") is OffsetResetStrategy.EARLIEST
    assert from_option("latest") is OffsetResetStrategy.LATEST
    assert from_option("none") is None
    assert from_option("by_duration:PT1H") == ByDuration(HOUR_MS)
    with pytest.raises(ValueError, match="none of 'earliest', 'latest', 'none'"):
        from_option("newest")


def test_2c_6_a_duration_counts_back_from_now_and_never_below_the_epoch() -> None:
    assert ByDuration(HOUR_MS).timestamp(HOUR_MS + 5) == 5
    assert ByDuration(HOUR_MS).timestamp(5) == 0
    assert OffsetResetStrategy.LATEST.timestamp(5) == -1
    assert OffsetResetStrategy.EARLIEST.timestamp(5) == -2


def test_labels_are_the_options_words() -> None:
    assert OffsetResetStrategy.LATEST.label == "latest"
    assert ByDuration(1500).label == "by_duration:PT1.5S"
