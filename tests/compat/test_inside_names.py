"""The table of names is what `make aiokafka-names` writes from the installed aiokafka."""

from aiokafka_lite.compat.inside_names import NAMES
from tests.support.documents import ROOT
from tools.write_aiokafka_names import FILE, text


def test_the_table_is_what_make_writes() -> None:
    assert (ROOT / FILE).read_text(encoding="utf-8") == text(), "run `make aiokafka-names`"
    assert NAMES in text()
