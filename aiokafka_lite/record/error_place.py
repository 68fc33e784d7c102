"""Says where in a topic a batch is that cannot be read; for both twins of the batch reader."""

from aiokafka_lite.errors import CorruptRecordException


def with_place(
    error: CorruptRecordException, topic: str, partition: int, offset: int
) -> CorruptRecordException:
    """Return the error with the place it belongs to.

    Drops its traceback, whose frames hold the buffers.
    """
    placed = CorruptRecordException(
        f"{topic}-{partition} at offset {offset}: {error.args[0]}; seek past the batch to go on",
        topic=topic,
        partition=partition,
        offset=offset,
    )
    if error.__cause__ is not None:
        placed.__cause__ = error.__cause__.with_traceback(None)
    return placed


__all__ = ["with_place"]
