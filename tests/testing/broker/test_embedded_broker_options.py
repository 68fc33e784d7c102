"""The type of an embedded broker's options has the fields of BrokerOptions."""

import dataclasses
import inspect

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.embedded_broker_options import EmbeddedBrokerOptions
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from tests.support.documents import ROOT
from tools.write_options import files


def test_every_option_is_a_key_that_may_be_left_out() -> None:
    names = {field.name for field in dataclasses.fields(BrokerOptions)}
    assert EmbeddedBrokerOptions.__optional_keys__ == names
    assert names < inspect.signature(EmbeddedBroker).parameters.keys()


def test_the_file_is_what_make_options_writes() -> None:
    path = "aiokafka_lite/testing/broker/embedded_broker_options.py"
    assert (ROOT / path).read_text(encoding="utf-8") == files()[path]


def test_an_unknown_option_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(TypeError, match=r"'num_partition'; did you mean 'num_partitions'\?$"):
        EmbeddedBroker(num_partition=3)  # type: ignore[call-arg]
    with (
        pytest.raises(TypeError, match=r"'rack'; did you mean 'racks'\?$"),
        EmbeddedBroker.threaded(rack=["a"]),  # type: ignore[call-arg]
    ):
        pass
