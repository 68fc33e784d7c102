"""Gives brokers and clients cores of their own, so that neither waits for the other's work.

Linux only, as it reads `/proc`. Elsewhere, and with one core, the system places them.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROCESSES = Path("/proc")


@contextmanager
def divided_cores() -> Iterator[str]:
    """Give one half of the cores to the processes below this one, which are brokers. This one and
    those that it starts meanwhile have the other half. Yields the sentence that says so.
    """
    all_cores = sorted(os.sched_getaffinity(0)) if PROCESSES.exists() else []
    if len(all_cores) < 2:
        yield "brokers and clients share the cores"
        return
    half = len(all_cores) // 2
    of_brokers, of_clients = all_cores[:half], all_cores[half:]
    brokers = _children(os.getpid())
    for process in brokers:
        _keep(process, of_brokers)
    os.sched_setaffinity(0, of_clients)
    try:
        yield f"pinned: the broker to {_named(of_brokers)}, clients to {_named(of_clients)}"
    finally:
        os.sched_setaffinity(0, all_cores)
        for process in brokers:
            _keep(process, all_cores)


def _named(cores: list[int]) -> str:
    return f"core{'s' * (len(cores) > 1)} {', '.join(map(str, cores))}"


def _children(process: int) -> list[int]:
    """The processes below one, by the threads that have started them."""
    found: list[int] = []
    for thread in (PROCESSES / str(process) / "task").iterdir():
        for child in map(int, (thread / "children").read_text().split()):
            found += [child, *_children(child)]
    return found


def _keep(process: int, cores: list[int]) -> None:
    """Pin every thread of a process; those that they start later inherit it."""
    threads = PROCESSES / str(process) / "task"
    for thread in list(threads.iterdir()) if threads.exists() else []:
        os.sched_setaffinity(int(thread.name), cores)
