"""Finds the functions of messages that were compiled before the program began. Does not wait.

Beside the messages of a folder may be a folder `compiled`. Its file `compiled_fetch.py` has
functions of the messages in `fetch.py`, as `make messages` wrote them. Python keeps their byte code
in a file. So a client's first requests cost no compilation, which took more than half of the CPU
time of a start. Other messages, and other versions of these, are compiled at their first use
(`compiler.py`).
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from aiokafka_lite.codec.parts import Parts

Encoder = Callable[[Any], Parts]
Decoder = Callable[[memoryview | bytes], Any]
LenientDecoder = Callable[[memoryview | bytes], tuple[Any, list[tuple[str, Any]]]]
"""Returns the message, and the path and zero of each null that should not be there."""


def compiled_function(cls: type, name: str) -> Any:
    """Return the function of this name that belongs to a class, or None."""
    return _functions_beside(cls.__module__).get(name)


def load_functions(*messages: type) -> None:
    """Load the compiled functions of these messages and of those in their files.

    A client calls it at its import for what each start sends. Loaded at the first request, they
    would keep the event loop from everything else.
    """
    for message in messages:
        _functions_beside(message.__module__)


@cache
def _functions_beside(module: str) -> Mapping[str, Any]:
    folder, _, stem = module.rpartition(".")
    if not folder:
        return {}
    home = f"{folder}.compiled"
    name = f"{home}.compiled_{stem}"
    try:
        return vars(import_module(name))
    except ModuleNotFoundError as error:
        if error.name not in (home, name):
            raise
        return {}


__all__ = ["Decoder", "Encoder", "LenientDecoder", "compiled_function", "load_functions"]
