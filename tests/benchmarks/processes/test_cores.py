"""The cores of brokers and clients, seen by processes that were started before and meanwhile."""

import os
import subprocess
import sys

import pytest

from benchmarks.processes.cores import divided_cores

THREADS = """
import os, sys, threading
def told(): print(sorted(os.sched_getaffinity(0)), flush=True)
told()
for _ in sys.stdin:
    told()
    other = threading.Thread(target=told); other.start(); other.join()
"""


def started() -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", THREADS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def cores(process: "subprocess.Popen[str]", threads: int = 2) -> list[str]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return [process.stdout.readline().strip() for _ in range(threads)]


@pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="needs Linux and two cores",
)
def test_brokers_and_clients_have_cores_of_their_own_meanwhile() -> None:
    before = sorted(os.sched_getaffinity(0))
    half = len(before) // 2
    with started() as broker:
        assert broker.stdout is not None
        assert broker.stdout.readline().strip() == str(before)
        with divided_cores() as said, started() as client:
            assert said.startswith("pinned: the broker to core")
            assert cores(broker) == [str(before[:half])] * 2
            assert cores(client, 3) == [str(before[half:])] * 3
            client.communicate()
        assert sorted(os.sched_getaffinity(0)) == before
        assert cores(broker) == [str(before)] * 2
        broker.communicate()
