"""Says what this installation is made of. It needs neither typer nor rich."""

import platform

from aiokafka_lite.arrow import record_columns  # noqa: F401  a leaf, chosen at its first use
from aiokafka_lite.compression.compressor import libraries
from aiokafka_lite.consumer import consumer  # noqa: F401  a client chooses its leaves when imported
from aiokafka_lite.native import leaves
from aiokafka_lite.producer import producer  # noqa: F401  as the consumer
from aiokafka_lite.producer.append.arrow import arrow_rows  # noqa: F401  as record_columns
from aiokafka_lite.record import record_check  # noqa: F401  of the embedded broker
from aiokafka_lite.version import __version__


def parts() -> list[tuple[str, str]]:
    """Return versions, which parts are native here, and which libraries compress."""
    python = f"{platform.python_version()} ({platform.python_implementation()})"
    rows: list[tuple[str, str]] = [("aiokafka-lite", __version__), ("Python", python)]
    rows += [
        (module.removeprefix("aiokafka_lite."), "native" if is_native else "Python")
        for module, is_native in leaves().items()
    ]
    return [*rows, *libraries().items()]


__all__ = ["parts"]
