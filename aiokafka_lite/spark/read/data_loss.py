"""Handles records that should be read but no longer exist. Does not wait."""

import logging
from collections.abc import Iterable

from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition, names_of

logger = logging.getLogger(__name__)

_WHY = (
    "they are not available in Kafka any more: aged out, compacted away with their segment, or"
    " deleted with their topic"
)


class DataLossError(KafkaError):
    """Records to be read no longer exist, and the options say to fail then."""


def report_losses(losses: Iterable[str], *, fail: bool) -> None:
    """Raise DataLossError with all losses, or log a warning for each."""
    found = list(losses)
    if not found:
        return
    if fail:
        raise DataLossError(
            f"{'; '.join(found)}. Some data may have been lost because {_WHY}. To go on all the"
            " same, set the source option failOnDataLoss to false"
        )
    for loss in found:
        logger.warning("%s. Some data may have been lost because %s", loss, _WHY)


def report_left(partitions: Iterable[TopicPartition], *, fail: bool) -> None:
    """Raise DataLossError, or log a warning, for partitions that the options leave out by now."""
    left = sorted(partitions)
    if not left:
        return
    text = (
        f"{names_of(left)} are not subscribed any more: the stream has read them, and its options"
        " leave them out now"
    )
    if fail:
        raise DataLossError(
            f"{text}. To go on without them, set the source option failOnDataLoss to false for one"
            " run; to go on with them, name them again"
        )
    logger.warning("%s", text)


__all__ = ["DataLossError", "report_left", "report_losses"]
