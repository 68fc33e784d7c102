"""Owns what happens when records that should be read are not there any more. Plain."""

import logging
from collections.abc import Iterable

from aiokafka_lite.errors import KafkaError

logger = logging.getLogger(__name__)

_WHY = (
    "they are not available in Kafka any more: aged out, compacted away with their segment, or"
    " deleted with their topic"
)


class DataLossError(KafkaError):
    """Records that were to be read are gone, and the read was told to fail then."""


def report_losses(losses: Iterable[str], *, fail: bool) -> None:
    """Raise DataLossError with all losses, or warn of each."""
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


__all__ = ["DataLossError", "report_losses"]
