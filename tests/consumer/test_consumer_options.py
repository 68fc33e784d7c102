"""The type of a consumer's options has the fields of ConsumerConfig."""

import dataclasses

from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.consumer_options import ConsumerOptions
from tests.support.documents import ROOT
from tools.write_options import files


def test_every_option_is_a_key_that_may_be_left_out() -> None:
    names = {field.name for field in dataclasses.fields(ConsumerConfig) if field.init}
    assert ConsumerOptions.__optional_keys__ == names


def test_the_file_is_what_make_options_writes() -> None:
    path = "aiokafka_lite/consumer/consumer_options.py"
    assert (ROOT / path).read_text(encoding="utf-8") == files()[path]
