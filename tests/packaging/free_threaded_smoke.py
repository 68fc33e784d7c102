"""Says whether the package works in pure Python where the interpreter says that it has no lock.

Run with AIOKAFKA_LITE_PURE=1 by any interpreter, which this program makes say so. It imports all
modules but those for Spark, then a record goes out and back. No test itself. It shows what our
Python does with that answer, not what threads do.
"""

import importlib
import pkgutil
import runpy
import sys
import sysconfig
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

SMOKE = Path(__file__).with_name("wheel_smoke.py")


def import_everything() -> None:
    """Import the package and what is in it, but not leaves: others must not import them either."""
    package = importlib.import_module("aiokafka_lite")
    for _, name, _ in pkgutil.walk_packages(package.__path__, "aiokafka_lite."):
        is_leaf = name.rpartition(".")[2].startswith("_")  # or `__main__`
        if not is_leaf and not name.startswith("aiokafka_lite.spark"):
            importlib.import_module(name)


def compiled_parts() -> list[str]:
    """Return the modules of the package that came from an extension."""
    ours = {name: part for name, part in sys.modules.items() if name.startswith("aiokafka_lite")}
    suffixes = tuple(EXTENSION_SUFFIXES)
    return [name for name, part in ours.items() if str(part.__file__).endswith(suffixes)]


def main() -> None:
    sysconfig.get_config_vars()["Py_GIL_DISABLED"] = 1
    sys._is_gil_enabled = lambda: False  # type: ignore[attr-defined]  # from Python 3.13 on
    import_everything()
    assert not compiled_parts(), compiled_parts()
    sys.argv = [str(SMOKE), "pure"]
    runpy.run_path(str(SMOKE), run_name="__main__")


if __name__ == "__main__":
    main()
