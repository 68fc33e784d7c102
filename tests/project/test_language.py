"""Docstrings, comments and pages are plain English: short sentences without banned words.

The fixed phrases of docstrings have one form each, which `docs/glossary.md` lists.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.support.documents import ROOT

MOST_WORDS: Final = 25
BANNED: Final = re.compile(
    r"\b(?:whoever|whomever|who asks|who waits|for who|to who|by who|of who|"
    r"nobody (?:asks|waits|wants|hears)|is had|are had|is told of|are told of|it is told|"
    r"as there|as above|see above|the way in|the way out|goes along)\b",
    re.IGNORECASE,
)
OTHER_FORM: Final = re.compile(
    r"\bRaises\b(?!: [^-])|\bRaises: `?\w+`?(?:, `?\w+`?)*: |"
    r"(?:^|[.:;)] )(?:If |When |Once )?[Cc]ancelled\b(?=[ ,])|"
    r"\bPlain[.:]|\bnever waits\.|\b(?:Never|Nothing(?: here)?) waits\b|\b[Nn]o waiting\b|"
    r"\b(?:[Ii]t|and|also) does not wait\."
)
"""Forms of the fixed phrases other than "Raises: X for …", "Cancelled: …" and "Does not wait."."""

SOURCES: Final = [
    *sorted((ROOT / "aiokafka_lite").rglob("*.py")),
    *sorted((ROOT / "aiokafka_lite").rglob("*.p[yx][xd]")),
    *(
        path
        for folder in ("examples", "benchmarks", "tests/soak", "tests/faults", "tests/support")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ),
]
PAGES: Final = [
    ROOT / "DESIGN.md",
    ROOT / "README.md",
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]

DOCSTRING: Final = re.compile(r'^[ ]*[rR]?"""(.*?)"""', re.DOTALL | re.MULTILINE)
DIRECTIVE: Final = re.compile(r"!|:? ?(?:noqa|type:|pragma|fmt:|mypy|pyright|cython:|distutils:)")
CODE: Final = re.compile(r"``.+?``|`[^`\n]+`|https?://\S+")
LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")
COLUMNS: Final = re.compile(r"\S {3,}\S")
MARK: Final = re.compile(r"^(?:[-*] |\d+\. |#+ |> )")
END: Final = re.compile(
    r"(?<=[.!?])[\"')\]*_]*\s+(?=[\"'(\[`*_]*(?:[A-Z0-9{(<…]|v\d))"
    r"|(?<=[a-z)][a-z)][a-z)][.!?])\s+(?=[a-z])"
    r"|(?<=[a-z)\"`]):\s+(?=[A-Z][a-z]+ [a-z])"
)
ABBREVIATED: Final = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|no|al)\.$")
WORD: Final = re.compile(r"[A-Za-z0-9_][\w'/.,:-]*")
IN_BRACKETS: Final = re.compile(
    r"\((?:(?:[A-Z]+-?\d+|2?[A-Ha-h]'?-?\d+[\d.]*)(?:, | and | to )?)+\)"
)


def code_prose(text: str) -> Iterator[str]:
    """Yield docstrings and comments, a block of comment lines as one.

    Lines are enough to find them, in Python and in Cython, and take a tenth of a tokenizer's time.
    """
    yield from (found[1] for found in DOCSTRING.finditer(text))
    block: list[str] = []
    for line in DOCSTRING.sub("\n", text).split("\n"):
        code, mark, comment = line.partition("#")
        is_comment = mark and code.count('"') % 2 == 0 and code.count("'") % 2 == 0
        if block and (not is_comment or code.strip()):
            yield "\n".join(block)
            block = []
        if is_comment and not DIRECTIVE.match(comment):
            block.append(comment.removeprefix(":").removeprefix(" "))
        if block and code.strip():
            yield "\n".join(block)
            block = []


def page_prose(text: str) -> Iterator[str]:
    """Yield a page without its code, with the cells of its tables one by one."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<[^>\n]+>", "", LINK.sub(r"\1", text))
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.lstrip().startswith("|"):
            yield from (cell for line in paragraph.split("\n") for cell in line.split("|"))
        else:
            yield paragraph


def paragraphs(prose: str) -> Iterator[str]:
    """Yield what belongs together, without code, tables and indented examples."""
    for block in re.split(r"\n\s*\n", prose.replace("\t", "    ")):
        lines = block.split("\n")
        rest = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
        if min(rest, default=0) >= 8 and not prose.startswith(block):
            continue
        base = min(rest, default=0)
        part: list[str] = []
        for number, line in enumerate(lines):
            inner = line.strip()
            indent = len(line) - len(line.lstrip()) if number else base
            is_listed = bool(MARK.match(inner)) or (indent > base and ":" in inner[:40])
            is_drawn = not inner or inner[0] in "|├└│+=" or COLUMNS.search(inner) is not None
            if part and (is_listed or is_drawn):
                yield " ".join(part)
                part = []
            if not is_drawn:
                part.append(MARK.sub("", inner))
        if part:
            yield " ".join(part)


def sentences(prose: str) -> Iterator[str]:
    for paragraph in paragraphs(prose):
        rest = ""
        for piece in END.split(IN_BRACKETS.sub("", CODE.sub("CODE", paragraph))):
            rest = f"{rest} {piece}" if rest else piece
            if not ABBREVIATED.search(rest):
                yield rest
                rest = ""
        if rest:
            yield rest


def is_list(sentence: str) -> bool:
    """Say whether a sentence lists things: errors with their causes, versions, names."""
    return (
        sentence.count(";") >= 2
        or sentence.count(",") >= 6
        or sentence.startswith(("Raises:", "Source:"))
    )


def words_of(sentence: str) -> int:
    """Count the words; of a list, those of its longest item."""
    if not is_list(sentence):
        return len(WORD.findall(sentence))
    return max(len(WORD.findall(item)) for item in re.split(r"[;,]", sentence))


@cache
def faults(path: Path) -> tuple[str, ...]:
    """Return the sentences of a file that are too long or have a banned word."""
    text = path.read_text(encoding="utf-8")
    prose = page_prose if path.suffix == ".md" else code_prose
    return tuple(
        sentence
        for part in prose(text)
        for sentence in sentences(part)
        if (len(sentence) > 60 and words_of(sentence) > MOST_WORDS) or BANNED.search(sentence)
    )


@pytest.mark.parametrize("path", [*SOURCES, *PAGES], ids=lambda path: str(path.relative_to(ROOT)))
def test_sentences_are_short_and_in_plain_words(path: Path) -> None:
    """At most 25 words a sentence, none of them banned."""
    shown = "\n".join(f"- {sentence}" for sentence in faults(path))
    assert not shown, f"{path} needs shorter or plainer sentences:\n{shown}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_fixed_phrases_have_one_form(path: Path) -> None:
    """A docstring says "Raises: …", "Cancelled: …" and "Does not wait.", and never otherwise."""
    found = [
        text[max(0, other.start() - 40) : other.end() + 40]
        for docstring in DOCSTRING.finditer(path.read_text(encoding="utf-8"))
        for text in [" ".join(docstring[1].split())]
        for other in OTHER_FORM.finditer(text)
    ]
    shown = "\n".join(f"- …{each}…" for each in found)
    assert not shown, f"{path} needs the form that docs/glossary.md gives:\n{shown}"


def test_the_check_finds_what_it_is_for() -> None:
    """A long sentence and a banned word are found; code, names and references are not words."""
    long = "One sentence " + "with another word " * 10 + "is too long."
    assert [s for s in sentences(long) if words_of(s) > MOST_WORDS] == [long]
    assert [s for s in sentences("It is asked by whoever comes. Not here.") if BANNED.search(s)]
    assert words_of(next(iter(sentences("See `a b c` at https://x.y/z (KIP-98, KIP-447).")))) == 4


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
def test_another_form_of_a_fixed_phrase_is_found(text: str) -> None:
    """Each other form is found; the form of the glossary is not."""
    assert OTHER_FORM.search(text)
    assert not OTHER_FORM.search("Raises: X for 0; Y if 1. Cancelled: as `f`. Does not wait.")
