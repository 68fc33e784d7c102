"""Makes the names of aiokafka's inside when they are first used, from the table `inside_names`.

Constants, enums, structs and requests are what they are in aiokafka. A class or function that
nothing here stands for is a shell: it can be imported, annotated with, derived from, and patched.
It raises when it is used, and names the public way.
"""

import enum
import logging
from ast import literal_eval
from collections.abc import Callable, Mapping
from importlib import import_module
from inspect import Parameter
from typing import Any, Final, Generic, NamedTuple, NoReturn, TypeVar

from aiokafka_lite.compat import wire
from aiokafka_lite.compat.inside_table import entries
from aiokafka_lite.compat.requests import request_builder

AIOKAFKA: Final = "aiokafka"

PUBLIC_WAYS: Final[Mapping[str, str]] = {
    "admin": "AIOKafkaAdminClient",
    "client": "AIOKafkaClient",
    "cluster": "force_metadata_update(), add_topic() and fetch_all_metadata() of AIOKafkaClient",
    "conn": "AIOKafkaClient, whose ready() connects and whose send() asks a node",
    "consumer.fetcher": "getone() and getmany() of AIOKafkaConsumer",
    "consumer.group_coordinator": "AIOKafkaConsumer with a group_id, its commit() and committed()",
    "consumer.subscription_state": "subscribe(), assign(), seek() and pause() of AIOKafkaConsumer",
    "coordinator": "partition_assignment_strategy of AIOKafkaConsumer",
    "producer": "AIOKafkaProducer, its send(), create_batch() and send_batch()",
    "producer.transaction_manager": "begin_transaction() and its like of AIOKafkaProducer",
    "protocol": "send() of AIOKafkaClient with a request of aiokafka.protocol",
    "record": "create_batch() of AIOKafkaProducer, and getmany() of AIOKafkaConsumer",
}
"""Path of a module, or of one above it -> what programs use in its place."""

_TYPES: Final[Mapping[str, Any]] = {
    "i8": wire.Int8,
    "i16": wire.Int16,
    "i32": wire.Int32,
    "u32": wire.UInt32,
    "i64": wire.Int64,
    "f64": wire.Float64,
    "bool": wire.Boolean,
    "bytes": wire.Bytes,
    "cbytes": wire.CompactBytes,
    "tags": wire.TaggedFields,
    "str": wire.String(),
    "cstr": wire.CompactString(),
}
_ARRAYS: Final = {"[": (wire.Array, "]"), "<": (wire.CompactArray, ">")}

Find = Callable[[str, str], Any]
"""Finds a name of one of aiokafka's modules by the module's path and the name."""


def make(path: str, name: str, find: Find) -> Any:
    """Return what the name of a module stands for. `find` finds what it is made of.

    Raises: KeyError for a name that the module does not have.
    """
    kind, words = entries(path)[name]
    return _MAKERS[kind](path, name, words, find)


def _from(path: str, name: str, words: list[str], find: Find) -> Any:
    home, _, qualified = words[0].partition(":")
    if home.split(".")[0] == AIOKAFKA:
        return find(home.partition(".")[2], qualified)
    try:
        return getattr(import_module(home), qualified)
    except ImportError:  # of a library that aiokafka needs, and this package does not
        return _shell(path, name, ["builtins:object"], find)


def _module(path: str, name: str, words: list[str], find: Find) -> Any:  # noqa: ARG001
    try:
        return import_module(words[0])
    except ImportError:
        return None


def _value(path: str, name: str, words: list[str], find: Find) -> Any:  # noqa: ARG001
    return literal_eval(" ".join(words))


def _log(path: str, name: str, words: list[str], find: Find) -> Any:  # noqa: ARG001
    return logging.getLogger(words[0])


def _typevar(path: str, name: str, words: list[str], find: Find) -> Any:  # noqa: ARG001
    return TypeVar(name)


def _union(path: str, name: str, words: list[str], find: Find) -> Any:  # noqa: ARG001
    found = find(path, words[0])
    for word in words[1:]:
        found |= find(path, word)
    return found


def _enum(path: str, name: str, words: list[str], find: Find) -> Any:  # noqa: ARG001
    base: Any = getattr(enum, words[0])
    members = {each: literal_eval(value) for each, value in _assigned(words[1:])}
    made = base(name, members)
    made.__module__ = f"{AIOKAFKA}.{path}"
    return made


def _tuple(path: str, name: str, words: list[str], find: Find) -> Any:  # noqa: ARG001
    return NamedTuple(name, [(each, Any) for each in words])


# Structs and requests…


def _struct(path: str, name: str, words: list[str], find: Find) -> Any:
    return _class(path, name, (wire.Struct,), {"SCHEMA": _schema(path, words[0], find)})


def _response(path: str, name: str, words: list[str], find: Find) -> Any:
    key, version, schema = words
    body = {
        "API_KEY": int(key),
        "API_VERSION": int(version),
        "SCHEMA": _schema(path, schema, find),
    }
    return _class(path, name, (wire.Response,), body)


def _request(path: str, name: str, words: list[str], find: Find) -> Any:
    (key, version, response, schema), constants = _apart(words)
    body = {
        **constants,
        "API_KEY": int(key),
        "API_VERSION": int(version.rstrip("+")),
        "FLEXIBLE_VERSION": version.endswith("+"),
        "RESPONSE_TYPE": find(path, response),
        "SCHEMA": _schema(path, schema, find),
    }
    return _class(path, name, (wire.RequestStruct,), body)


def _builder(path: str, name: str, words: list[str], find: Find) -> Any:
    (key, versions, *told), constants = _apart(words)
    classes = [find(path, each) for each in versions.split(",")]
    parameters = [
        Parameter(each, Parameter.POSITIONAL_OR_KEYWORD, default=literal_eval(default))
        if default
        else Parameter(each, Parameter.POSITIONAL_OR_KEYWORD)
        for each, default in _assigned(told)
    ]
    body = request_builder(name, int(key.rstrip("?")), classes, parameters)
    body["ALLOW_UNKNOWN_API_VERSION"] = key.endswith("?")
    return _class(path, name, (wire.Request,), {**constants, **body})


def _apart(words: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Return what a class is made of, and its constants, whose words begin with `@`."""
    told = [word for word in words if not word.startswith("@")]
    constants = _assigned([word[1:] for word in words if word.startswith("@")])
    return told, {name: literal_eval(value) for name, value in constants}


def _schema(path: str, text: str, find: Find) -> wire.Schema:
    if text.startswith("="):
        schema: wire.Schema = find(path, text[1:]).SCHEMA
        return schema
    return _fields_of("" if text == "-" else text)


def _fields_of(text: str) -> wire.Schema:
    fields, depth, begin = [], 0, 0
    for place, character in enumerate(f"{text},"):
        depth += (character in "[<(") - (character in "]>)")
        if character == "," and depth == 0 and text:
            name, _, told = text[begin:place].partition(":")
            fields.append((name, _type(told)))
            begin = place + 1
    return wire.Schema(*fields)


def _type(text: str) -> Any:
    if text[0] == "(":
        return _fields_of(text[1:-1])
    if text[0] in _ARRAYS:
        return _ARRAYS[text[0]][0](_type(text[1:-1]))
    return _TYPES[text]


# Shells…


def _shell(path: str, name: str, words: list[str], find: Find) -> Any:
    bases = tuple(
        base
        for each in words[0].split(",")
        if (base := _from(path, name, [each], find)) not in (Generic, object)
    )
    refusal = _refusal(path, name)

    def __init__(self: Any, *_: Any, **__: Any) -> None:  # noqa: N807, ARG001
        refusal()

    body: dict[str, Any] = {"__init__": __init__} if bytes not in bases else {}
    for member, value in _assigned(words[1:]):
        body[member.rstrip("()!")] = _member(path, f"{name}.{member}", value)
    return _class(path, name, bases, body)


def _member(path: str, name: str, value: str) -> Any:
    if value:
        return literal_eval(value)
    if name.endswith("()"):
        return _function(path, name.removesuffix("()"), [], None)
    if name.endswith("!"):
        return _coroutine(path, name.removesuffix("!"), [], None)
    refusal = _refusal(path, name)

    def attribute(self: Any) -> NoReturn:  # noqa: ARG001
        try:
            refusal()
        except NotImplementedError as error:
            raise AttributeError(str(error)) from None

    return property(attribute)


def _function(path: str, name: str, words: list[str], find: Any) -> Any:  # noqa: ARG001
    refusal = _refusal(path, name)

    def function(*_: Any, **__: Any) -> NoReturn:
        refusal()

    return _named(function, path, name)


def _coroutine(path: str, name: str, words: list[str], find: Any) -> Any:  # noqa: ARG001
    refusal = _refusal(path, name)

    async def function(*_: Any, **__: Any) -> NoReturn:
        refusal()

    return _named(function, path, name)


def _refusal(path: str, name: str) -> Callable[[], NoReturn]:
    """Return what raises that the name cannot be used, and what can."""

    def refuse() -> NoReturn:
        raise NotImplementedError(
            f"{AIOKAFKA}.{path}.{name} belongs to the inside of aiokafka, and aiokafka_lite has "
            f"nothing in its place; use {public_way(path)}. docs/moving.md says more"
        )

    return refuse


def complete(kind: Any, path: str) -> None:
    """Give a class that stands for one of the inside those members that it does not have.

    They raise, as those of a shell do, and so does an attempt to make one.
    """
    name = kind.__name__
    for member, value in _assigned(entries(path)[name].words[1:]):
        bare = member.rstrip("()!")
        if not hasattr(kind, bare):
            setattr(kind, bare, _member(path, f"{name}.{member}", value))
    refusal = _refusal(path, name)
    kind.__init__ = lambda *_, **__: refusal()
    kind.__module__ = f"{AIOKAFKA}.{path}"


def refused(path: str, name: str) -> Any:
    """Return a function in place of one of the inside: it raises, and names the public way."""
    return _function(path, name, [], None)


def public_way(path: str) -> str:
    """Return what programs use in place of a module of the inside."""
    while path not in PUBLIC_WAYS and path:
        path = path.rpartition(".")[0]
    return PUBLIC_WAYS.get(path, "AIOKafkaProducer, AIOKafkaConsumer or AIOKafkaAdminClient")


def _class(path: str, name: str, bases: tuple[Any, ...], body: dict[str, Any]) -> Any:
    told = {"__module__": f"{AIOKAFKA}.{path}", "__doc__": f"aiokafka's {name}; see `inside`."}
    kind: Any = type(bases[0]) if bases else type
    return kind(name, bases, {**told, **body})


def _named(function: Any, path: str, name: str) -> Any:
    function.__module__ = f"{AIOKAFKA}.{path}"
    function.__qualname__ = name
    function.__name__ = name.rpartition(".")[2]
    return function


def _assigned(words: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of words such as `name=value`; without a value it is empty."""
    pairs = [word.partition("=") for word in words]
    return [(name, value) for name, _, value in pairs]


_MAKERS: Final[Mapping[str, Callable[[str, str, list[str], Find], Any]]] = {
    "async": _coroutine,
    "builder": _builder,
    "class": _shell,
    "enum": _enum,
    "from": _from,
    "function": _function,
    "log": _log,
    "module": _module,
    "request": _request,
    "response": _response,
    "struct": _struct,
    "tuple": _tuple,
    "typevar": _typevar,
    "union": _union,
    "value": _value,
}

__all__ = ["AIOKAFKA", "complete", "make", "public_way", "refused"]
