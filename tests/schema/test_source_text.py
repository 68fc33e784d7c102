from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.schema.source_text import SourceText


def test_blocks_indent_their_lines() -> None:
    source = SourceText()
    with source.block("if x:"), source.block("for y in x:"):
        source.add("pass")
    source.add("return x")
    assert source.text() == "if x:\n    for y in x:\n        pass\nreturn x\n"


def test_local_names_never_repeat() -> None:
    source = SourceText()
    assert source.local("item") != source.local("item")


def test_simple_values_are_spelled_out_and_others_named_once() -> None:
    source = SourceText()
    assert [source.literal(value) for value in (None, True, -1, "a'b", b"\x00")] == [
        "None",
        "True",
        "-1",
        '"a\'b"',
        "b'\\x00'",
    ]
    name = source.literal(ZERO_UUID)
    assert source.constants[name] is ZERO_UUID
    assert source.literal(ZERO_UUID) == name
    assert len(source.constants) == 1


def test_methods_of_one_layout_are_bound_once() -> None:
    source = SourceText()
    name = source.method("i?", "pack")
    assert source.constants[name](1, True) == b"\x00\x00\x00\x01\x01"
    assert source.method("i?", "pack") == name
