"""CPU of a tree: what runs, what was waited for, and what nobody has waited for."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from benchmarks.spark.process_tree import (
    ENDING,
    JVM,
    OTHER,
    STREAM_PLANNER,
    WORKER,
    Process,
    TreeWatch,
    parse,
    tree,
    watched,
)

BURN = "import time\nwhile time.process_time() < 0.2: pass\n"
STAT = (
    "4321 (a (b) c) S 77 4321 4321 0 -1 4194560 1 2 3 4 150 50 25 75 20 0 9 0 12345 1000 "
    "2048 18446744073709551615 1 1 0 0 0\n"
)


def test_stat_is_read_around_any_name() -> None:
    ticks, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    assert parse(STAT, "Name:\ta\nSigIgn:\t0000000000001006\n") == Process(
        pid=4321,
        parent=77,
        started=12345,
        cpu_s=300 / ticks,
        rss_bytes=2048 * page,
        waits=True,
        own_s=200 / ticks,
        kind=ENDING,
    )
    assert not parse(STAT, "SigIgn:\t0000000000010000\n").waits


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("/opt/bin/java -cp x org.apache.spark.deploy.SparkSubmit", JVM),
        ("/v/python -m pyspark.daemon pyspark.worker", WORKER),
        ("/v/python -m pyspark.daemon pyspark.sql.worker.create_data_source", OTHER),
        ("/v/python -m pyspark.sql.streaming.python_streaming_source_runner", STREAM_PLANNER),
        ("", ENDING),
    ],
)
def test_processes_of_spark_are_told_apart(command: str, kind: str) -> None:
    assert parse(STAT, "", command.replace(" ", "\0") + "\0").kind == kind


def test_an_ended_process_counts_in_its_kind() -> None:
    watch = TreeWatch(0)  # no process has that id, so it looks at none
    ended = Process(1, 0, 1, cpu_s=9.0, rss_bytes=5, own_s=2.0, kind=WORKER)
    watch.note([ended])
    watch.note([replace(ended, own_s=3.0, kind=ENDING)])
    assert watch.cpu_by_kind() == {WORKER: 3.0}


def test_tree_is_the_root_and_its_descendants() -> None:
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}]); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as child:
        while len(found := tree(child.pid)) < 2 and child.poll() is None:
            pass
        assert [each.parent for each in found] == [os.getpid(), child.pid]
        child.communicate(b"\n")


def test_a_child_that_was_waited_for_counts() -> None:
    code = (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}]); print(1); "
        "sys.stdout.flush(); input()"
    )
    with (
        subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as child,
        watched(child.pid) as watch,
    ):
        assert child.stdout is not None
        child.stdout.readline()
        assert 0.2 <= watch.cpu_s() < 5
        assert watch.peak_bytes > 1_000_000
        child.communicate(b"\n")


def test_what_nobody_waits_for_counts_as_it_was_seen_last() -> None:
    watch = TreeWatch(1)
    root = Process(pid=1, parent=0, started=1, cpu_s=1.0, rss_bytes=5)
    deaf = Process(pid=2, parent=1, started=1, cpu_s=2.0, rss_bytes=5, waits=False)
    lost = Process(pid=3, parent=2, started=1, cpu_s=4.0, rss_bytes=5)
    again = Process(pid=3, parent=1, started=9, cpu_s=8.0, rss_bytes=1)
    totals = []
    for processes in ([root, deaf, lost], [root, deaf], [root, deaf, again], [root, deaf]):
        watch.note(processes)
        totals.append(watch.total_s)
    assert totals == [7.0, 7.0, 15.0, 7.0]  # the last one's parent has it in its own figure
    assert watch.peak_bytes == 15
