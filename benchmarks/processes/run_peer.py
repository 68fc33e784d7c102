"""One measured run of one client in a process of its own; prints its outcome as one JSON line.

python -m benchmarks.processes.run_peer ours getmany '{"bootstrap_servers": ..., "topic": ..., ...}'
"""

import asyncio
import importlib
import inspect
import json
import sys
from asyncio import AbstractEventLoop
from collections.abc import Callable

from benchmarks.peers.job import Job


def main() -> None:
    """Run the path named on the command line and print what came of it."""
    peer, path, described = sys.argv[1:]
    job = Job(**json.loads(described))
    module = importlib.import_module(f"benchmarks.peers.{peer}")
    run = getattr(getattr(module, "PATHS", module), path)
    if inspect.iscoroutinefunction(run):
        with asyncio.Runner(loop_factory=_new_loop(job.loop)) as runner:
            runner.run(run(job))
    else:
        run(job)
    if not job.outcome.records:
        raise SystemExit(f"{peer} {path}: no records")
    job.report()


def _new_loop(name: str) -> Callable[[], AbstractEventLoop] | None:
    if name == "asyncio":
        return None
    found: Callable[[], AbstractEventLoop] = importlib.import_module(name).new_event_loop
    return found


if __name__ == "__main__":
    main()
