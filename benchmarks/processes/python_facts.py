"""The facts of an interpreter that clients are to run in; prints one JSON line.

It fails where a named module cannot be imported, which is a client or an event loop:

python -m benchmarks.processes.python_facts asyncio uvloop benchmarks.peers.ours
"""

import importlib
import json
import platform
import sys
import sysconfig

from benchmarks.report.machine_facts import build


def main() -> None:
    """Print the version, and whether all leaves are native."""
    for needed in sys.argv[1:]:
        importlib.import_module(needed)
    free_threaded = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    version = f"{platform.python_implementation()} {platform.python_version()}{free_threaded}"
    print(json.dumps({"python": version, "is_native": " pure" not in build()}))


if __name__ == "__main__":
    main()
