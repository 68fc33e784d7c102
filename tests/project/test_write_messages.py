"""The compiled functions of messages are made from their declarations."""

import pytest

from aiokafka_lite.protocol.api_registry import API_BY_KEY
from tests.support.documents import ROOT
from tools.write_messages import FOLDER, VERSIONS, files

NEWEST = {
    each.request.__module__.rpartition(".")[2]: each.versions.max for each in API_BY_KEY.values()
}


def test_the_files_are_what_make_messages_writes() -> None:
    made = files()
    found = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in (ROOT / FOLDER).glob("*.py")
        if path.name != "__init__.py"
    }
    assert found.keys() == made.keys(), "run `make messages`"
    differ = [name for name, text in made.items() if found[name] != text]
    assert not differ, "run `make messages`"


@pytest.mark.parametrize("stem", sorted(VERSIONS.keys() - {"find_coordinator"}))
def test_the_newest_version_is_among_them(stem: str) -> None:
    """A broker as new as this library is asked in it."""
    assert max(VERSIONS[stem]) == NEWEST[stem]
