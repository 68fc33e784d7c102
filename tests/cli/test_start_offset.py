"""Places in a partition, as kcat and rpk spell them."""

import pytest
import typer

from aiokafka_lite.cli.start_offset import StartOffset, parse_offset, parse_range, parse_time

NOW_MS = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("start", StartOffset("start", 0)),
        ("beginning", StartOffset("start", 0)),
        ("oldest", StartOffset("start", 0)),
        ("latest", StartOffset("end", 0)),
        ("7", StartOffset("zero", 7)),
        ("-7", StartOffset("end", -7)),
        ("+7", StartOffset("start", 7)),
        ("@1600000000123", StartOffset("time", 1_600_000_000_123)),
        ("@1600000000", StartOffset("time", 1_600_000_000_000)),
        ("@-90s", StartOffset("time", NOW_MS - 90_000)),
        ("-2h", StartOffset("time", NOW_MS - 7_200_000)),
        ("2023-11-14T22:13:20", StartOffset("time", NOW_MS)),
        ("@2023-11-14T23:13:20+01:00", StartOffset("time", NOW_MS)),
    ],
)
def test_every_spelling(text: str, place: StartOffset) -> None:
    assert parse_offset(text, NOW_MS) == place


@pytest.mark.parametrize("text", ["yesterday", "@", "", "-", "+x", "s@1"])
def test_an_unknown_offset_names_the_forms(text: str) -> None:
    with pytest.raises(typer.BadParameter, match=r"start, end, N, -N") as caught:
        parse_offset(text, NOW_MS)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("text", [str(1 << 63), f"-{1 << 63}", f"@{1 << 63}"])
def test_a_number_beyond_the_protocol_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="largest is 9223372036854775807") as caught:
        parse_offset(text, NOW_MS)
    assert text in str(caught.value)


def test_a_time_needs_no_at_sign() -> None:
    for text in ("@-90s", "-90s"):
        assert parse_time(text, NOW_MS) == NOW_MS - 90_000
    assert parse_time("12", NOW_MS) == 12
    with pytest.raises(typer.BadParameter):
        parse_time("end", NOW_MS)


def test_a_range_has_one_start_and_one_end() -> None:
    start, end = StartOffset("time", 1), StartOffset("time", 2)
    assert parse_range(["s@1", "e@2"], NOW_MS) == (start, end)
    assert parse_range(["e@2", "@1"], NOW_MS) == (start, end)
    assert parse_range(["e@2"], NOW_MS) == (StartOffset("start", 0), end)
    assert parse_range(["7"], NOW_MS) == (StartOffset("zero", 7), None)
    for twice in (["1", "s@1"], ["e@1", "e@2"]):
        with pytest.raises(typer.BadParameter, match="one start"):
            parse_range(twice, NOW_MS)


def test_an_offset_stays_inside_what_the_partition_holds() -> None:
    assert StartOffset("zero", 5).resolve(10, 20) == 10
    assert StartOffset("zero", 50).resolve(10, 20) == 20
    assert StartOffset("end", -3).resolve(10, 20) == 17
    assert StartOffset("time", 1).resolve(10, 20, 12) == 12
    assert StartOffset("time", 1).resolve(10, 20, None) == 20
