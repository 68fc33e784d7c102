import pytest

from aiokafka_lite.schema.version_range import VersionRange


@pytest.mark.parametrize("text", ["3+", "0-12", "7", "none", "0+"])
def test_text_form_is_kafkas_both_ways(text: str) -> None:
    assert str(VersionRange.parse(text)) == text


@pytest.mark.parametrize("text", ["", "x", "3-", "-3", "+", "1-x", "None"])
def test_other_text_is_refused_with_the_forms_there_are(text: str) -> None:
    with pytest.raises(ValueError, match="is not a version range: write"):
        VersionRange.parse(text)


def test_both_ends_belong_to_the_range() -> None:
    span = VersionRange(3, 5)
    assert [version for version in range(8) if version in span] == [3, 4, 5]


def test_an_empty_range_is_false_and_holds_nothing() -> None:
    assert not VersionRange.NONE
    assert 0 not in VersionRange.NONE
    assert VersionRange.ALL


def test_the_common_part_of_two_ranges() -> None:
    assert VersionRange.parse("3+") & VersionRange.parse("1-7") == VersionRange(3, 7)
    assert not VersionRange.parse("3+") & VersionRange.parse("0-2")
