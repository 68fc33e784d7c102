"""Holds what share workers have at one moment, and what they have done. Does not wait."""

from aiokafka_lite.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ShareWorkersStatistics:
    """The figures of one `ShareWorkers`. Counts begin when it is made."""

    unfinished_records: int
    """Returned by polls and not finished: queued, running, or waiting for their release."""
    running_handlers: int
    waiting_releases: int
    """Records whose handlers have raised, and which are released when their backoff is over."""
    accepted_records: int
    """Records that the brokers have taken as accepted; so below."""
    released_records: int
    rejected_records: int
    refused_acknowledgements: int
    """Records that the brokers did not take an acknowledgement for. Most of them come again."""
    failed_attempts: int
    renewed_locks: int
    """How many times the lock of a record was renewed."""
    lost_locks: int
    """Records whose lock ended before they were acknowledged. They come again."""


__all__ = ["ShareWorkersStatistics"]
