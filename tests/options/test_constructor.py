"""A constructor with `**options` looks like one that names each of them."""

import copy
import inspect
import pydoc
import subprocess
import sys
import typing
from dataclasses import dataclass, field
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.options.constructor import check_names, declare_options
from aiokafka_lite.options.units import Milliseconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    pause_ms: Milliseconds = 10_000
    """Time between two rounds. Java: pause.ms. Not in aiokafka."""
    place: str = "here"
    settled: int = field(default=1, init=False)


class Walker:
    """Walks in rounds."""

    def __init__(self, *roads: str, speed: int = 3, **options: Any) -> None:
        check_names(self, Walker.__init__, Settings, options)
        self.settings = Settings(**options)


declare_options(Walker, Settings)


def test_the_signature_has_the_fields_in_place_of_the_options() -> None:
    expected = "(*roads: str, speed: int = 3, pause_ms: int = 10000, place: str = 'here') -> None"
    assert str(inspect.signature(Walker)) == expected
    of_init = inspect.signature(Walker.__init__)
    assert str(of_init) == expected.replace("(", "(self, ", 1)
    assert of_init.parameters["pause_ms"].kind is inspect.Parameter.KEYWORD_ONLY
    assert copy.copy(of_init) == of_init == inspect.signature(Walker.__init__)
    assert not hasattr(of_init, "no_such_attribute")


def test_help_describes_each_option_behind_the_docstring() -> None:
    text = pydoc.plain(pydoc.render_doc(Walker))
    assert "Walks in rounds." in text
    assert "pause_ms: int = 10_000\n |          Time between two rounds. Java: pause.ms." in text
    assert 'place: str = "here"' in text
    assert "settled" not in text


def test_a_subclass_has_its_own_docstring_and_signature() -> None:
    class Runner(Walker):
        """Runs."""

        def __init__(self, name: str) -> None:
            super().__init__()

    assert Runner.__doc__ == "Runs."
    assert list(inspect.signature(Runner).parameters) == ["name"]

    class Quiet(Walker):
        pass

    assert Quiet.__doc__ is None
    assert inspect.signature(Quiet) == inspect.signature(Walker)


def test_a_name_that_is_no_field_is_refused_with_the_parameter_that_was_meant() -> None:
    with pytest.raises(TypeError, match=r"^Walker\(\) .* 'pause'; did you mean 'pause_ms'\?$"):
        Walker(pause=1)
    with pytest.raises(TypeError, match=r"'sped'; did you mean 'speed'\?$"):
        Walker(sped=1)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'settled'"):
        Walker(settled=2)
    assert Walker(pause_ms=1).settings.pause_ms == 1


@pytest.mark.parametrize("client", [AIOKafkaConsumer, AIOKafkaProducer])
def test_type_hints_of_the_constructors_can_be_resolved(client: Any) -> None:
    assert typing.get_type_hints(client.__init__)["options"] is Any


def test_an_import_of_the_clients_makes_neither_signatures_nor_help() -> None:
    program = (
        "import sys; from aiokafka_lite import AIOKafkaConsumer as C, AIOKafkaProducer as P;"
        "C('t', client_id='c'); P(client_id='p');"
        "late = {'declared_options', 'option_names', 'consumer_options', 'producer_options'};"
        "found = late & {name.rpartition('.')[2] for name in sys.modules};"
        "sys.exit(str(found) if found else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("client", [AIOKafkaConsumer, AIOKafkaProducer])
def test_stop_has_the_default_of_stop_timeout_ms(client: Any) -> None:
    option = inspect.signature(client).parameters["stop_timeout_ms"]
    assert inspect.signature(client.stop).parameters["timeout_ms"].default == option.default
