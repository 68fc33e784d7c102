"""Builds the native leaves, every `aiokafka_lite/**/*.pyx`; all else is in pyproject.toml.

Without a compiler the build goes on, and the package is pure Python: the same, only slower.
AIOKAFKA_LITE_REQUIRE_NATIVE=1 makes an extension that does not build an error, as in CI.

A free-threaded interpreter gets no leaves, unless they are required. None is declared safe without
the interpreter's lock, so the first one imported would turn the lock on for the whole program.
"""

import os
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup

REQUIRED = os.environ.get("AIOKAFKA_LITE_REQUIRE_NATIVE") == "1"
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
HEADERS = sorted(str(header) for header in Path("aiokafka_lite").rglob("*.h"))


def native_leaves() -> list[Extension]:
    """Return the extensions, translated to C; none without Cython, or without the lock."""
    if FREE_THREADED and not REQUIRED:
        return []
    try:
        from Cython.Build import cythonize  # noqa: PLC0415  a build without isolation may lack it
    except ImportError:
        if REQUIRED:
            raise
        return []
    # CFLAGS have the last word on optimization, and MSVC knows no such level.
    chosen = sys.platform == "win32" or "-O" in os.environ.get("CFLAGS", "")
    optimize = [] if chosen else ["-O3"]
    # Debug information is four fifths of an extension's size. CFLAGS with -g keep it.
    stripped = sys.platform == "linux" and "-g" not in os.environ.get("CFLAGS", "").split()
    every = Extension(
        "*",
        ["aiokafka_lite/**/*.pyx"],
        include_dirs=["."],  # a `.pxd` names its header from here, whoever cimports it
        extra_compile_args=[*optimize, *(["-g0"] if stripped else [])],
        extra_link_args=["-Wl,-s"] if stripped else [],
        depends=HEADERS,
    )
    extensions: list[Extension] = cythonize([every], language_level=3)
    for extension in extensions:
        extension.optional = not REQUIRED  # here, not above: cythonize drops it
    return extensions


# In pyproject.toml this would be a warning of setuptools: an experimental table.
setup(ext_modules=native_leaves(), options={"build_ext": {"parallel": True}})
