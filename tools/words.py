"""Prints sentences that a reviewer may want to look at: `make words`, for the files of a change.

Long sentences, words that this project avoids, and other forms of the fixed phrases of
`docs/glossary.md`. It is a reader's help and no law: what reads well may stay.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
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

READ: Final = {".md", ".py", ".pyx", ".pxd"}

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


def faults(path: Path) -> Iterator[str]:
    """Yield the long or odd sentences of a page or source file, then the phrases of other forms."""
    text = path.read_text(encoding="utf-8")
    prose = page_prose if path.suffix == ".md" else code_prose
    for part in prose(text):
        for sentence in sentences(part):
            if len(sentence) > 60 and (count := words_of(sentence)) > MOST_WORDS:
                yield f"{count} words: {sentence}"
            elif found := BANNED.search(sentence):
                yield f"{found[0]!r}: {sentence}"
    if path.suffix != ".md":
        for docstring in DOCSTRING.finditer(text):
            phrases = " ".join(docstring[1].split())
            for other in OTHER_FORM.finditer(phrases):
                around = phrases[max(0, other.start() - 40) : other.end() + 40]
                yield f"the glossary has another form: …{around}…"


def changed_files() -> list[Path]:
    """Return what differs from the main branch, and what is not committed."""
    commands = (
        "diff --name-only main...",
        "diff --name-only HEAD",
        "ls-files -o --exclude-standard",
    )
    names = {
        name
        for command in commands
        for name in subprocess.run(
            ["git", *command.split()], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    }
    return [ROOT / name for name in sorted(names)]


def main() -> None:
    """Print what was found in the files that are named, else in those of the change."""
    for path in [Path(name) for name in sys.argv[1:]] or changed_files():
        if path.suffix in READ and path.is_file():
            for fault in faults(path):
                print(f"{path.resolve().relative_to(ROOT)}: {fault}")


if __name__ == "__main__":
    main()
