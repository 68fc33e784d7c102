"""Puts this package under the name `aiokafka`, for programs whose imports cannot be changed.

A finder of modules, in front of Python's own, answers for `aiokafka` and all below it. Each module
is an alias. A name in it is looked up at its first use, in the modules that stand for it
(`module_names`). The others are made from a table of what aiokafka has there (`inside`). So nothing
is imported before it is used, and a patch of an alias stays there.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from aiokafka_lite.compat.inside_table import entries, module_paths
from aiokafka_lite.compat.module_names import API_VERSION, CLIENTS, STANDS_FOR, offers
from aiokafka_lite.errors import IllegalStateError

NAME = "aiokafka"
PACKAGE = "aiokafka_lite"


def install() -> None:
    """Let every later `import aiokafka…` in this process find this package. May be repeated.

    Call it before the first import of aiokafka, or run the program by
    `python -m aiokafka_lite.compat program.py`. `importlib.metadata` then also reports a
    distribution `aiokafka`, in the version whose names these are. An installed aiokafka is not
    touched, and not used. Child processes have to call it again.

    Raises: IllegalStateError if another aiokafka was imported before: its classes may be in use.
    """
    if any(isinstance(finder, AiokafkaFinder) for finder in sys.meta_path):
        return
    imported = sys.modules.get(NAME)
    if imported is not None:
        place = getattr(imported, "__file__", None) or "an unknown place"
        raise IllegalStateError(
            f"aiokafka was imported before, from {place}, and its classes may be in use; call "
            "aiokafka_lite.compat.install() before anything imports aiokafka, or start the "
            "program by `python -m aiokafka_lite.compat program.py`"
        )
    sys.meta_path.insert(0, AiokafkaFinder())


class AliasModule(ModuleType):
    """A module of aiokafka whose names are those of the modules that stand for it."""

    def __getattr__(self, name: str) -> object:
        path = self.__name__.partition(".")[2]
        below = f"{path}.{name}".lstrip(".")
        if below in module_paths():
            return import_module(f"{NAME}.{below}")
        # Other names of this form are the import system's, which asks before a program does.
        if name == "__all__" or not name.startswith("__"):
            with suppress(KeyError):
                value: object = _offered(path) if name == "__all__" else found(path, name)
                setattr(self, name, value)
                return value
        raise AttributeError(f"module {self.__name__!r} of aiokafka_lite has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        path = self.__name__.partition(".")[2]
        offered: set[str] = {*entries(path)}
        for stands in STANDS_FOR.get(path, ()):
            offered.update(dir(import_module(f"{PACKAGE}.{stands}".rstrip("."))))
        below = {each.rpartition(".")[2] for each in module_paths() if _above(each) == path}
        return sorted(offered | (below - {""}) | vars(self).keys())


_FOUND: dict[tuple[str, str], Any] = {}


def found(path: str, name: str) -> Any:
    """Return what a name of one of aiokafka's modules stands for, always the same.

    Raises: KeyError for a name that the module does not have.
    """
    key = path, name
    if key not in _FOUND:
        _FOUND[key] = _find(path, name)
    return _FOUND[key]


def _find(path: str, name: str) -> Any:
    if name in CLIENTS:
        return getattr(import_module(f"{PACKAGE}.{CLIENTS[name]}"), name)
    for stands in STANDS_FOR.get(path, ()):
        module = import_module(f"{PACKAGE}.{stands}".rstrip("."))
        if offers(module, name):
            return getattr(module, name)
    made: Any = import_module(f"{PACKAGE}.compat.inside").make(path, name, found)
    return made


def _offered(path: str) -> list[str]:
    """Return what `from … import *` gives."""
    offered = {name for name in entries(path) if not name.startswith("_")}
    for stands in STANDS_FOR.get(path, ()):
        offered.update(getattr(import_module(f"{PACKAGE}.{stands}".rstrip(".")), "__all__", ()))
    return sorted(offered)


def _above(path: str) -> str:
    return path.rpartition(".")[0]


class AiokafkaFinder:
    """Finds the modules below `aiokafka`, loads them, and finds its distribution.

    It has the methods of importlib's abstract classes without being derived from them: to import
    those, and `importlib.metadata`, takes a short program 15 ms.
    """

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,  # noqa: ARG002 - of the protocol
        target: ModuleType | None = None,  # noqa: ARG002 - of the protocol
    ) -> ModuleSpec | None:
        """Return the spec of an alias; None for a name that is not aiokafka's.

        Raises: ModuleNotFoundError for a module that aiokafka does not have.
        """
        name, _, below = fullname.partition(".")
        if name != NAME:
            return None
        if below not in module_paths():
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: aiokafka {API_VERSION}, whose modules {PACKAGE} "
                "shows, does not have it",
                name=fullname,
            )
        is_package = any(_above(each) == below for each in module_paths() if each)
        loader: Any = self
        return ModuleSpec(fullname, loader, origin=PACKAGE, is_package=is_package)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the alias."""
        return AliasModule(spec.name, f"aiokafka's module of that name, by {PACKAGE}.")

    def exec_module(self, module: ModuleType) -> None:
        """Give the top module the version that programs compare; nothing else is needed."""
        if module.__name__ == NAME:
            vars(module)["__version__"] = API_VERSION

    def find_distributions(self, context: Any = None) -> Iterator[Any]:
        """Yield the distribution `aiokafka` if it is asked for by its name, or if all are."""
        name = None if context is None else context.name
        if name is None or name.lower() == NAME:
            yield import_module(f"{PACKAGE}.compat.distribution").AiokafkaDistribution()

    def invalidate_caches(self) -> None:
        """Forget nothing: the modules are always the same."""


__all__ = ["AiokafkaFinder", "AliasModule", "found", "install"]
