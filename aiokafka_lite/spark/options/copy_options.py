"""The options of a stream that copies: those of its source, and those of a sink with a prefix.

Asks nothing of a broker. Does not wait.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.spark.options.sink_options import SinkOptions

_TO: Final = "copyTo."
"""Stands before each option of the sink."""
_COLUMNS: Final = "copyColumns"
_ALL: Final = ("key", "value", "headers", "timestamp", "partition", "topic")
_USUAL: Final = _ALL[:4]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyOptions:
    """Where ranges are copied to, and what of each record."""

    columns: tuple[str, ...]
    written: SinkOptions


def is_copy(options: Mapping[str, str]) -> bool:
    """Return whether these options of a stream ask for copies."""
    return any(name.lower().startswith(_TO.lower()) for name in options)


def copy_options(sink: Mapping[str, str], columns: Iterable[str]) -> dict[str, str]:
    """Return the options that a stream needs to copy: a sink's options, and columns to keep."""
    prefixed = {f"{_TO}{name}": text for name, text in sink.items()}
    return {**prefixed, _COLUMNS: ",".join(columns)}


def parse_copy(options: Mapping[str, str]) -> tuple[dict[str, str], CopyOptions]:
    """Return the options of the source alone, and where and what it copies.

    Raises: KafkaConfigurationError as `SinkOptions.parse`; for unknown columns, transactions or
    delegation tokens.
    """
    of_source, of_sink = {}, {}
    columns: tuple[str, ...] = _USUAL
    for name, text in options.items():
        if name.lower().startswith(_TO.lower()):
            of_sink[name[len(_TO) :]] = text
        elif name.lower() == _COLUMNS.lower():
            columns = tuple(each.strip() for each in text.split(","))
        else:
            of_source[name] = text
    unknown = [each for each in columns if each not in _ALL]
    if unknown:
        raise KafkaConfigurationError(
            f"option {_COLUMNS} has {', '.join(map(repr, unknown))}; the columns are"
            f" {', '.join(_ALL)}"
        )
    written = SinkOptions.parse(of_sink)
    if written.is_transactional:
        raise KafkaConfigurationError(
            f"option {_TO}delivery is 'transactional', but copies of ranges come at least once;"
            " write the rows of a stream instead"
        )
    if written.token_mechanism is not None:
        raise KafkaConfigurationError(
            f"option {_TO}delegationToken has no effect: Spark renews tokens for its own sinks"
            " alone; write the rows of a stream instead"
        )
    return of_source, CopyOptions(columns=columns, written=written)


__all__ = ["CopyOptions", "copy_options", "is_copy", "parse_copy"]
