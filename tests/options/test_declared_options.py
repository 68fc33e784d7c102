"""Each option is described where it is declared, and the description is true of other clients."""

import inspect
import re
from dataclasses import dataclass

import aiokafka
import pytest

from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.options.declared_options import Option, declared_options, help_text
from aiokafka_lite.options.units import UNITS, Milliseconds, RetryCount
from aiokafka_lite.producer.producer_config import Acks, ProducerConfig
from aiokafka_lite.spark.options import kafka_keys

CLIENTS = {ConsumerConfig: aiokafka.AIOKafkaConsumer, ProducerConfig: aiokafka.AIOKafkaProducer}
EVERY = [
    pytest.param(config, option, id=f"{config.__name__}.{option.name}")
    for config in CLIENTS
    for option in declared_options(config)
]
UNIT_OF_SUFFIX = {"_ms": "milliseconds", "_bytes": "bytes"}
LONGEST_SENTENCE = 25


@dataclass(frozen=True, kw_only=True)
class Base:
    pause_ms: Milliseconds | None = 20_000
    """Time between two
    rounds. Java: pause.v2.ms. Not in aiokafka."""
    acks: Acks = "all"
    """Who answers. Not in Java."""
    bare: bool = True


@dataclass(frozen=True, kw_only=True)
class Derived(Base):
    tries: RetryCount = 1
    """Rounds. Only here."""
    bare: bool = False
    """Told anew. Java: bare."""


def test_a_declaration_is_read_from_the_source() -> None:
    pause, acks, bare, tries = declared_options(Derived)
    assert pause == Option(
        *("pause_ms", "int | None", 20_000, "milliseconds", "Time between two rounds."),
        *("pause.v2.ms", False, __name__),
    )
    assert pause.default_text == "20_000 milliseconds"
    assert pause.origin == "Java: pause.v2.ms. Not in aiokafka."
    assert (acks.type, acks.default_text) == ("Literal['all', -1, 0, 1]", '"all"')
    assert (acks.text, acks.java, acks.origin) == ("Who answers.", None, "Not in Java.")
    assert (bare.default, bare.text, bare.unit) == (False, "Told anew.", "")
    assert (tries.default_text, tries.origin) == ("1 retry", "Only here.")


def test_without_sources_names_types_and_defaults_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_source(_: object) -> str:
        raise OSError

    monkeypatch.setattr(inspect, "getsource", no_source)
    option = declared_options(Derived)[0]
    assert (option.name, option.type, option.default, option.text) == (
        *("pause_ms", "int | None", 20_000, ""),
    )
    assert "pause_ms: int | None = 20_000" in help_text(Derived)


@pytest.mark.parametrize(("config", "option"), EVERY)
def test_an_option_has_a_text_of_short_sentences(config: type, option: Option) -> None:
    assert option.text.endswith(".")
    assert "Java:" not in option.text
    for sentence in re.split(r"(?<=\.)\s+", option.text):
        assert len(sentence.split()) <= LONGEST_SENTENCE, sentence
    assert len(option.text.split()) <= 2 * LONGEST_SENTENCE


@pytest.mark.parametrize(("config", "option"), EVERY)
def test_a_number_has_the_unit_that_its_name_says(config: type, option: Option) -> None:
    for suffix, unit in UNIT_OF_SUFFIX.items():
        if option.name.endswith(suffix):
            assert option.unit == unit
    assert option.unit in {"", *UNITS.values()}
    assert option.unit or "int" not in option.type.split(" | ") or option.name.endswith("_level")


@pytest.mark.parametrize(("config", "option"), EVERY)
def test_aiokafka_has_the_option_if_its_text_says_so(config: type, option: Option) -> None:
    theirs = inspect.signature(CLIENTS[config]).parameters
    assert option.is_in_aiokafka is (option.name in theirs)


def test_java_has_the_names_that_spark_passes_on() -> None:
    for config, keys in (
        (ConsumerConfig, kafka_keys.CONSUMER),
        (ProducerConfig, kafka_keys.PRODUCER),
    ):
        java = {option.name: option.java for option in declared_options(config)}
        for name, (argument, _) in keys.items():
            assert java[argument] == name
