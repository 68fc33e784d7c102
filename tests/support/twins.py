"""Finds the native twin of a leaf, for test suites that run with both twins."""

import importlib
import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

import aiokafka_lite
from aiokafka_lite.native import TYPED

NOT_BUILT = "the native leaves are not built here: no compiler, or pip install -e . is due"


def native_twin(module: str) -> ModuleType:
    """Return the extension module of that dotted name, even if AIOKAFKA_LITE_PURE is set.

    If the module was not built, the calling test is skipped. In CI it fails.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        not_built(str(error))


def not_built(what: str) -> NoReturn:
    """Skip the calling test; in CI it fails."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must test the native leaves: {what}")
    pytest.skip(NOT_BUILT)


def outdated_extensions(folder: Path = Path(aiokafka_lite.__file__).parents[1]) -> list[str]:
    """Return the sources in a tree that are newer than the extension beside them, which Python
    imports all the same.
    """
    found = []
    for name in sorted(TYPED):
        source = folder.joinpath(*name.split(".")).with_suffix(".py")
        extension = source.with_suffix(EXTENSION_SUFFIXES[0])
        files = [file for file in (source, source.with_suffix(".pxd")) if file.exists()]
        if extension.exists() and extension.stat().st_mtime < max(
            file.stat().st_mtime for file in files
        ):
            found.append(source.relative_to(folder).as_posix())
    return found
