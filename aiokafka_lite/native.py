"""Finds the native form of a leaf. Only this file imports compiled code. Does not wait.

A leaf has one of two forms. Code that runs for each record or byte is written twice. The public
file `x.py` chooses between `_x`, compiled from `_x.pyx`, and `_x_py`, its twin in Python. Both keep
the same promises. Code that runs for each batch is written once. `x.py` is compiled as it is, with
the types that `x.pxd` beside it gives, to an extension of the same name.

AIOKAFKA_LITE_PURE=1 forces Python everywhere.
"""

import importlib
import logging
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from pathlib import Path
from types import ModuleType

logger = logging.getLogger(__name__)

TYPED = frozenset(
    f"aiokafka_lite.{path}"
    for path in (
        "consumer.fetch.completed_fetch",
        "consumer.fetch.fetch_buffer",
        "consumer.fetch.fetch_collector",
        "consumer.fetch.fetch_planner",
        "consumer.fetch.fetch_response",
        "consumer.fetch.fetch_round",
        "consumer.fetch.fetch_session",
        "consumer.fetch.fetch_wishes",
        "consumer.fetch.fetcher",
        "consumer.poll_steps",
        "cluster.direct_requests",
        "metrics.counters",
        "net.exchange",
        "net.frame_stream",
        "net.in_flight_requests",
        "net.request_channel",
        "net.request_deadlines",
        "producer.accumulator.batch_sizes",
        "producer.accumulator.incomplete_batches",
        "producer.accumulator.partition_queue",
        "producer.accumulator.record_accumulator",
        "producer.accumulator.sequence_numbers",
        "producer.append.new_batches",
        "producer.batch.buffer_pool",
        "producer.batch.producer_batch",
        "producer.send.batch_outcomes",
        "producer.send.batch_sender",
        "producer.send.batches_request",
        "producer.send.produce_round",
        "protocol.request_frame",
    )
)
"""The modules that are compiled as they are."""

_leaves: dict[str, bool] = {}
_unused: list[str] = []
"""The first leaf that was built and is not used: the log has told it."""


def native(module: str) -> ModuleType | None:
    """Return the extension module of that dotted name; None if it was not built or is switched off.

    If leaves were built and are not used, one WARNING says so: they cannot be loaded, are for
    another interpreter, or belong to an install that this folder hides. Then the reason for the
    lower speed is known.
    """
    _leaves[module] = False
    if os.environ.get("AIOKAFKA_LITE_PURE") == "1":
        return None
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError:
        if not _unused and (why := why_unused(module)):
            _unused.append(module)
            logger.warning("%s", why)
        return None
    except ImportError as error:
        logger.warning("%s is built but cannot be loaded, Python does its work: %s", module, error)
        return None
    _leaves[module] = True
    return found


def why_unused(module: str) -> str | None:
    """Say why a leaf that was built somewhere is not used; None if there is none to be found."""
    here = Path(__file__).resolve().parent
    leaf = Path(*module.split(".")[1:])
    names = {leaf.name + suffix for suffix in EXTENSION_SUFFIXES}
    others = sorted((here / leaf.parent).glob(f"{leaf.name}.*.so"))
    if others and names.isdisjoint(other.name for other in others):
        return (
            f"pure Python does the work: {others[0].name} was built for another Python than"
            f" {sys.implementation.cache_tag}; run `pip install .` with this one"
        )
    for package in _hidden_packages(here):
        folder = package / leaf.parent
        if any((folder / name).exists() for name in names):
            return (
                f"pure Python does the work: {here} is imported, which has no native leaves, and"
                f" hides the install in {package}. Start the program in another folder, or run"
                f" `pip install -e .` here"
            )
    return None


@cache
def _hidden_packages(here: Path) -> list[Path]:
    """Return the installs of this package that `here` hides."""
    packages = [Path(entry or ".").resolve() / here.name for entry in sys.path]
    return [package for package in packages if package != here and package.is_dir()]


def leaves() -> dict[str, bool]:
    """Return, by the extension's name, whether each leaf imported so far is native."""
    typed = {name: sys.modules[name] for name in TYPED & sys.modules.keys()}
    are_native = {name: not str(module.__file__).endswith(".py") for name, module in typed.items()}
    return dict(sorted({**_leaves, **are_native}.items()))


class SourceFinder:
    """Finds the `.py` of a module in `TYPED`, where Python would take the extension beside it. On
    `sys.meta_path` while AIOKAFKA_LITE_PURE=1.
    """

    @staticmethod
    def find_spec(
        name: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,  # noqa: ARG004  the import system gives it
    ) -> ModuleSpec | None:
        """Return how to import the module from its source; None for all other modules."""
        if name in TYPED:
            for folder in path or ():
                spec = FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name)
                if spec is not None:
                    return spec
        return None


def import_sources_if_pure() -> None:
    """Make Python import the sources of `TYPED` from now on, if AIOKAFKA_LITE_PURE=1."""
    if os.environ.get("AIOKAFKA_LITE_PURE") == "1" and SourceFinder not in sys.meta_path:
        sys.meta_path.insert(0, SourceFinder)


__all__ = ["TYPED", "SourceFinder", "import_sources_if_pure", "leaves", "native"]
