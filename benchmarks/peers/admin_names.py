"""What the admin calls of a job name. Measures nothing."""

from benchmarks.peers.job import Job


def new_names(job: Job) -> tuple[str, list[str]]:
    """A topic of the warm-up, and the `records` topics that count, to create, describe and delete.

    All begin with `topic`.
    """
    return f"{job.topic}-warm", [f"{job.topic}-{number}" for number in range(job.records)]


def partition_keys(job: Job) -> list[tuple[str, int]]:
    """Each partition of the job's topics."""
    return [(name, number) for name in job.topic_names() for number in range(job.partitions)]


__all__ = ["new_names", "partition_keys"]
