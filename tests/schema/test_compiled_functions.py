"""Functions that were compiled before the program began, and the others."""

import subprocess
import sys
from pathlib import Path

import pytest

from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.schema.compiled_functions import compiled_function
from aiokafka_lite.schema.field_types import Int32, field
from aiokafka_lite.schema.message import Message

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
def is_loaded():
    return "aiokafka_lite.schema.compiler" in sys.modules
request = HeartbeatRequest(group_id="readers", generation_id=3, member_id="me")
newest = b"".join(request.encode(4))
print(HeartbeatResponse.decode(bytes(6) + bytes(1), 4), is_loaded())
older = b"".join(request.encode(3))
print(HeartbeatRequest.decode(newest, 4) == HeartbeatRequest.decode(older, 3), is_loaded())
"""


class Unlisted(Message, versions="0-1"):
    number: Int32 = field(doc="A number.")


def test_the_newest_version_needs_no_compiler_and_an_older_one_does() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["HeartbeatResponse() False", "True True"]


def test_a_message_without_such_a_file_has_no_compiled_function() -> None:
    assert compiled_function(Unlisted, "encode_Unlisted_v0") is None
    assert Unlisted(number=7).encode(0) == [b"\0\0\0\7"]


def test_a_class_of_the_program_itself_has_no_compiled_function() -> None:
    assert compiled_function(type("Own", (), {"__module__": "__main__"}), "init_Own") is None


def test_a_wrong_argument_is_refused_with_the_name_of_the_class() -> None:
    with pytest.raises(TypeError, match=r"FetchRequest\.__init__\(\) got .* argument 'epoch'"):
        FetchRequest(epoch=1)  # type: ignore[call-arg]


def test_a_module_that_the_compiled_file_lacks_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "declared_elsewhere" / "compiled"
    folder.mkdir(parents=True)
    (folder / "compiled_words.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    words = type("Words", (), {"__module__": "declared_elsewhere.words"})
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        compiled_function(words, "init_Words")
