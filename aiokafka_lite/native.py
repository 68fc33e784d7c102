"""Finds the native twin of a leaf. Only this file imports compiled code. Does not wait.

A leaf is one public file, `x.py`. It chooses between `_x`, compiled from `_x.pyx`, and `_x_py`, its
twin in Python. Both keep the same promises. AIOKAFKA_LITE_PURE=1 forces Python everywhere.
"""

import importlib
import logging
import os
from types import ModuleType

logger = logging.getLogger(__name__)

_leaves: dict[str, bool] = {}


def native(module: str) -> ModuleType | None:
    """Return the extension module of that dotted name; None if it was not built or is switched off.

    If the module exists but cannot be loaded, such as a build for another interpreter, the log says
    so. Then the reason for the lower speed is known.
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
    """Return, by the extension's name, whether each leaf imported so far is native."""
    return dict(sorted(_leaves.items()))


__all__ = ["leaves", "native"]
