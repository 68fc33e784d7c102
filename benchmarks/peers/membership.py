"""Lets another process control a member of a group: when it joins and when it ends.

The member waits for a line, notes the records of each poll, and ends with its input. It prints
`ready` when all modules are imported, and `reading` when records of every partition have come.
Moments are those of the machine's monotonic clock, which all processes share.
"""

import sys
import threading
import time

from benchmarks.peers.job import Job


class Membership:
    """The commands to one member, and its notes. The constructor returns when it is to join."""

    def __init__(self, job: Job) -> None:
        self.is_over = False
        self._job = job
        self._unseen = set(range(job.partitions))
        job.tell("ready")
        sys.stdin.readline()
        threading.Thread(target=self._wait_for_the_end, daemon=True).start()

    def note(self, partition: int, first_offset: int, last_offset: int) -> None:
        """Note returned records of one partition, without gaps."""
        self._job.outcome.returned.append((time.monotonic(), partition, first_offset, last_offset))
        self._job.outcome.records += last_offset - first_offset + 1
        if self._unseen:
            self._unseen.discard(partition)
            if not self._unseen:
                self._job.tell("reading")

    def _wait_for_the_end(self) -> None:
        sys.stdin.read()
        self.is_over = True
