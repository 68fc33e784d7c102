"""Builds the native leaves; all else is in pyproject.toml.

A leaf is a `.pyx`, or a `.py` with a `.pxd` of the same stem that gives its classes C types. The
latter is compiled to an extension of the same name, which the import system prefers to the `.py`.
Those build upon other leaves, and have nothing to fall back on once they are imported. So if one
extension does not build, they are all left out.

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
from setuptools.command.build_ext import build_ext

REQUIRED = os.environ.get("AIOKAFKA_LITE_REQUIRE_NATIVE") == "1"
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
TYPED = sorted(
    path.with_suffix(".py").as_posix()
    for path in Path("aiokafka_lite").rglob("*.pxd")
    if path.with_suffix(".py").exists()
)
"""The `.py` with a `.pxd`."""
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
    # Code and data would begin on pages of their own, which is some 5 KB of each leaf.
    compact = ["-Wl,-z,noseparate-code"] if sys.platform == "linux" else []
    settings = {
        "include_dirs": ["."],  # a `.pxd` names its header from here, whoever cimports it
        "extra_compile_args": [*optimize, *(["-g0"] if stripped else [])],
        "extra_link_args": [*(["-Wl,-s"] if stripped else []), *compact],
        "depends": HEADERS,
    }
    leaves: list[Extension] = cythonize(
        [Extension("*", ["aiokafka_lite/**/*.pyx"], **settings)], language_level=3
    )
    typed: list[Extension] = cythonize(
        [Extension(path[:-3].replace("/", "."), [path], **settings) for path in TYPED],
        language_level=3,
        # The `.pxd` has the types. An attribute of None is an AttributeError, as in Python. Nobody
        # pickles these objects, and the code for it would be a fourteenth of the leaves' size.
        compiler_directives={
            "annotation_typing": False,
            "nonecheck": True,
            "auto_pickle": False,
        },
    )
    extensions = [*leaves, *typed]
    for extension in extensions:
        extension.optional = not REQUIRED  # here, not above: cythonize drops it
    return extensions


class BuildLeaves(build_ext):
    """Builds all leaves that are a `.py`, or none."""

    def build_extensions(self) -> None:
        """Build, and drop those if anything is missing."""
        super().build_extensions()
        made = {each.name: Path(self.get_ext_fullpath(each.name)) for each in self.extensions}
        if not all(path.exists() for path in made.values()):
            for path in TYPED:
                made[path[:-3].replace("/", ".")].unlink(missing_ok=True)


setup(
    ext_modules=native_leaves(),
    cmdclass={"build_ext": BuildLeaves},
    # In pyproject.toml this would be a warning of setuptools: an experimental table.
    options={"build_ext": {"parallel": True}},
)
