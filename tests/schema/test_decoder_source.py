"""The shape of generated decoders; what they do is in test_compiler."""

import pytest

from aiokafka_lite.protocol.messages.fetch import FetchResponse
from aiokafka_lite.protocol.messages.metadata import MetadataResponse
from aiokafka_lite.schema.decoder_source import DecoderSource, has_records, min_size
from aiokafka_lite.schema.versioned_struct import Struct, fields_of
from tests.schema.declared import Answer, Everything, Inner


def source_of(cls: type[Struct], version: int, flexible: bool) -> str:
    return DecoderSource(cls, version, flexible, "label").text()


def test_a_run_of_fixed_fields_and_the_next_length_is_one_unpack() -> None:
    """The hottest struct of a consumer: partition, error, three offsets and a count in one call."""
    assert "n = unpack_from_ihqqqB(buf, pos)" in source_of(FetchResponse, 18, flexible=True)


def test_nested_structs_are_loops_of_one_function() -> None:
    source = source_of(MetadataResponse, 13, flexible=True)
    assert source.count("def ") == 1
    assert source.count("for _ in range(n):") >= 3


def test_only_frames_with_records_are_kept_as_views() -> None:
    assert "buf = memoryview(view)" in source_of(FetchResponse, 4, flexible=False)
    assert "buf = bytes(view)" in source_of(MetadataResponse, 13, flexible=True)
    assert has_records(Everything, 0)
    assert not has_records(Answer, 0)


@pytest.mark.parametrize(
    ("version", "flexible", "size"), [(0, False, 4), (1, False, 6), (2, True, 6), (3, True, 6)]
)
def test_least_size_counts_what_the_version_has(version: int, flexible: bool, size: int) -> None:
    assert min_size(Inner, version, flexible) == size


def test_least_size_of_each_kind_of_field() -> None:
    kinds = {field.name: field.type for field in fields_of(Everything)}
    names = ("flag", "large", "id", "text", "blob", "batches", "numbers")
    assert [min_size(kinds[name], 0, flexible=False) for name in names] == [1, 8, 16, 2, 4, 4, 4]
    assert [min_size(kinds[name], 2, flexible=True) for name in names] == [1, 8, 16, 1, 1, 1, 1]
