"""Holds what a pool of workers has at one moment, and what it has done. Does not wait."""

from aiokafka_lite.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WorkersStatistics:
    """The figures of one `KeyedWorkers`. Counts begin when it is made."""

    unfinished_records: int
    """Returned by polls and not finished: queued, running, or waiting for another attempt."""
    unfinished_bytes: int
    """The bytes of their keys and values."""
    running_handlers: int
    waiting_retries: int
    """Records that wait for their next attempt."""
    paused_partitions: int
    finished_records: int
    """Records whose handlers have returned."""
    failed_attempts: int
    dead_letters: int


__all__ = ["WorkersStatistics"]
