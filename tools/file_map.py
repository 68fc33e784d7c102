"""Prints the map of all files of the package: `make file-map`. The site has it as a page.

Each line is the first sentence of a file's docstring.
"""

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = "aiokafka_lite"

_HEAD: Final = """# The files, room by room

Made from the first sentence of each file. [DESIGN.md](../DESIGN.md) says how the
rooms stand on each other. A file `x.py` with twins has two files beside it: `_x.pyx` is
compiled, `_x_py.py` is pure Python.
"""
_SENTENCE_END: Final = re.compile(r"(?<=[.:])\s+(?=[A-Z`])|\n\n")


def file_map() -> str:
    """Return the text of the page."""
    rooms: dict[str, list[str]] = defaultdict(list)
    for file in sorted((ROOT / PACKAGE).rglob("*.py")):
        if file.name == "__init__.py" or _is_twin(file):
            continue
        room = file.parent.relative_to(ROOT).as_posix()
        link = f"../{file.relative_to(ROOT).as_posix()}"
        rooms[room].append(f"- [{file.name}]({link}): {_first_sentence(file)}")
    parts = [_HEAD]
    for room in sorted(rooms):
        parts.append(f"\n## {room}/\n\n" + "\n".join(rooms[room]) + "\n")
    return "".join(parts)


def _is_twin(file: Path) -> bool:
    return file.name.startswith("_") and file.name.endswith("_py.py")


def _first_sentence(file: Path) -> str:
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    sentence = " ".join(_SENTENCE_END.split(text, maxsplit=1)[0].split())
    return sentence.rstrip(".:")


def main() -> None:
    """Print the page."""
    print(file_map())


if __name__ == "__main__":
    main()
