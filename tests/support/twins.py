"""Finds the native twin of a leaf, for test suites that run with both twins."""

import importlib
import os
from types import ModuleType

import pytest

NOT_BUILT = "the native leaves are not built here: no compiler, or pip install -e . is due"


def native_twin(module: str) -> ModuleType:
    """Return the extension module of that dotted name, even if AIOKAFKA_LITE_PURE is set.

    If the module was not built, the calling test is skipped. In CI it fails.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must test the native leaves: {error}")
        pytest.skip(NOT_BUILT)
