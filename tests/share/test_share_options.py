"""The type of a share consumer's options has the fields of ShareConsumerConfig."""

import dataclasses

from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.share.share_options import ShareConsumerOptions
from tests.support.documents import ROOT
from tools.write_options import files


def test_every_option_is_a_key_that_may_be_left_out() -> None:
    names = {field.name for field in dataclasses.fields(ShareConsumerConfig) if field.init}
    assert ShareConsumerOptions.__optional_keys__ == names


def test_the_file_is_what_make_options_writes() -> None:
    path = "aiokafka_lite/share/share_options.py"
    assert (ROOT / path).read_text(encoding="utf-8") == files()[path]
