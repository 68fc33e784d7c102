"""Writes what is made from the declarations of options: `make options`.

The declarations are the fields of the clients' configurations and of BrokerOptions. Made from them
are the types of the constructors' `**options`, which editors and type checkers show, and
docs/options.md.
"""

import ast
import builtins
import inspect
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.options.declared_options import Option, declared_options
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.testing.broker.state.broker_options import BrokerOptions
from tools import settings_table

ROOT: Final = Path(__file__).parents[1]
WIDTH: Final = 100

CONSTRUCTORS: Final[Mapping[str, str]] = {
    "client_id": "str | None",
    "key_deserializer": "AnyDeserializer[KT] | None",
    "value_deserializer": "AnyDeserializer[VT] | None",
    "key_serializer": "AnySerializer[K_contra] | None",
    "value_serializer": "AnySerializer[V_contra] | None",
}
"""Types that a constructor has and the finished configuration has not."""

HOMES: Final[Mapping[str, str]] = {
    "KT": "aiokafka_lite.model",
    "VT": "aiokafka_lite.model",
    "K_contra": "aiokafka_lite.serialization",
    "V_contra": "aiokafka_lite.serialization",
}


class Optioned(NamedTuple):
    """A class with options, and where the type of its options is written to."""

    word: str
    config: type
    path: str
    class_name: str
    parameters: tuple[str, ...] = ()
    base: str = ""
    """Has the options of several classes, which this one inherits."""

    @property
    def with_article(self) -> str:
        return f"{'an' if self.word[0] in 'aeiou' else 'a'} {self.word}"


BASES: Final = "aiokafka_lite/cluster/client_options.py"
CLASSES: Final = (
    Optioned(
        "consumer",
        ConsumerConfig,
        "aiokafka_lite/consumer/consumer_options.py",
        "ConsumerOptions",
        ("KT", "VT"),
        "ClientOptions",
    ),
    Optioned(
        "share consumer",
        ShareConsumerConfig,
        "aiokafka_lite/share/share_options.py",
        "ShareConsumerOptions",
        ("KT", "VT"),
        "ClientOptions",
    ),
    Optioned(
        "producer",
        ProducerConfig,
        "aiokafka_lite/producer/producer_options.py",
        "ProducerOptions",
        ("K_contra", "V_contra"),
        "CommonOptions",
    ),
    Optioned(
        "client",
        ClientConfig,
        BASES,
        "ClientOptions",
        base="CommonOptions",
    ),
    Optioned(
        "embedded broker",
        BrokerOptions,
        "aiokafka_lite/testing/broker/embedded_broker_options.py",
        "EmbeddedBrokerOptions",
    ),
)


def files() -> dict[str, str]:
    """Return the path from the root and the text of each file that is made."""
    made = {made.path: _types(made) for made in CLASSES}
    return {**made, "docs/options.md": _page(), settings_table.PAGE: settings_table.page(ROOT)}


# The types of `**options`…


def _common_options() -> list[Option]:
    """Return what consumers, share consumers and producers have in common with every client."""
    others = [declared_options(made.config) for made in CLASSES if made.base]
    return [option for option in others[0] if all(option in each for each in others)]


def _inherited_options(made: Optioned) -> list[Option]:
    if made.base == "ClientOptions":
        return declared_options(ClientConfig)
    return _common_options() if made.base else []


def _types(made: Optioned) -> str:
    inherited = _inherited_options(made)
    options = [option for option in declared_options(made.config) if option not in inherited]
    is_base = made.path == BASES
    imports: dict[str, set[str]] = defaultdict(set)
    if made.base and not is_base:
        imports["aiokafka_lite.cluster.client_options"].add(made.base)
    else:
        imports["typing"].add("TypedDict")
    if made.parameters:
        imports["typing"].add("Generic")
    for option in [*options, *(inherited if is_base else ())]:
        for name in _names(_type(option)):
            imports[_home(name, option)].add(name)
    common = (
        f"class {made.base}(TypedDict, total=False):\n"
        f'    """What the constructors of all clients take by name."""\n\n'
        f"{_fields(inherited)}\n\n"
    )
    names = ", ".join(f'"{name}"' for name in [made.class_name, *([made.base] * is_base)])
    generic = f"Generic[{', '.join(made.parameters)}], " if made.parameters else ""
    return (
        f'"""The options of {made.word}s as a type, for editors and type checkers.\n\n'
        f"Made by `make options` from the fields of {made.config.__name__}: change them there."
        f' Does not wait.\n"""\n\n'
        f"{_import_lines(imports)}\n\n"
        f"{common if is_base else ''}"
        f"class {made.class_name}({made.base or 'TypedDict'}, {generic}total=False):\n"
        f'    """What the constructor of {made.with_article} takes by name, as in\n'
        f'    `def make(**options: Unpack[{made.class_name}])`.\n    """\n\n'
        f"{_fields(options)}\n\n__all__ = [{names}]\n"
    )


def _fields(options: list[Option]) -> str:
    return "\n".join(_field(option) for option in options)


def _field(option: Option) -> str:
    first = textwrap.wrap(option.text, initial_indent='"""', **_WRAPPING)
    second = textwrap.wrap(f"Default: {option.default_text}. {option.origin}", **_WRAPPING)
    lines = [*_declaration(option), *first, "", *second, '"""', ""]
    return "\n".join(f"    {line}".rstrip() for line in lines)


def _declaration(option: Option) -> list[str]:
    """Return the field and its type, which stands in lines of its own if it is long."""
    line = f"{option.name}: {_type(option)}"
    if len(line) + 4 <= WIDTH:
        return [line]
    first, *others = _type(option).split(" | ")
    alternatives = [first, *(f"| {each}" for each in others)]
    lines = [line for each in alternatives for line in _broken(each, WIDTH - 8)]
    return [f"{option.name}: (", *(f"    {line}" for line in lines), ")"]


def _broken(line: str, width: int) -> list[str]:
    """Return a line, whose brackets have lines of their own if it is longer than `width`."""
    if len(line) <= width:
        return [line]
    before, _, inside = line.removesuffix("]").partition("[")
    return [f"{before}[", f"    {inside}", "]"]


_WRAPPING: Final[Mapping[str, Any]] = {
    "width": WIDTH - 4,
    "break_long_words": False,
    "break_on_hyphens": False,
}


def _type(option: Option) -> str:
    return CONSTRUCTORS.get(option.name) or _double_quoted(option.type)


def _names(annotation: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(annotation)):
        if isinstance(node, ast.Name) and not hasattr(builtins, node.id):
            yield node.id


def _home(name: str, option: Option) -> str:
    """Return the module that a name of an annotation is to be imported from."""
    if name in HOMES:
        return HOMES[name]
    for node in ast.walk(ast.parse(inspect.getsource(sys.modules[option.module]))):
        if isinstance(node, ast.ImportFrom) and name in {each.name for each in node.names}:
            assert node.module is not None
            return node.module
    return option.module


def _import_lines(imports: Mapping[str, set[str]]) -> str:
    own = {module for module in imports if module.startswith("aiokafka_lite")}
    blocks = [
        "".join(_import_line(module, imports[module]) for module in sorted(block))
        for block in (imports.keys() - own, own)
    ]
    return "\n".join(filter(None, blocks))


def _import_line(module: str, names: set[str]) -> str:
    ordered = sorted(names, key=lambda name: (not name.isupper(), name))
    line = f"from {module} import {', '.join(ordered)}"
    if len(line) <= WIDTH:
        return f"{line}\n"
    return "\n".join([f"from {module} import (", *(f"    {name}," for name in ordered), ")\n"])


# The page…

HEAD: Final = """# Options

This page lists every option that the constructors of `AIOKafkaConsumer`, `AIOKafkaShareConsumer`,
`AIOKafkaProducer`, `AIOKafkaAdminClient` and `EmbeddedBroker` take by name. Editors and `help()`
show the same.

A wrong value raises a `ValueError` that names all wrong options at once; that of the clients is a
`KafkaConfigurationError`. An unknown name raises a `TypeError` that names the option that was
probably meant. A function that passes options on can have their types:
`def make(**options: Unpack[ProducerOptions])`, or `ConsumerOptions`.

A default is that of the option in Java, unless the text says otherwise. The column Java has the
option's name in Apache Kafka itself. The column aiokafka says whether aiokafka 0.14 has the option,
under the same name.

The fields of `ConsumerConfig`, `ShareConsumerConfig`, `ProducerConfig`, `AdminConfig` and
`BrokerOptions` are the source: `make options` writes this page from them.
"""
_COLUMNS: Final = ("option", "type", "default", "unit", "what it does", "Java", "aiokafka")


def _page() -> str:
    consumer, share, producer, client, broker = (declared_options(made.config) for made in CLASSES)
    every = [option for option in consumer if option in client]
    shared = [option for option in consumer if option in producer]
    sections = {
        "All clients": _table(every),
        "Consumer and producer": _table([option for option in shared if option not in every]),
        "Consumer": _table([option for option in consumer if option not in shared]),
        "Share consumer": _table([option for option in share if option not in every]),
        "Producer": _table([option for option in producer if option not in shared]),
        "Embedded broker": _table(broker, columns=len(_COLUMNS) - 1),
    }
    return "\n".join([HEAD, *(f"## {title}\n\n{table}" for title, table in sections.items())])


def _table(options: list[Option], columns: int = len(_COLUMNS)) -> str:
    rows = [_COLUMNS, ("---",) * columns, *(_cells(option) for option in options)]
    return "".join(f"| {' | '.join(cells[:columns])} |\n" for cells in rows)


def _cells(option: Option) -> tuple[str, ...]:
    return (
        f"`{option.name}`",
        f"`{_double_quoted(option.type)}`".replace("|", "\\|"),
        f"`{option.default_in_python}`",
        option.unit,
        option.text,
        f"`{option.java}`" if option.java else "",
        "yes" if option.is_in_aiokafka else "",
    )


def _double_quoted(text: str) -> str:
    return re.sub(r"'([^']*)'", r'"\1"', text)


def main() -> None:
    """Write the files."""
    for path, text in files().items():
        (ROOT / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
