"""Adds topic, partition and offset to the error of an unreadable batch, for both twins."""

from aiokafka_lite.errors import CorruptRecordException


def with_place(
    error: CorruptRecordException, topic: str, partition: int, offset: int
) -> CorruptRecordException:
    """Return the error, with topic, partition and offset added.

    Its traceback is dropped, because its frames hold the buffers.
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
