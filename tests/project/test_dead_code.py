"""What no program uses is deleted: tests alone keep nothing alive."""

import ast
import functools
from fnmatch import fnmatchcase
from pathlib import Path

from vulture import Vulture

from tests.project.unused_names import UNUSED

ROOT = Path(__file__).parents[2]
PROGRAMS = ("aiokafka_lite", "benchmarks", "examples", "tools")
USERS_PROGRAMS = "tests/typing"
"""What these use is used; what they define may be unused."""
CALLED_THROUGH_DECORATORS = ["@*.command", "@*.get", "@pytest.fixture"]


class Finder(Vulture):  # type: ignore[misc]  # which has no types
    """Vulture for which a name in the `__all__` of a file is offered and not yet used.

    Those of the package itself are used: users import them.
    """

    def visit_Assign(self, node: ast.Assign) -> None:
        is_a_list = ast.unparse(node.targets[0]) == "__all__"
        if not is_a_list or self.filename.name == "__init__.py":
            super().visit_Assign(node)


@functools.cache
def unused() -> frozenset[tuple[str, str, int]]:
    """(file, name, line) of what nothing in the programs uses."""
    vulture = Finder(ignore_decorators=CALLED_THROUGH_DECORATORS)
    vulture.scavenge([ROOT / folder for folder in (*PROGRAMS, USERS_PROGRAMS)])
    found = {
        (item.filename.relative_to(ROOT).as_posix(), item.name, item.first_lineno)
        for item in vulture.get_unused_code(min_confidence=60)
    }
    return frozenset(each for each in found if not each[0].startswith(USERS_PROGRAMS))


def test_what_no_program_uses_is_deleted_or_has_a_reason() -> None:
    dead = [
        f"{file}:{line} {name}"
        for file, name, line in sorted(unused())
        if not any(
            fnmatchcase(file, files) and any(fnmatchcase(name, each) for each in names.split())
            for files, names, _ in UNUSED
        )
    ]
    assert not dead, "unused: delete it, or give the reason in tests/project/unused_names.py"


def test_names_that_may_be_unused_are_unused() -> None:
    used = [
        (files, name)
        for files, names, _ in UNUSED
        for name in names.split()
        if not any(fnmatchcase(file, files) and fnmatchcase(it, name) for file, it, _ in unused())
    ]
    assert used == []
