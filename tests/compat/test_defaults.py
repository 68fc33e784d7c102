"""Under the name `aiokafka` the defaults are aiokafka's; docs/moving.md says which hold where."""

import importlib
import inspect
import re
import warnings
from collections.abc import Mapping
from typing import Any

import aiokafka
import aiokafka.admin
import aiokafka.producer.producer
import pytest

import aiokafka_lite
from aiokafka_lite.compat import defaults
from aiokafka_lite.compat.defaults import DEFAULTS, with_defaults
from aiokafka_lite.compat.installation import found
from aiokafka_lite.compat.module_names import CLIENTS
from tests.support.documents import MOVING

THEIRS = {name: getattr(aiokafka, name, None) or getattr(aiokafka.admin, name) for name in CLIENTS}
OBJECTS = {"acks", "partitioner", "partition_assignment_strategy"}
"""Defaults that are objects of each package."""
METHODS_DIFFER: dict[tuple[str, str], set[str]] = {
    ("AIOKafkaProducer", "flush"): {"timeout_ms"},
    ("AIOKafkaProducer", "stop"): {"timeout_ms"},
    ("AIOKafkaConsumer", "committed"): {"metadata"},
    ("AIOKafkaConsumer", "stop"): {"timeout_ms", "group_membership_operation"},
    ("AIOKafkaAdminClient", "alter_configs"): {"timeout_ms", "validate_only"},
    ("AIOKafkaAdminClient", "describe_cluster"): {"timeout_ms"},
    ("AIOKafkaAdminClient", "describe_configs"): {"timeout_ms"},
    ("AIOKafkaAdminClient", "describe_consumer_groups"): {"timeout_ms"},
    ("AIOKafkaAdminClient", "describe_topics"): {"timeout_ms"},
    ("AIOKafkaAdminClient", "find_coordinator"): {"timeout_ms"},
    ("AIOKafkaAdminClient", "list_consumer_group_offsets"): {"timeout_ms"},
    ("AIOKafkaAdminClient", "list_consumer_groups"): {"timeout_ms"},
    ("AIOKafkaAdminClient", "list_topics"): {"timeout_ms"},
}
"""The parameters that a method has besides those of aiokafka. Each has a default."""


def made(name: str, **options: Any) -> Any:
    """A client under the name `aiokafka`; no option with its default causes a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return found("admin" if "Admin" in name else "", name)(**options)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_constructor_has_aiokafkas_signature(name: str) -> None:
    theirs = inspect.signature(THEIRS[name]).parameters
    ours = inspect.signature(found("admin" if "Admin" in name else "", name)).parameters
    assert ours.keys() == theirs.keys()
    for option, parameter in theirs.items():
        assert ours[option].kind == parameter.kind, option
        if option not in OBJECTS:
            assert ours[option].default == parameter.default, option
    for option in OBJECTS & theirs.keys():
        (mine, witness) = (ours[option].default, theirs[option].default)
        assert type(mine).__name__ == type(witness).__name__ or option == "acks"


@pytest.mark.parametrize("name", CLIENTS)
def test_every_default_may_be_handed_on(name: str) -> None:
    made(name, **DEFAULTS[name])


@pytest.mark.parametrize("name", CLIENTS)
def test_a_method_has_the_parameters_of_its_namesake(name: str) -> None:
    ours = found("admin" if "Admin" in name else "", name)
    for method, theirs in inspect.getmembers(THEIRS[name], inspect.isfunction):
        if method.startswith("_"):
            continue
        mine = inspect.signature(getattr(ours, method)).parameters
        witness = inspect.signature(theirs).parameters
        for parameter, declared in witness.items():
            assert mine[parameter].kind == declared.kind, (method, parameter)
            if method != "subscribe":
                assert mine[parameter].default == declared.default, (method, parameter)
        more = {each for each in mine if each not in witness}
        assert more == METHODS_DIFFER.get((name, method), set()), method
        assert all(mine[each].default is not inspect.Parameter.empty for each in more)


# The table of docs/moving.md…


def table() -> dict[tuple[str, str], list[str]]:
    """(class, option) -> what the columns of the table say: aiokafka, compat, aiokafka_lite."""
    page = MOVING.read_text(encoding="utf-8")
    begin = page.index("| client | option | aiokafka 0.14 |")
    rows = {}
    for line in page[begin:].splitlines()[2:]:
        if not line.startswith("|"):
            break
        client, option, *columns = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        rows[client, option] = [column.strip("`") for column in columns[:3]]
    return rows


def chosen(name: str, kind: Any) -> Mapping[str, Any]:
    """The options of a client that was given none but a group."""
    given = {"group_id": "g"} if name == "AIOKafkaConsumer" else {}
    config = kind(**given)._config
    return {
        option: getattr(config, option)
        for option in (*DEFAULTS[name], "max_block_ms", "default_api_timeout_ms")
        if hasattr(config, option)
    }


def shown(option: str, value: Any) -> str:
    if option == "client_id":
        value = value.replace(f"lite-{aiokafka_lite.__version__}", "lite-VERSION")
        return re.sub(r"\d+$", "N", value) if "producer" in value else value
    if option == "partition_assignment_strategy" and value:
        return ", ".join(each.__name__ for each in value)
    return str(value).replace("'", "")


@pytest.mark.parametrize("name", CLIENTS)
def test_the_page_has_each_default_that_differs(name: str) -> None:
    compat = chosen(name, found("admin" if "Admin" in name else "", name))
    lite = chosen(name, getattr(aiokafka_lite, name))
    assert {
        (option, shown(option, compat[option]), shown(option, lite[option]))
        for option in compat
        if shown(option, compat[option]) != shown(option, lite[option])
    } == {
        (option, columns[1], columns[2])
        for (client, option), columns in table().items()
        if client == name and columns[1] != columns[2]
    }


@pytest.mark.parametrize("name", CLIENTS)
def test_the_page_tells_aiokafkas_defaults(name: str) -> None:
    theirs = inspect.signature(THEIRS[name]).parameters
    for (client, option), (told, compat, _) in table().items():
        if client != name or option not in theirs:
            continue
        default = theirs[option].default
        if option == "client_id":
            assert told in (default, "aiokafka-producer-N")
        elif option == "acks":
            assert (told, compat) == ("1", "all")  # which stays ours
        elif option == "partition_assignment_strategy":
            assert told == ", ".join(each.__name__ for each in default)
        elif option == "rebalance_timeout_ms":
            assert told == str(theirs["session_timeout_ms"].default)
        else:
            assert told == str(default), option


# What is refused…


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize(
    "options",
    [
        {"security_protocol": "SOME"},
        {"security_protocol": "SSL"},
        {"security_protocol": "SASL_PLAINTEXT"},
        {"security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "SOME"},
        {"security_protocol": "SASL_PLAINTEXT", "sasl_plain_username": "me"},
    ],
    ids=str,
)
async def test_what_aiokafka_refuses_is_refused(name: str, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"only|mandatory|should be|required") as theirs:
        THEIRS[name](**options)
    with pytest.raises(ValueError, match=r"\w+") as ours:
        made(name, **options)
    if options.get("sasl_mechanism") != "SOME":
        assert str(ours.value) == str(theirs.value)


def test_options_of_this_package_are_taken_as_well() -> None:
    assert with_defaults("AIOKafkaProducer", {"max_block_ms": 7})["max_block_ms"] == 7
    assert made("AIOKafkaProducer", request_timeout_ms=9000)._config.max_block_ms == 9000
    tls = {"security_protocol": "SSL", "ssl_cadata": "x"}
    assert with_defaults("AIOKafkaClient", tls)["ssl_cadata"] == "x"
    newer = with_defaults("AIOKafkaConsumer", {"group_protocol": "consumer", "group_id": "g"})
    assert "partition_assignment_strategy" not in newer
    with pytest.raises(TypeError, match="did you mean 'linger_ms'"):
        made("AIOKafkaProducer", lingerms=5)


async def test_a_shared_client_keeps_its_options() -> None:
    client = made("AIOKafkaClient", request_timeout_ms=1234)
    producer = made("AIOKafkaProducer", client=client)
    assert producer._config.request_timeout_ms == 1234


def test_the_module_of_each_constructor_is_known() -> None:
    for path in CLIENTS.values():
        importlib.import_module(f"aiokafka_lite.{path}")


def test_the_default_of_acks_may_be_passed_on() -> None:
    assert hasattr(aiokafka.producer.producer, "_missing")
    aiokafka_lite.AIOKafkaProducer(acks=defaults._missing)
    assert defaults._DEFAULT_PARTITIONER(b"key", [0], [0]) == 0
