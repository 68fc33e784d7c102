"""Finds the native twin of a leaf: the one door through which compiled code comes in. Never waits.

A leaf is one public file, `x.py`, that chooses between `_x`, compiled from `_x.pyx`, and its twin
in Python, `_x_py`. Both keep the same promises. AIOKAFKA_LITE_PURE=1 forces Python everywhere.
"""

import importlib
import logging
import os
from types import ModuleType

logger = logging.getLogger(__name__)

_leaves: dict[str, bool] = {}


def native(module: str) -> ModuleType | None:
    """Return the extension module of that dotted name; None if it was not built or is not wanted.

    One that is there and cannot be loaded, such as a build for another interpreter, is said in the
    log: slower than expected should not be a riddle.
    """
    _leaves[module] = False
    if os.environ.get("AIOKAFKA_LITE_PURE") == "1":
        return None
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError:
        return None
    except ImportError as error:
        logger.warning("%s is built but cannot be loaded, Python does its work: %s", module, error)
        return None
    _leaves[module] = True
    return found


def leaves() -> dict[str, bool]:
    """Return whether each leaf that was imported so far is native, by the extension's name."""
    return dict(sorted(_leaves.items()))


__all__ = ["leaves", "native"]
