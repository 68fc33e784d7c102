"""The shape of generated encoders; what they do is in test_compiler."""

from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.schema.encoder_source import PASS_THROUGH_BYTES, EncoderSource
from tests.schema.declared import Everything


def test_a_partition_without_set_tags_is_one_pack() -> None:
    """The hottest struct of a fetch request, closed by the zero that means "no tagged fields"."""
    source = EncoderSource(FetchRequest, 12, True, "label").text()
    assert "pack_iiqiqix(" in source
    assert source.count("def ") == 1


def test_records_at_the_limit_are_joined_and_above_it_passed_through() -> None:
    at_limit = Everything(batches=bytes(PASS_THROUGH_BYTES - 1)).encode(3)
    above = Everything(batches=bytes(PASS_THROUGH_BYTES)).encode(3)
    assert (len(at_limit), len(above)) == (1, 3)
