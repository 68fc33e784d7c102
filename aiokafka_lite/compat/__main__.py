"""`python -m aiokafka_lite.compat program.py`: runs a program on this package.

The program imports `aiokafka` and finds aiokafka_lite; see `installation`.
"""

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

from aiokafka_lite.compat.installation import install

USAGE = """usage: python -m aiokafka_lite.compat program.py [argument ...]
       python -m aiokafka_lite.compat -m module [argument ...]
"""


def main() -> None:
    """Run the program of the command line; exit with 2 if there is none."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["-h"], ["--help"]):
        sys.stdout.write(USAGE)
        return
    if arguments[:1] == ["-m"] and len(arguments) > 1:
        install()
        sys.argv = arguments[1:]
        sys.path[0] = str(Path.cwd())
        if not _is_there(arguments[1]):
            sys.stderr.write(f"cannot run {arguments[1]!r}: there is no such module\n{USAGE}")
            sys.exit(2)
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    if not arguments or arguments[0].startswith("-"):
        sys.stderr.write(USAGE)
        sys.exit(2)
    program = Path(arguments[0])
    if not program.exists():
        sys.stderr.write(f"cannot run {arguments[0]!r}: there is no such file\n{USAGE}")
        sys.exit(2)
    install()
    sys.argv = arguments
    sys.path[0] = str(program.resolve().parent)
    runpy.run_path(arguments[0], run_name="__main__")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError as error:
        # Of a package that it is in, or of an import of that package, which the program then shows.
        return not f"{module}.".startswith(f"{error.name}.")


if __name__ == "__main__":
    main()


__all__ = ["main"]
