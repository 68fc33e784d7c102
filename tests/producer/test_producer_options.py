"""The type of a producer's options has the fields of ProducerConfig."""

import dataclasses

from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.producer.producer_options import ProducerOptions
from tests.support.documents import ROOT
from tools.write_options import files


def test_every_option_is_a_key_that_may_be_left_out() -> None:
    names = {field.name for field in dataclasses.fields(ProducerConfig) if field.init}
    assert ProducerOptions.__optional_keys__ == names


def test_the_file_is_what_make_options_writes() -> None:
    path = "aiokafka_lite/producer/producer_options.py"
    assert (ROOT / path).read_text(encoding="utf-8") == files()[path]
