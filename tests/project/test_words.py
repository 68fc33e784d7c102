"""`make words` finds long sentences, words to avoid, and other forms of the fixed phrases."""

from pathlib import Path

import pytest

from tools.words import faults


def found(tmp_path: Path, docstring: str) -> list[str]:
    file = tmp_path / "some.py"
    file.write_text(f'"""{docstring}"""\n', encoding="utf-8")
    return list(faults(file))


def test_long_sentences_and_words_to_avoid_are_found(tmp_path: Path) -> None:
    long = "One sentence " + "with another word " * 10 + "is too long."
    assert found(tmp_path, long) == [f"35 words: {long}"]
    assert found(tmp_path, "Asked by whoever comes.") == ["'whoever': Asked by whoever comes."]


def test_names_links_and_references_are_no_words(tmp_path: Path) -> None:
    code = "See `a b c` at https://x.y/z (KIP-98, KIP-447). " + "A short one. " * 20
    assert (
        found(tmp_path, code + "Raises: X for 0; Y if 1. Cancelled: as `f`. Does not wait.") == []
    )


@pytest.mark.parametrize(
    "text",
    [
        "Raises ValueError.",
        "Raises: ValueError: it is 0.",
        "Raises, with nothing sent: TypeError.",
        "Cancelled, or stopped: nothing.",
        "A table. Plain.",
        "It does not wait.",
        "Nothing here waits.",
    ],
)
def test_another_form_of_a_fixed_phrase_is_found(text: str, tmp_path: Path) -> None:
    (line,) = found(tmp_path, text)
    assert line.startswith("the glossary has another form")
