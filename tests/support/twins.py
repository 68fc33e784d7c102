"""The native twin of a leaf for its test suite, which runs over both."""

import importlib
import os
from types import ModuleType

import pytest

NOT_BUILT = "the native leaves are not built here: no compiler, or pip install -e . is due"


def native_twin(module: str) -> ModuleType:
    """Return the extension module of that dotted name, whatever AIOKAFKA_LITE_PURE says.

    Where it was not built the asking test is skipped; in CI that is a failure.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must test the native leaves: {error}")
        pytest.skip(NOT_BUILT)
